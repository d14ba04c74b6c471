import CLinuxShim
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
public import SystemPackage

/// File with the newest time or counter that was accepted with a link's key. The file keeps this
/// value across restarts of airframed, so that a recorded frame is not accepted again after a
/// restart.
///
/// airframed accepts a value only if the file already contains this value or a greater one.
/// Therefore, even after a power cut, a recorded value is not accepted again. After a power cut, a
/// genuine value is accepted only if it is greater than the value in the file, which is at most
/// `margin` greater than the last accepted one. When airframed ends in order, the last accepted
/// value is written. A separate thread, `airframed-keys`, writes the file, so links never wait for
/// the disk.
public final class FreshnessFile: Service {
    private static let stackSize = 128 * 1024

    private let path: FilePath
    private let margin: UInt64
    private let logger: Logger
    private let thread: ServiceThread
    private let bell: Bell
    /// Value that an earlier run of airframed has stored in the file.
    private let floor: UInt64
    private let newest: Atomic<UInt64>
    /// Value that must be written to the file, after the margin has been added to it.
    private let wanted: Atomic<UInt64>
    /// Value in the file, the largest time or counter that can be accepted now.
    private let reserved: Atomic<UInt64>

    /// Reads the value of an earlier run. If the file contains no number, the problem is logged,
    /// and the file counts as missing.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - margin: Difference between the value in the file and the accepted values, in the unit of
    ///     the values.
    ///   - logger: Log for failures to read and write.
    /// - Throws: `Errno` if the process has no free descriptors.
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

    /// The newest value that this run or an earlier run has accepted. The newest accepted value and
    /// smaller values are refused.
    public var value: UInt64 { floor }

    /// Whether a value can be accepted: the file must contain this value or a greater one. A value
    /// that is greater than the value in the file is refused, and then written to the file, so that
    /// later values are accepted. Any thread can call this method, which never waits.
    public func admits(_ value: UInt64) -> Bool {
        let reserved = reserved.load(ordering: .acquiring)
        if value > reserved || reserved - value < margin / 2 { expect(value) }
        return value <= reserved
    }

    /// Writes a greater value to the file in advance, so that the values after this one can be
    /// accepted. Any thread can call this method, which never waits.
    public func expect(_ value: UInt64) {
        guard value > wanted.load(ordering: .relaxed) else { return }
        wanted.store(value, ordering: .relaxed)
        bell.ring()
    }

    /// Registers a value that has been accepted and is greater than all earlier ones. Any thread
    /// can call this method, which never waits.
    public func note(_ value: UInt64) { newest.store(value, ordering: .relaxed) }

    /// Writes until shutdown.
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
            // The value counts as saved even if the write failed, because a full disk must not
            // disable the link; the log reports the failure.
            reserved.store(value, ordering: .releasing)
        }
        end()
    }

    /// Writes the value without a margin when airframed ends in order, so that a restart delays no
    /// sender.
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
                "\(path): \(error); after a restart airframed will not be able to refuse copies of frames that it has accepted."
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
                "\(path): the file contains no number, so airframed cannot refuse copies of frames that it accepted before its start."
            )
        } catch Errno.noSuchFileOrDirectory {
            return 0
        } catch {
            logger.warning(
                "\(path): \(error); airframed cannot refuse copies of frames that it accepted before its start."
            )
        }
        return 0
    }
}
