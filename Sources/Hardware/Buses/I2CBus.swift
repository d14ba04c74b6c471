internal import CHardwareShim
internal import GimbalCore
internal import Glibc
internal import Realtime

/// One I2C bus, `/dev/i2c-N`. After the creation of an `I2CBus`, only the bus thread uses it.
///
/// Every exchange is one I2C_RDWR. An exchange contains messages for any number of chips and
/// registers, with repeated starts between the messages. An exchange needs one system call and one
/// pass through the adapter's queue. If the device file is missing, `I2CBus` tries to open the file
/// again every 0.1 s.
final class I2CBus {
    /// Path of the device file as a C string. The string is created once, because string creation
    /// can allocate memory.
    private let path: UnsafeMutablePointer<CChar>
    private var descriptor: Int32 = -1
    private var nextLook = Instant(nanoseconds: .min)
    private var lastError: Int32 = ENODEV

    /// Timeout of the adapter, ms: longest time for which a stuck bus blocks the thread.
    private static let timeoutMilliseconds: Int32 = 20
    /// Number of times that the adapter repeats a transfer after a lost arbitration.
    private static let retries: Int32 = 1
    /// Interval between attempts to open a missing device file, s.
    private static let lookSeconds = 0.1

    private let openAdapter: Open
    private let transfer: Transfer

    /// Function that opens the device file, with the parameters of `openAdapter`.
    typealias Open = (UnsafePointer<CChar>, UnsafeMutablePointer<Int32>) -> Int32
    /// Function that executes one I2C_RDWR, with the parameters of `ch_i2c_transfer`.
    typealias Transfer = (Int32, UnsafeMutablePointer<i2c_msg>, UInt32) -> Int32

    /// Creates a bus, whose device file is opened at the first use.
    ///
    /// - Parameters:
    ///   - path: Device file, such as `/dev/i2c-1`.
    ///   - open: Function that opens the device file.
    ///   - transfer: Function that makes the only system call of each exchange; tests replace it.
    init(
        path: String, open: @escaping Open = { I2CBus.openAdapter($0, $1) },
        transfer: @escaping Transfer = { ch_i2c_transfer($0, $1, $2) }
    ) {
        self.path = strdup(path)
        openAdapter = open
        self.transfer = transfer
    }

    deinit {
        close()
        free(path)
    }

    /// Opens the device file of an adapter, and locks it.
    ///
    /// - Returns: 0 after success, otherwise a positive errno; EOPNOTSUPP if the adapter does not
    ///   support combined transfers.
    static func openAdapter(
        _ path: UnsafePointer<CChar>, _ descriptor: UnsafeMutablePointer<Int32>
    ) -> Int32 {
        var fd: Int32 = -1
        let error = ch_i2c_open(path, &fd)
        guard error == 0 else { return error }
        DeviceLock.hold(fd)
        var canCombine: Int32 = 0
        guard ch_i2c_can_combine(fd, &canCombine) == 0, canCombine != 0 else {
            _ = Glibc.close(fd)
            return EOPNOTSUPP
        }
        // An adapter that does not support a timeout keeps its default timeout.
        _ = ch_i2c_set_patience(fd, timeoutMilliseconds, retries)
        descriptor.pointee = fd
        return 0
    }

    private func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Executes an exchange. After the call, the bytes of the exchange contain the received data.
    ///
    /// - Throws: A positive errno: ENXIO or EREMOTEIO if no chip answered, ETIMEDOUT if the bus is
    ///   stuck, the error of open(2) while the device file is missing.
    func run(_ exchange: borrowing I2CExchange) throws(BusErrno) {
        if descriptor < 0 { try look() }
        let error = transfer(descriptor, exchange.messages, exchange.count)
        guard error != 0 else { return }
        // The adapter was removed, so its file descriptor is no longer valid.
        if error == ENODEV || error == EBADF { close() }
        throw BusErrno(code: error)
    }

    private func look() throws(BusErrno) {
        let now = MonotonicClock.now
        if now >= nextLook {
            nextLook = now.advanced(bySeconds: Self.lookSeconds)
            lastError = openAdapter(path, &descriptor)
        }
        guard descriptor >= 0 else { throw BusErrno(code: lastError) }
    }
}

/// The kernel's error of a failed transfer.
struct BusErrno: Error {
    /// A positive errno.
    var code: Int32
}

/// Exchange: messages for one or several chips, together with their memory. An exchange is created
/// once and reused.
struct I2CExchange: ~Copyable {
    /// The messages of the exchange, in the kernel's format.
    let messages: UnsafeMutablePointer<i2c_msg>
    /// Number of messages.
    private(set) var count: UInt32 = 0
    /// Memory for the data that the messages write or read.
    let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    /// Largest number of messages in one exchange, the kernel's limit I2C_RDWR_IOCTL_MAX_MSGS.
    private static let maximumMessages = 42

    /// Allocates memory for messages that together contain the given number of bytes.
    init(capacity: Int) {
        messages = .allocate(capacity: Self.maximumMessages)
        bytes = .allocate(byteCount: capacity, alignment: 8)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        messages.deallocate()
        bytes.deallocate()
    }

    /// Adds a message that writes the given bytes; the first byte is the register's number.
    ///
    /// - Returns: Offset of the written bytes in `bytes`, so that a caller can change them before
    ///   each exchange.
    @discardableResult
    mutating func write(_ values: [UInt8], to address: UInt16) -> Int {
        let offset = append(values.count, address, flags: 0)
        for (index, value) in values.enumerated() { bytes[offset + index] = value }
        return offset
    }

    /// Adds messages that read consecutive registers.
    ///
    /// - Returns: Offset of the read data in `bytes`.
    mutating func read(_ register: UInt8, count: Int, from address: UInt16) -> Int {
        write([register], to: address)
        return append(count, address, flags: UInt16(I2C_M_RD))
    }

    private mutating func append(_ length: Int, _ address: UInt16, flags: UInt16) -> Int {
        precondition(used + length <= bytes.count && count < Self.maximumMessages, "no room")
        let offset = used
        used += length
        messages[Int(count)] = i2c_msg(
            addr: address, flags: flags, len: UInt16(length),
            buf: bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: UInt8.self) })
        count += 1
        return offset
    }

    /// Number of bits that the exchange transfers, including acknowledges, starts and stop
    /// (UM10204, 3.1). At 400 kHz each bit takes 2.5 µs.
    var wireBits: Int {
        var bits = 1
        for index in 0..<Int(count) { bits += 1 + 9 * (1 + Int(messages[index].len)) }
        return bits
    }
}
