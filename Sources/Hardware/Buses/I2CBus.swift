internal import CHardwareShim
internal import Glibc
internal import Realtime

/// One I2C bus, `/dev/i2c-N`. After the creation of an `I2CBus`, only the bus thread uses it.
///
/// Every exchange is one I2C_RDWR. An exchange contains messages for any number of chips and
/// registers, with repeated starts between the messages. An exchange needs one system call and one
/// pass through the adapter's queue. If the device file is missing, `I2CBus` tries to open the file
/// again every 0.1 s.
///
/// Some adapters refuse an exchange with a read before the last message. One of them is i2c-bcm2835
/// of every Raspberry Pi before the Raspberry Pi 5 (Linux, drivers/i2c/busses/i2c-bcm2835.c,
/// `bcm2835_i2c_xfer`: "only one read message supported, has to be last"). `I2CBus` divides the
/// exchanges with such an adapter: each part ends with a read, and is one I2C_RDWR.
final class I2CBus {
    /// Path of the device file as a C string. The string is created once, because string creation
    /// can allocate memory.
    private let path: UnsafeMutablePointer<CChar>
    private var device = DeviceDescriptor()
    /// True if the adapter accepts a read only as the last message of a transfer.
    private var mustReadLast = false

    /// Timeout of the adapter, ms: longest time for which a stuck bus blocks the thread.
    private static let timeoutMilliseconds: Int32 = 20
    /// Number of times that the adapter repeats a transfer after a lost arbitration.
    private static let retries: Int32 = 1

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
        device.close()
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

    /// Executes an exchange. After the call, the bytes of the exchange contain the received data.
    ///
    /// - Throws: A positive errno: ENXIO or EREMOTEIO if no chip answered, ETIMEDOUT if the bus is
    ///   stuck, EOPNOTSUPP if the adapter refuses the messages, the error of open(2) while the
    ///   device file is missing.
    func run(_ exchange: borrowing I2CExchange) throws(BusErrno) {
        if !device.isOpen { try device.open(now: MonotonicClock.now) { openAdapter(path, $0) } }
        let count = Int(exchange.count)
        let isDivisible = exchange.endOfPart(from: 0) < count
        if !mustReadLast || !isDivisible {
            let error = transfer(device.raw, exchange.messages, exchange.count)
            if error == 0 { return }
            guard error == EOPNOTSUPP, isDivisible else { throw failure(error) }
        }
        var first = 0
        while first < count {
            let end = exchange.endOfPart(from: first)
            let error = transfer(device.raw, exchange.messages + first, UInt32(end - first))
            guard error == 0 else { throw failure(error) }
            first = end
        }
        mustReadLast = true
    }

    /// Executes an exchange with the chip at `address`, as part of an operation on an output.
    func run(
        _ exchange: borrowing I2CExchange, _ operation: BusError.Operation, at address: UInt16
    ) throws(BusError) {
        do {
            try run(exchange)
        } catch {
            throw BusError(operation: operation, address: address, code: error.code)
        }
    }

    /// Error of a failed transfer. If the adapter was removed, its file descriptor is no longer
    /// valid, and is closed.
    private func failure(_ error: Int32) -> BusErrno {
        if error == ENODEV || error == EBADF {
            device.close()
            mustReadLast = false
        }
        return BusErrno(code: error)
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

    /// Index after the last message of the part that begins with the message `first`. A part ends
    /// after a read, or with the exchange.
    func endOfPart(from first: Int) -> Int {
        for index in first..<Int(count) where messages[index].flags & UInt16(I2C_M_RD) != 0 {
            return index + 1
        }
        return Int(count)
    }

    /// Number of bits that the exchange transfers, including acknowledges, starts and stops
    /// (UM10204, 3.1). At 400 kHz each bit takes 2.5 µs. Each part of the exchange counts a stop,
    /// because some adapters need a separate transfer for each part.
    var wireBits: Int {
        var bits = 0
        for index in 0..<Int(count) { bits += 1 + 9 * (1 + Int(messages[index].len)) }
        var end = 0
        while end < Int(count) {
            end = endOfPart(from: end)
            bits += 1
        }
        return bits
    }
}
