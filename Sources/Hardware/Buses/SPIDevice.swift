internal import CHardwareShim
internal import Glibc
internal import Realtime

/// One chip select of an SPI bus, `/dev/spidevB.C`. After the creation of an `SPIDevice`, only the
/// bus thread uses it.
///
/// If the device file is missing, `SPIDevice` tries to open the file again every 0.1 s.
final class SPIDevice {
    /// Path of the device file as a C string. The string is created once, because its creation can
    /// allocate memory.
    private let path: UnsafeMutablePointer<CChar>
    private var device = DeviceDescriptor()
    private let open: Open
    private let transfer: Transfer

    /// Function that opens the device file, with the parameters of `openDevice`.
    typealias Open = (UnsafePointer<CChar>, UnsafeMutablePointer<Int32>) -> Int32
    /// Function that executes one SPI_IOC_MESSAGE, with the parameters of `ch_spi_transfer`.
    typealias Transfer = (Int32, UnsafeMutablePointer<spi_ioc_transfer>, UInt32) -> Int32

    /// Creates a device that is opened at its first use.
    ///
    /// - Parameters:
    ///   - path: Device file, such as `/dev/spidev0.0`.
    ///   - open: Function that opens the device file.
    ///   - transfer: Function that makes the only system call of each message; tests replace it.
    init(
        path: String, open: @escaping Open = { SPIDevice.openDevice($0, $1) },
        transfer: @escaping Transfer = { ch_spi_transfer($0, $1, $2) }
    ) {
        self.path = strdup(path)
        self.open = open
        self.transfer = transfer
    }

    deinit {
        device.close()
        free(path)
    }

    /// Opens the device file, and locks it.
    ///
    /// - Returns: 0 after success, otherwise a positive errno.
    static func openDevice(
        _ path: UnsafePointer<CChar>, _ descriptor: UnsafeMutablePointer<Int32>
    ) -> Int32 {
        let error = ch_spi_open(path, descriptor)
        if error == 0 { DeviceLock.hold(descriptor.pointee) }
        return error
    }

    /// Executes a message. After the call, the bytes of the message contain the received data.
    ///
    /// - Throws: A positive errno. A missing chip causes no error: a read from it returns only ones
    ///   or only zeros.
    func run(_ message: borrowing SPIMessage) throws(BusErrno) {
        if !device.isOpen { try device.open(now: MonotonicClock.now) { open(path, $0) } }
        let error = transfer(device.raw, message.transfers, message.count)
        guard error != 0 else { return }
        if error == ENODEV || error == EBADF || error == ESHUTDOWN { device.close() }
        throw BusErrno(code: error)
    }
}

/// SPI message: transfers for one device, together with their memory, which is allocated once and
/// reused. Chip select is released between the transfers of a message.
struct SPIMessage: ~Copyable {
    /// The transfers of the message, in the kernel's format.
    let transfers: UnsafeMutablePointer<spi_ioc_transfer>
    /// Number of transfers.
    private(set) var count: UInt32 = 0
    /// Sent bytes.
    let sent: UnsafeMutableRawBufferPointer
    /// Received bytes.
    let received: UnsafeMutableRawBufferPointer
    private var used = 0
    private let clock: UInt32
    private let capacity: Int

    /// Allocates memory for the given numbers of transfers and bytes; `clock` is the frequency of
    /// the SPI clock, Hz.
    init(transfers: Int, bytes: Int, clock: Int) {
        self.transfers = .allocate(capacity: transfers)
        sent = .allocate(byteCount: bytes, alignment: 8)
        received = .allocate(byteCount: bytes, alignment: 8)
        sent.initializeMemory(as: UInt8.self, repeating: 0)
        received.initializeMemory(as: UInt8.self, repeating: 0)
        self.clock = UInt32(clock)
        capacity = transfers
    }

    deinit {
        transfers.deallocate()
        sent.deallocate()
        received.deallocate()
    }

    /// Adds a transfer that begins with the given byte.
    ///
    /// - Returns: Offset of the transfer's bytes in the message.
    @discardableResult
    mutating func append(_ first: UInt8, length: Int) -> Int {
        precondition(used + length <= sent.count && count < capacity, "no room")
        let offset = used
        used += length
        sent[offset] = first
        // For every transfer except the last, cs_change releases the chip select after the
        // transfer.
        if count > 0 { transfers[Int(count) - 1].cs_change = 1 }
        var transfer = spi_ioc_transfer()
        transfer.tx_buf = UInt64(UInt(bitPattern: sent.baseAddress.map { $0 + offset }))
        transfer.rx_buf = UInt64(UInt(bitPattern: received.baseAddress.map { $0 + offset }))
        transfer.len = UInt32(length)
        transfer.speed_hz = clock
        transfer.bits_per_word = 8
        transfers[Int(count)] = transfer
        count += 1
        return offset
    }

    /// Changes the length of a message that has only one transfer.
    func resize(to length: Int) { transfers[0].len = UInt32(length) }

    /// Number of bits that the message transfers.
    var wireBits: Int { 8 * used }
}
