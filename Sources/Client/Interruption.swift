public import SystemPackage

/// Signal that ends a wait in poll(2), such as the wait for the daemon's answer. The class is
/// thread-safe.
public final class Interruption: Sendable {
    /// Descriptor for poll(2): readable after `signal`, until `clear` is called.
    public let descriptor: FileDescriptor
    private let writer: FileDescriptor

    /// Creates an interruption.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    public init() throws {
        (descriptor, writer) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        try? descriptor.close()
        try? writer.close()
    }

    /// Ends the current wait, or the next wait if no thread is waiting. This method never blocks.
    public func signal() {
        // An error can be ignored: a full pipe is already readable.
        _ = try? writer.writeAll([1])
    }

    /// Clears the signal, so that the next wait does not end immediately.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let count = try? descriptor.read(into: buffer), count > 0 {}
        }
    }
}
