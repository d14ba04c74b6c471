import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage

/// Serial port with an adapter that can be unplugged. The port is opened again when the adapter
/// returns. No method blocks. Only one thread may use a `SerialPort`.
struct SerialPort {
    /// Counters of the serial port since the start of airframed.
    struct Counters: Equatable {
        /// Number of bytes received from the serial port.
        var received: UInt64 = 0
        /// Number of bytes sent to the serial port.
        var sent: UInt64 = 0
        /// Number of bytes that were lost because the port was missing or too slow.
        var dropped: UInt64 = 0
        /// Number of times that the port was opened.
        var opened: UInt64 = 0
    }

    /// Interval between attempts to open a missing port, s.
    private static let retrySeconds = 0.5
    /// Capacity of the transmit buffer, bytes: 0.36 s of data at 115200 baud.
    private static let capacity = 4096

    let path: String
    private(set) var baud: Int
    private(set) var counters = Counters()
    private(set) var descriptor: FileDescriptor?
    private var pending: [UInt8] = []
    private var retry = Instant(nanoseconds: .min)
    private var isToldAbsent = false
    private let log: Logger

    init(path: String, baud: Int, log: Logger) {
        self.path = path
        self.baud = baud
        self.log = log
    }

    /// Descriptor and events for poll(2); nil while the port is missing.
    var entry: pollfd? {
        descriptor.map {
            let events = pending.isEmpty ? POLLIN : POLLIN | POLLOUT
            return pollfd(fd: $0.rawValue, events: Int16(events), revents: 0)
        }
    }

    /// Opens the port if an attempt is due.
    ///
    /// - Returns: Time of the next attempt to open the port; nil while the port is open.
    mutating func advance(now: Instant) -> Instant? {
        guard descriptor == nil else { return nil }
        guard now >= retry else { return retry }
        var raw: Int32 = -1
        let error = cl_serial_open(path, UInt32(baud), &raw)
        guard error == 0 else {
            if !isToldAbsent {
                log.warning(
                    "\(path): the serial port cannot be opened (\(Errno(rawValue: error))); airframed keeps trying."
                )
            }
            isToldAbsent = true
            retry = now.advanced(bySeconds: Self.retrySeconds)
            return retry
        }
        descriptor = FileDescriptor(rawValue: raw)
        counters.opened += 1
        isToldAbsent = false
        log.notice("\(path): the serial port is open at \(baud) baud.")
        return nil
    }

    /// Changes the speed of the serial port, immediately if the port is open.
    mutating func setBaud(_ baud: Int) {
        guard baud != self.baud else { return }
        self.baud = baud
        guard let descriptor else { return }
        let error = cl_serial_set_baud(descriptor.rawValue, UInt32(baud))
        if error != 0 {
            log.warning(
                "\(path): \(Errno(rawValue: error)) while setting the speed to \(baud) baud.")
        } else {
            log.notice("\(path): the speed is \(baud) baud.")
        }
    }

    /// Reads at most 4096 bytes; the result is empty if no bytes wait.
    mutating func receive() -> [UInt8] {
        guard let descriptor else { return [] }
        var failure: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, used in
            do {
                used = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
                // A read of 0 bytes means that the other end of the line was closed.
                if used == 0 { failure = .ioError }
            } catch let error as Errno {
                used = 0
                if error != .wouldBlock, error != .interrupted { failure = error }
            } catch {
                used = 0
            }
        }
        if let failure { lose(failure) }
        counters.received &+= UInt64(bytes.count)
        return bytes
    }

    /// Sends bytes to the serial port, now or when the driver accepts them. If the bytes do not fit
    /// into the buffer, all of them are dropped and counted.
    mutating func send(_ bytes: [UInt8]) {
        guard descriptor != nil, pending.count + bytes.count <= Self.capacity else {
            counters.dropped &+= UInt64(bytes.count)
            return
        }
        pending += bytes
        flush()
    }

    /// Writes as many bytes as the driver accepts.
    mutating func flush() {
        guard let descriptor, !pending.isEmpty else { return }
        do {
            let count = try pending.withUnsafeBytes { try descriptor.write($0) }
            counters.sent &+= UInt64(count)
            pending.removeFirst(count)
        } catch let error as Errno {
            if error != .wouldBlock, error != .interrupted { lose(error) }
        } catch {}
    }

    /// Closes a failed port, and schedules attempts to open it again.
    private mutating func lose(_ error: Errno) {
        log.warning("\(path): \(error); airframed keeps trying to open the serial port.")
        isToldAbsent = true
        close()
    }

    /// Closes the port.
    mutating func close() {
        if let descriptor { cl_serial_close(descriptor.rawValue) }
        descriptor = nil
        counters.dropped &+= UInt64(pending.count)
        pending = []
    }
}
