internal import GimbalCore
internal import Glibc
internal import Realtime

/// One IIO device of a sensor. The object sets the device up, and then reads its buffer. Only the
/// bus thread uses the object.
final class IIOPart {
    /// The device, with its number at the time of the set-up.
    let device: IIODevice
    /// Quantities that airframed uses from this device.
    let quantities: [IIOQuantity]
    /// True if the sensor works without this device.
    let isOptional: Bool
    private let tree: IIOTree
    private var setUp: IIOSetUp
    private(set) var decoder: IIODecoder?
    private var descriptor: Int32 = -1
    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SampleBatch.capacity * IIODecoder.mostBytes, alignment: 8)

    /// Creates a device whose set-up has not begun.
    init(
        _ tree: IIOTree, _ device: IIODevice, quantities: [IIOQuantity], request: IIORequest,
        isOptional: Bool
    ) {
        self.tree = tree
        self.device = device
        self.quantities = quantities
        self.isOptional = isOptional
        setUp = IIOSetUp(tree, device, wanted: quantities, request: request)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        memory.deallocate()
    }

    /// True if the buffer is enabled and open.
    var isUp: Bool { descriptor >= 0 }

    /// Interval of the samples, s.
    var period: Double { setUp.period }

    /// Settings that the driver cannot use.
    var ignored: IIOIgnored { setUp.ignored }

    /// Executes the next step of the set-up. Allocates memory.
    func advance() throws(IIOFailure) {
        guard !isUp else { return }
        guard let decoder = try setUp.advance() else { return }
        let opened = open(tree.file(device.number), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw .file(BusErrno(code: errno)) }
        descriptor = opened
        self.decoder = decoder
    }

    /// Reads the oldest scans in the buffer, without waiting.
    ///
    /// - Parameter most: Largest number of scans, at most the capacity of a `SampleBatch`.
    /// - Returns: Bytes of complete scans, which are valid until the next call; empty if the buffer
    ///   contains no complete scan.
    /// - Throws: ENODEV if the device has been removed, or the error of the driver.
    func read(most: Int) throws(BusErrno) -> UnsafeRawBufferPointer {
        guard let decoder, descriptor >= 0 else { throw BusErrno(code: ENODEV) }
        let wanted = min(most, SampleBatch.capacity) * decoder.scanBytes
        let got = Glibc.read(descriptor, memory.baseAddress, wanted)
        guard got >= 0 else {
            let error = errno
            if error == EAGAIN || error == EINTR {
                return UnsafeRawBufferPointer(start: memory.baseAddress, count: 0)
            }
            throw BusErrno(code: error)
        }
        return UnsafeRawBufferPointer(
            start: memory.baseAddress, count: got / decoder.scanBytes * decoder.scanBytes)
    }
}
