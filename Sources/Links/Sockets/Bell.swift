import SystemPackage

/// Bell that wakes a thread in poll(2). The bell is a pipe that is readable from the first ring
/// until `silence` is called.
final class Bell: Sendable {
    /// Descriptor for poll(2).
    let descriptor: FileDescriptor
    private let writer: FileDescriptor

    /// Creates a bell.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    init() throws {
        (descriptor, writer) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        try? descriptor.close()
        try? writer.close()
    }

    /// Rings the bell, which wakes the waiting thread. Any thread can call this method, which never
    /// waits.
    func ring() {
        // An error can be ignored: a full pipe is already readable, so the reader wakes up.
        _ = try? writer.writeAll([1])
    }

    /// Empties the pipe; the next ring then wakes the thread again. The waiting thread calls this
    /// method before it handles the cause of the wake-up.
    func silence() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let count = try? descriptor.read(into: buffer), count > 0 {}
        }
    }
}
