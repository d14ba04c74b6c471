import SystemPackage

/// Wakes a thread that waits in poll(2): a pipe that is readable from the first ring until it is silenced.
final class Bell: Sendable {
    /// For poll(2).
    let descriptor: FileDescriptor
    private let writer: FileDescriptor

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws {
        (descriptor, writer) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        try? descriptor.close()
        try? writer.close()
    }

    /// Any thread; waits for nothing.
    func ring() {
        // A full pipe rings as well.
        _ = try? writer.writeAll([1])
    }

    /// Takes every ring so far. The thread that waits, before it looks at what rang.
    func silence() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let count = try? descriptor.read(into: buffer), count > 0 {}
        }
    }
}
