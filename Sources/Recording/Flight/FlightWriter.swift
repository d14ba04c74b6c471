internal import Glibc
public import SystemPackage

/// Writer of a recording's file. At any time, the file can be read up to the last written chunk.
public struct FlightWriter {
    /// Path of the file.
    public let path: FilePath
    private let file: FileDescriptor
    private var assembler = MCAPAssembler(channels: FlightChannels.all)
    /// Time of the last message that was synced to the disk, ns.
    private var synced: Int64?

    /// Interval between two syncs, ns. A power cut loses at most the data of one interval; a
    /// shorter interval would wear out memory cards.
    private static let syncNanoseconds: Int64 = 5_000_000_000

    /// Creates the file. If a file with this path exists, the initializer throws an error.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - library: Name and version of the program that writes the file.
    ///   - metadata: Metadata of the file, by name.
    ///   - attachments: Files to embed in the recording.
    /// - Throws: The error of the system call; no file is created.
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
        // The lock prevents `MCAPRecovery` from completing the file while it is being written. The
        // kernel releases the lock when this process ends for any reason.
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

    /// Current length of the file, bytes.
    public var size: Int { assembler.size }
    /// Time from the first to the last message of the file, s.
    public var seconds: Double {
        assembler.span.map { Double($0.upperBound - $0.lowerBound) * 1e-9 } ?? 0
    }

    /// Appends a chunk.
    ///
    /// - Parameter chunk: The next chunk.
    /// - Throws: The system's error; the file then ends after the last chunk that was written, and
    ///   the caller can only finish it.
    public mutating func append(_ chunk: MCAPChunk) throws(Errno) {
        try put { $0.append(chunk) }
        let last = synced ?? chunk.start
        synced = last
        guard chunk.end &- last >= Self.syncNanoseconds else { return }
        synced = chunk.end
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Embeds a file between two chunks.
    ///
    /// - Parameter attachment: The embedded file.
    /// - Throws: The system's error.
    public mutating func append(_ attachment: MCAPAttachment) throws(Errno) {
        try put { $0.append(attachment) }
    }

    /// Writes the summary and the footer, and closes the file.
    ///
    /// - Throws: The system's error; the file is closed and readable, but has no summary and no
    ///   footer.
    public mutating func finish() throws(Errno) {
        defer { try? file.close() }
        try put { $0.finish() }
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Closes the file without a summary.
    public func abandon() { try? file.close() }

    /// Writes the bytes that the assembler makes.
    private mutating func put(_ make: (inout MCAPAssembler) -> [UInt8]) throws(Errno) {
        var next = assembler
        do throws(Errno) {
            try Self.write(make(&next), to: file)
            assembler = next
        } catch {
            // Truncate an incomplete record, because readers would report an error for it.
            _ = ftruncate(file.rawValue, off_t(assembler.size))
            _ = lseek(file.rawValue, off_t(assembler.size), SEEK_SET)
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
