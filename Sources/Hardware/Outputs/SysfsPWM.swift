internal import GimbalCore
internal import Glibc
internal import Realtime

/// One channel of a PWM chip, `/sys/class/pwm/pwmchipN` (Documentation/driver-api/pwm.rst). After
/// the creation of a `SysfsPWM`, only one thread uses it.
///
/// The channel's files stay open, so a single pwrite(2) sets a new pulse length.
final class SysfsPWM {
    private let chip: String
    private let channel: Int
    private let periodNanoseconds: Int
    private var duty: Int32 = -1
    private var enable: Int32 = -1
    private let digits = UnsafeMutableRawBufferPointer.allocate(byteCount: 20, alignment: 1)
    /// Time at which this object exported the channel; nil if the channel existed before.
    private var exported: Instant?
    private let openFile: Open

    /// Time after an export in which udev sets the permissions of the channel's files, s. The files
    /// belong to root until then.
    private static let udevSeconds = 0.5

    /// Function that opens a file for writing. It returns the descriptor, or a negative errno.
    typealias Open = (String) -> Int32

    /// Creates a PWM channel whose files are opened later.
    ///
    /// - Parameters:
    ///   - chip: Path of the PWM chip, such as `/sys/class/pwm/pwmchip0`.
    ///   - channel: Number of the channel, counted from 0.
    ///   - periodNanoseconds: Time from the start of one pulse to the start of the next, ns.
    ///   - openFile: Function that opens the files; tests replace it.
    init(
        chip: String, channel: Int, periodNanoseconds: Int,
        openFile: @escaping Open = { SysfsPWM.openForWriting($0) }
    ) {
        self.chip = chip
        self.channel = channel
        self.periodNanoseconds = periodNanoseconds
        self.openFile = openFile
    }

    /// Opens a file of the chip, with the parameters and the result of `Open`.
    static func openForWriting(_ path: String) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        return descriptor >= 0 ? descriptor : -errno
    }

    deinit {
        close()
        digits.deallocate()
    }

    /// True if the PWM channel's files are open.
    var isOpen: Bool { enable >= 0 }

    /// True if the channel was exported so recently that udev may not have set the permissions of
    /// its files yet. The channel sends no pulses then.
    func awaitsPermissions(now: Instant) -> Bool {
        exported.map { now.seconds(since: $0) < Self.udevSeconds } ?? false
    }

    /// Exports the channel if necessary, stops its pulses, and sets the period and the polarity. This
    /// method allocates memory.
    ///
    /// - Parameter now: Time of the call.
    /// - Throws: ENOENT if the chip does not exist, ENODEV if the channel does not exist, EBUSY if
    ///   another program uses the channel, EACCES if udev has not yet applied its rules after an
    ///   export.
    func open(now: Instant) throws(BusErrno) {
        close()
        let folder = "\(chip)/pwm\(channel)"
        if access(folder, F_OK) != 0 {
            let export = try file("\(chip)/export")
            defer { _ = Glibc.close(export) }
            try write(channel, to: export)
            exported = now
        }
        do throws(BusErrno) {
            let period = try file("\(folder)/period")
            defer { _ = Glibc.close(period) }
            duty = try file("\(folder)/duty_cycle")
            enable = try file("\(folder)/enable")
            // The pulse length is first set to 0, because the kernel rejects a period that is
            // shorter than the present pulse. In addition, a channel with a period of 0 cannot be
            // stopped.
            _ = try? write(0, to: duty)
            _ = try? write(0, to: enable)
            try write(periodNanoseconds, to: period)
            try write(0, to: duty)
            // The drivers of Allwinner and Rockchip chips start with inverted pulses, which are low for
            // the pulse length. The kernel rejects the polarity while the channel is on, and while its
            // period is 0.
            let polarity = try file("\(folder)/polarity")
            defer { _ = Glibc.close(polarity) }
            try write("normal", to: polarity)
        } catch {
            close()
            throw error
        }
    }

    /// Sets the length of the pulses, ns.
    func set(nanoseconds: Int) throws(BusErrno) { try write(nanoseconds, to: duty) }

    /// Starts the pulses.
    func start() throws(BusErrno) { try write(1, to: enable) }

    /// Stops the pulses. The pulse length is first set to zero, because some drivers stop in the
    /// middle of a pulse and leave the output high. If the pulse length cannot be set, the pulses are
    /// still stopped.
    func stop() throws(BusErrno) {
        var failure: BusErrno?
        do throws(BusErrno) { try write(0, to: duty) } catch { failure = error }
        try write(0, to: enable)
        if let failure { throw failure }
    }

    /// Closes the files of the channel.
    func close() {
        for descriptor in [duty, enable] where descriptor >= 0 { _ = Glibc.close(descriptor) }
        (duty, enable) = (-1, -1)
    }

    private func file(_ path: String) throws(BusErrno) -> Int32 {
        let descriptor = openFile(path)
        guard descriptor >= 0 else { throw BusErrno(code: -descriptor) }
        return descriptor
    }

    private func write(_ word: StaticString, to descriptor: Int32) throws(BusErrno) {
        let count = word.utf8CodeUnitCount
        guard pwrite(descriptor, word.utf8Start, count, 0) == count else {
            throw BusErrno(code: errno)
        }
    }

    private func write(_ number: Int, to descriptor: Int32) throws(BusErrno) {
        var at = digits.count
        var rest = number
        repeat {
            at -= 1
            digits[at] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        let count = digits.count - at
        guard let text = digits.baseAddress,
            pwrite(descriptor, text + at, count, 0) == count
        else {
            throw BusErrno(code: errno)
        }
    }
}
