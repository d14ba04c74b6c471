import CLinuxShim
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
public import SystemPackage

/// The newest time or counter that a link's key was used with, kept over restarts so that nothing recorded before counts again.
///
/// A thread of its own, `airframed-keys`, writes it once a minute and at the end: links never wait for a disk. After a power
/// cut the last minute is missing.
public final class FreshnessFile: Service {
    private static let stackSize = 128 * 1024
    private static let period: Int64 = 60_000_000_000

    private let path: FilePath
    private let logger: Logger
    private let thread: ServiceThread
    private let newest: Atomic<UInt64>
    private let written: Atomic<UInt64>

    /// Reads the value of an earlier run; a file without a number is named in the log and counts as none.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - logger: Hears of failures to read and write.
    /// - Throws: `Errno` when the process has no descriptors left.
    public init(path: FilePath, logger: Logger) throws {
        self.path = path
        self.logger = logger
        thread = try ServiceThread(name: "airframed-keys", stackSize: Self.stackSize)
        let value = Self.read(path, logger)
        newest = Atomic(value)
        written = Atomic(value)
    }

    /// The newest one. Any thread.
    public var value: UInt64 { newest.load(ordering: .relaxed) }

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
            var entries = [pollfd(fd: thread.wake.rawValue, events: Int16(POLLIN), revents: 0)]
            var ready: Int32 = 0
            _ = cl_socket_wait(&entries, entries.count, Self.period, &ready)
            write()
            if entries[0].revents != 0 { return }
        }
    }

    private func write() {
        let value = value
        guard value != written.load(ordering: .relaxed) else { return }
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
            written.store(value, ordering: .relaxed)
        } catch {
            logger.warning("\(path): \(error); after a restart older frames may count again.")
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
            logger.warning("\(path): no number; frames of an earlier run may count again.")
        } catch Errno.noSuchFileOrDirectory {
            return 0
        } catch {
            logger.warning("\(path): \(error); frames of an earlier run may count again.")
        }
        return 0
    }
}
