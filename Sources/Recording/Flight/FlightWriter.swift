internal import Glibc
public import SystemPackage

/// A recording on its way to the disk. What has been written is whole up to the last chunk,
/// whatever happens next.
public struct FlightWriter {
    /// The file.
    public let path: FilePath
    private let file: FileDescriptor
    private var assembler = MCAPAssembler(channels: FlightChannels.all)
    /// The time of the last message that is on the disk for certain, ns.
    private var synced: Int64?

    /// Between two syncs, ns: a power cut costs that much, and a memory card is not worn out.
    private static let syncNanoseconds: Int64 = 5_000_000_000

    /// Creates the file; one that is there already is an error.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - library: Who writes it.
    ///   - metadata: What a reader must know.
    ///   - attachments: Files to embed.
    /// - Throws: What the system says; then there is no file.
    public init(
        path: FilePath, library: String, metadata: [String: String],
        attachments: [MCAPAttachment]
    ) throws(Errno) {
        self.path = path
        do {
            file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: [.ownerReadWrite, .groupRead])
        } catch {
            throw (error as? Errno) ?? .ioError
        }
        // Let go by the kernel when this process ends, however it ends: see MCAPMender.
        _ = flock(file.rawValue, LOCK_EX | LOCK_NB)
        var bytes = assembler.begin(library: library)
        bytes += assembler.append(metadata: FlightChannels.metadataName, metadata)
        for attachment in attachments { bytes += assembler.append(attachment) }
        do throws(Errno) {
            try Self.write(bytes, to: file)
        } catch {
            try? file.close()
            _ = path.withPlatformString { unlink($0) }
            throw error
        }
    }

    /// Length of the file so far, bytes.
    public var size: Int { assembler.size }
    /// From its first message to the last, s.
    public var seconds: Double {
        assembler.span.map { Double($0.upperBound - $0.lowerBound) * 1e-9 } ?? 0
    }

    /// Appends a chunk.
    ///
    /// - Parameter chunk: The next one.
    /// - Throws: What the system says; the file then ends after the chunk before, and takes no
    ///   more.
    public mutating func append(_ chunk: MCAPChunk) throws(Errno) {
        let end = assembler.size
        try put(assembler.append(chunk), keeping: end)
        let last = synced ?? chunk.start
        synced = last
        guard chunk.end &- last >= Self.syncNanoseconds else { return }
        synced = chunk.end
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Embeds a file between two chunks.
    ///
    /// - Parameter attachment: The file.
    /// - Throws: What the system says.
    public mutating func append(_ attachment: MCAPAttachment) throws(Errno) {
        let end = assembler.size
        try put(assembler.append(attachment), keeping: end)
    }

    /// Writes summary and end, and closes the file.
    ///
    /// - Throws: What the system says; the file is readable without them, and closed.
    public mutating func finish() throws(Errno) {
        defer { try? file.close() }
        let end = assembler.size
        try put(assembler.finish(), keeping: end)
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Closes the file as it is.
    public func abandon() { try? file.close() }

    private func put(_ bytes: [UInt8], keeping end: Int) throws(Errno) {
        do throws(Errno) {
            try Self.write(bytes, to: file)
        } catch {
            // Half a record would only make a reader complain.
            _ = ftruncate(file.rawValue, off_t(end))
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to file: FileDescriptor) throws(Errno) {
        do {
            _ = try file.writeAll(bytes)
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }
}
