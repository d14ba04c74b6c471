public import SystemPackage

/// Pipe that wakes a thread in poll(2). The pipe is readable from the first call of `ring`
/// until `silence` is called.
public final class WakeupPipe: Sendable {
    /// Descriptor for poll(2).
    public let descriptor: FileDescriptor
    private let writer: FileDescriptor

    /// Creates a pipe.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    public init() throws {
        (descriptor, writer) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        try? descriptor.close()
        try? writer.close()
    }

    /// Wakes the waiting thread. Any thread can call this method, which never
    /// waits.
    public func ring() {
        // An error can be ignored: a full pipe is already readable, so the reader wakes up.
        _ = try? writer.writeAll([1])
    }

    /// Empties the pipe; the next ring then wakes the thread again. The waiting thread calls this
    /// method before it handles the cause of the wake-up.
    public func silence() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let count = try? descriptor.read(into: buffer), count > 0 {}
        }
    }
}
