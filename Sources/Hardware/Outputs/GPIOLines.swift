internal import CHardwareShim
internal import GimbalCore
internal import Glibc
internal import Realtime

/// Lines of one GPIO chip, `/dev/gpiochipN`. Either all lines are outputs, or all lines are inputs.
/// After the creation of the lines, only one thread uses them.
///
/// Bit n of a word represents the n-th of the given lines; 1 means active. One system call sets or
/// reads all lines. If the GPIO chip is missing, `GPIOLines` tries to open the chip again every 0.1
/// s. Lines that are requested as outputs are inactive at first.
final class GPIOLines {
    private let chip: String
    private let lines: [UInt32]
    private let activeLow: UInt64
    private let isOutput: Bool
    private var device = DeviceDescriptor()

    /// Creates lines, which are requested from the kernel at their first use.
    ///
    /// - Parameters:
    ///   - chip: Device file of the GPIO chip, such as `/dev/gpiochip0`.
    ///   - lines: Numbers of the lines on the chip, at most 64.
    ///   - activeLow: Bit mask of the lines that are active when low.
    ///   - isOutput: True if the lines are outputs.
    init(chip: String, lines: [Int], activeLow: UInt64 = 0, isOutput: Bool) {
        self.chip = chip
        self.lines = lines.map { UInt32($0) }
        self.activeLow = activeLow
        self.isOutput = isOutput
    }

    deinit { device.close() }

    /// Requests the lines from the kernel, unless an earlier call has requested them.
    ///
    /// - Returns: True if this call has requested the lines; outputs are then inactive.
    /// - Throws: A positive errno: EBUSY if another program uses one of the lines.
    @discardableResult
    func take(now: Instant) throws(BusErrno) -> Bool {
        try device.open(now: now) {
            ch_gpio_request(
                chip, lines, UInt32(lines.count), activeLow, isOutput ? 1 : 0, $0)
        }
    }

    /// Sets the lines whose bits in `mask` are 1 to the values of their bits in `bits`.
    func set(_ bits: UInt64, mask: UInt64) throws(BusErrno) {
        try check(ch_gpio_set(device.raw, bits, mask))
    }

    /// Reads the states of all lines, one bit for each line.
    func get() throws(BusErrno) -> UInt64 {
        var bits: UInt64 = 0
        try check(ch_gpio_get(device.raw, ~0 >> UInt64(64 - lines.count), &bits))
        return bits
    }

    private func check(_ error: Int32) throws(BusErrno) {
        guard error != 0 else { return }
        // The chip was removed, so its file descriptor is no longer valid.
        if error == ENODEV || error == EBADF { device.close() }
        throw BusErrno(code: error)
    }
}
