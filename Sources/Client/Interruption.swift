public import SystemPackage

/// Signal that ends a wait in poll(2), such as the wait for the daemon's answer. Any thread can use it.
public final class Interruption: Sendable {
    /// Descriptor for poll(2), which is readable from a signal until `clear`.
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

    /// Ends the present wait, or the next one. The call never waits.
    public func signal() {
        // A full pipe is readable already.
        _ = try? writer.writeAll([1])
    }

    /// Prepares the next wait.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let count = try? descriptor.read(into: buffer), count > 0 {}
        }
    }
}
