import CLinuxShim
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
public import SystemPackage
import Threads

/// File that stores the newest accepted time or counter of a link that authenticates frames with a
/// key. With this file, the link can refuse replayed frames even after a restart of airframed.
///
/// airframed accepts a value only if the file already contains this value or a greater one.
/// Therefore a replayed value is not accepted, even after a power cut. After a power cut, a genuine
/// value is accepted only if it is greater than the value in the file. The value in the file
/// exceeds the last accepted value by at most `margin`. When airframed ends normally, the last
/// accepted value is written to the file. A separate thread, `airframed-keys`, writes the file, so
/// links never wait for the disk.
public final class FreshnessFile: Service {
    private static let stackSize = 128 * 1024

    private let path: FilePath
    private let margin: UInt64
    private let logger: Logger
    private let thread: ServiceThread
    private let bell: WakeupPipe
    /// Value that an earlier process has stored in the file.
    private let floor: UInt64
    private let newest: Atomic<UInt64>
    /// Newest value that the link must be able to accept; this value plus `margin` is written to
    /// the file.
    private let wanted: Atomic<UInt64>
    /// Value that the file contains. A time or counter up to this value can be accepted without
    /// another write to the file.
    private let reserved: Atomic<UInt64>

    /// Reads the value that an earlier process has stored. If the file does not contain a number,
    /// the problem is logged, and the file is treated as missing.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - margin: Largest difference between the value in the file and the accepted values, in the
    ///     unit of the values.
    ///   - logger: Log for failures to read and write.
    /// - Throws: `Errno` if the process has no free descriptors.
    public init(path: FilePath, margin: UInt64, logger: Logger) throws {
        self.path = path
        self.margin = margin
        self.logger = logger
        thread = try ServiceThread(name: "airframed-keys", stackSize: Self.stackSize)
        bell = try WakeupPipe()
        floor = Self.read(path, logger)
        newest = Atomic(floor)
        wanted = Atomic(floor)
        reserved = Atomic(floor)
    }

    /// Value that an earlier process has stored. The link refuses the stored value and smaller
    /// values.
    public var value: UInt64 { floor }

    /// Returns true if the file contains this value or a greater one; the value can then be
    /// accepted. If the result is false, the file's thread writes a greater value to the file.
    /// After the write, this method accepts the value. Any thread can call this method; it never
    /// waits.
    public func admits(_ value: UInt64) -> Bool {
        let reserved = reserved.load(ordering: .acquiring)
        if value > reserved || reserved - value < margin / 2 { expect(value) }
        return value <= reserved
    }

    /// Requests a write of the sum of `value` and `margin` to the file. After the write, the link
    /// can accept the values up to this sum. Only the value of a genuine frame is a valid argument:
    /// with the time of a clock that is ahead, the link would refuse genuine frames after a power
    /// cut.
    private func expect(_ value: UInt64) {
        guard value > wanted.load(ordering: .relaxed) else { return }
        wanted.store(value, ordering: .relaxed)
        bell.ring()
    }

    /// Records an accepted value, which must be greater than all earlier values. Any thread can
    /// call this method, which never waits.
    public func note(_ value: UInt64) { newest.store(value, ordering: .relaxed) }

    /// Writes the file when necessary, until shutdown.
    ///
    /// - Throws: `SocketError` when the thread that writes the file cannot be started.
    public func run() async throws {
        try await thread.run { self.keep() }
    }

    private func keep() {
        PollLoop(wake: thread.wake).run {
            $0.add(bell.descriptor)
        } turn: { _ in
            bell.silence()
            let (ahead, isTooLarge) = wanted.load(ordering: .relaxed).addingReportingOverflow(
                margin)
            let value = isTooLarge ? UInt64.max : ahead
            guard value > reserved.load(ordering: .relaxed) else { return }
            write(value)
            // The value is treated as saved even if the write failed, because a full disk must not
            // disable the link. The log reports the failure.
            reserved.store(value, ordering: .releasing)
        }
        end()
    }

    /// Writes the last accepted value without a margin, because airframed ends normally. Therefore
    /// the next value of a sender is accepted immediately after the restart.
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
            logger.warning(
                "\(path): \(error); after a restart airframed cannot detect replays of earlier frames."
            )
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
            logger.warning(
                "\(path): the file contains no number, so airframed cannot detect replays of frames from before this restart."
            )
        } catch Errno.noSuchFileOrDirectory {
            return 0
        } catch {
            logger.warning(
                "\(path): \(error); airframed cannot detect replays of frames from before this restart."
            )
        }
        return 0
    }
}
