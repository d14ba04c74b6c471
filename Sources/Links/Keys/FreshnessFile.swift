import CLinuxShim
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
public import SystemPackage

/// The newest time or counter that a link's key was used with, kept over restarts so that nothing recorded before counts again.
///
/// The file is ahead of its use: a value counts only when the disk has it or a later one, so not even a power cut lets a
/// recorded one count again. After a power cut a genuine value counts once it has passed the file's, which is at most `margin` newer
/// than the last one used; at the end the file gets that last one. A thread of its own, `airframed-keys`, writes: links never
/// wait for a disk.
public final class FreshnessFile: Service {
    private static let stackSize = 128 * 1024

    private let path: FilePath
    private let margin: UInt64
    private let logger: Logger
    private let thread: ServiceThread
    private let bell: Bell
    /// Of an earlier run.
    private let floor: UInt64
    private let newest: Atomic<UInt64>
    /// The disk is to have this value with the margin above it.
    private let wanted: Atomic<UInt64>
    /// Up to here values may be used.
    private let reserved: Atomic<UInt64>

    /// Reads the value of an earlier run; a file without a number is named in the log and counts as none.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - margin: How far the file is ahead of what is used, in the unit of the values.
    ///   - logger: Hears of failures to read and write.
    /// - Throws: `Errno` when the process has no descriptors left.
    public init(path: FilePath, margin: UInt64, logger: Logger) throws {
        self.path = path
        self.margin = margin
        self.logger = logger
        thread = try ServiceThread(name: "airframed-keys", stackSize: Self.stackSize)
        bell = try Bell()
        floor = Self.read(path, logger)
        newest = Atomic(floor)
        wanted = Atomic(floor)
        reserved = Atomic(floor)
    }

    /// The newest one of an earlier run, or later. Nothing up to it counts.
    public var value: UInt64 { floor }

    /// Admits a value that the disk will know after a power cut. A newer one is refused and written: one that comes later is admitted.
    /// Any thread; waits for nothing.
    public func admits(_ value: UInt64) -> Bool {
        let reserved = reserved.load(ordering: .acquiring)
        if value > reserved || reserved - value < margin / 2 { expect(value) }
        return value <= reserved
    }

    /// Writes ahead for values that come soon after this one. Any thread; waits for nothing.
    public func expect(_ value: UInt64) {
        guard value > wanted.load(ordering: .relaxed) else { return }
        wanted.store(value, ordering: .relaxed)
        bell.ring()
    }

    /// A newer one was used. Any thread; waits for nothing.
    public func note(_ value: UInt64) { newest.store(value, ordering: .relaxed) }

    /// Writes until shutdown.
    ///
    /// - Throws: `SocketError` when the thread cannot be started.
    public func run() async throws {
        try await thread.run { self.keep() }
    }

    private func keep() {
        while true {
            var entries = [thread.wake, bell.descriptor].map {
                pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0)
            }
            var ready: Int32 = 0
            _ = cl_socket_wait(&entries, entries.count, 3_600_000_000_000, &ready)
            if entries[0].revents != 0 { return end() }
            bell.silence()
            let (ahead, isTooLarge) = wanted.load(ordering: .relaxed).addingReportingOverflow(
                margin)
            let value = isTooLarge ? UInt64.max : ahead
            guard value > reserved.load(ordering: .relaxed) else { continue }
            write(value)
            // Also when that failed: a full disk, which the log has named, does not take the link away.
            reserved.store(value, ordering: .releasing)
        }
    }

    /// After an orderly end the file has no margin, so that a restart keeps no sender waiting.
    private func end() {
        let value = newest.load(ordering: .relaxed)
        if value != reserved.load(ordering: .relaxed) { write(value) }
    }

    private func write(_ value: UInt64) {
        let new = FilePath(path.string + ".new")
        do {
            let file = try FileDescriptor.open(
                new, .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead])
            try file.closeAfter {
                _ = try file.writeAll("\(value)\n".utf8)
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
            guard rename(new.string, path.string) == 0 else { throw Errno(rawValue: errno) }
            let folder = try FileDescriptor.open(
                path.removingLastComponent(), .readOnly, options: [.closeOnExec, .directory])
            try folder.closeAfter {
                guard fsync(folder.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            logger.warning("\(path): \(error); after a restart older frames may be accepted again.")
        }
    }

    private static func read(_ path: FilePath, _ logger: Logger) -> UInt64 {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            let bytes = try file.closeAfter {
                try [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n"), let value = UInt64(text.dropLast()) { return value }
            logger.warning("\(path): not a number; frames of an earlier run may be accepted again.")
        } catch Errno.noSuchFileOrDirectory {
            return 0
        } catch {
            logger.warning("\(path): \(error); frames of an earlier run may be accepted again.")
        }
        return 0
    }
}
