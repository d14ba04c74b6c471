internal import CHardwareShim
internal import CLinuxShim
internal import GimbalCore
internal import Glibc
internal import Realtime

/// Serial line with servos or a motor board, and the clock of the line's times.
protocol SerialTransport: AnyObject {
    /// Present time.
    var now: Instant { get }
    /// True if the port is open.
    var isOpen: Bool { get }
    /// Time for which the open port can delay bytes in each direction, s.
    var latency: Double { get }
    /// Opens the port, unless it is open.
    func open(now: Instant) throws(BusErrno)
    /// Sends bytes, without waiting.
    func send(_ bytes: SerialBytes) throws(BusErrno)
    /// Adds the bytes that have arrived to `bytes`; waits for the first byte until `deadline`.
    /// Returns the number of bytes that were added.
    func receive(into bytes: inout SerialBytes, until deadline: Instant) throws(BusErrno) -> Int
    /// Waits for a time, s.
    func pause(_ seconds: Double)
    /// Closes the port.
    func close()
}

/// Serial port with servos or a motor board. Only one thread uses the object. `receive` waits, so
/// this thread must not be the loop's or the sensors' thread.
///
/// The port is opened at the first use. While the port is missing because its adapter is unplugged,
/// the object repeatedly tries to open the port.
final class SerialLine: SerialTransport {
    /// Function that opens a port, like `SerialLine.device(path:baud:)`: it stores the descriptor, and
    /// returns 0 or an errno.
    typealias Open = (UnsafeMutablePointer<Int32>) -> Int32

    private let openPort: Open
    private var device = DeviceDescriptor()
    private(set) var latency = SerialLine.latencies.other

    /// Time for which a port can delay bytes in each direction, s. `uart`: a UART of the computer,
    /// with its interrupt and the wake-up of the thread; `other`: a USB adapter, which transfers
    /// bytes in frames of 1 ms (USB 2.0 specification, 5.3.3), or an unknown port.
    static let latencies = (uart: 0.0002, other: 0.001)

    /// Creates a line that will be opened with `open`.
    init(open: @escaping Open) { openPort = open }

    deinit { close() }

    /// Function that opens a device file in raw mode, 8N1, at `baud` bits per second, for exclusive
    /// use by this process, with the shortest latency that the driver supports.
    ///
    /// - Parameters:
    ///   - path: Device file of the port.
    ///   - baud: Bits per second.
    ///   - noteLatency: Receives the errno of a driver that refuses the low-latency mode, or 0, after
    ///     each opening.
    /// - Returns: The function.
    static func device(
        path: String, baud: Int, noteLatency: @escaping (Int32) -> Void = { _ in }
    ) -> Open {
        { descriptor in
            var fd: Int32 = -1
            let error = cl_serial_open(path, UInt32(baud), &fd)
            guard error == 0 else { return error }
            var latencyError: Int32 = 0
            let claim = ch_serial_claim(fd, &latencyError)
            guard claim == 0 else {
                cl_serial_close(fd)
                return claim
            }
            noteLatency(latencyError)
            descriptor.pointee = fd
            return 0
        }
    }

    var now: Instant { MonotonicClock.now }

    func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

    /// True if the port is open.
    var isOpen: Bool { device.isOpen }

    /// Opens the port, unless it is open.
    ///
    /// - Throws: ENOENT if the device file is missing; EACCES without the permission; EBUSY if
    ///   another process uses the port.
    func open(now: Instant) throws(BusErrno) {
        try device.open(now: now) { descriptor in
            let error = openPort(descriptor)
            latency =
                ch_serial_is_uart(descriptor.pointee) ? Self.latencies.uart : Self.latencies.other
            return error
        }
    }

    /// Sends bytes, without waiting. An error other than EAGAIN closes the port.
    func send(_ bytes: SerialBytes) throws(BusErrno) {
        try device.requireOpen()
        let error = bytes.withBytes { ch_serial_write(device.raw, $0, UInt32($1)) }
        guard error != 0 else { return }
        if error != EAGAIN { device.close(because: error, with: cl_serial_close) }
        throw BusErrno(code: error)
    }

    /// Adds the bytes that have arrived to `bytes`. If no byte has arrived, the method waits for
    /// the first byte until `deadline`.
    ///
    /// - Returns: The number of bytes that were added; 0 if none has arrived.
    /// - Throws: An error that closes the port, such as EIO if the adapter was unplugged.
    func receive(into bytes: inout SerialBytes, until deadline: Instant) throws(BusErrno) -> Int {
        try device.requireOpen()
        var count: UInt32 = 0
        let error = bytes.fill { room, capacity in
            let error = ch_serial_read(
                device.raw, room, UInt32(capacity), deadline.nanoseconds, &count)
            return (error, error == 0 ? Int(count) : 0)
        }
        if error == 0 { return Int(count) }
        if error == ETIMEDOUT || error == EINTR { return 0 }
        device.close(because: error, with: cl_serial_close)
        throw BusErrno(code: error)
    }

    /// Closes the port.
    func close() { device.close(with: cl_serial_close) }
}
