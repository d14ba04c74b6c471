import Glibc
public import SystemPackage

/// System calls that the state store uses. Tests replace the calls to simulate failures.
///
/// Every call throws its errno. After EINTR, all calls except close(2) are repeated.
public struct FileCalls: Sendable {
    /// Mode for opening a file.
    public enum Access: Sendable {
        /// Read an existing file.
        case read
        /// Create an empty file for writing; an existing file is replaced. The owner and the group
        /// of the file can read the file.
        case create
        /// Open a directory to sync its entries.
        case directory
    }

    /// The call open(2).
    public var open: @Sendable (_ path: FilePath, _ access: Access) throws(Errno) -> Int32
    /// Calls read(2) for at most `limit` bytes; the result is empty at the end of the file.
    public var read: @Sendable (_ file: Int32, _ limit: Int) throws(Errno) -> [UInt8]
    /// Calls write(2); returns the number of bytes written, at least one.
    public var write: @Sendable (_ file: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int
    /// The call fsync(2).
    public var sync: @Sendable (_ file: Int32) throws(Errno) -> Void
    /// The call close(2).
    public var close: @Sendable (_ file: Int32) throws(Errno) -> Void
    /// The call link(2).
    public var link: @Sendable (_ old: FilePath, _ new: FilePath) throws(Errno) -> Void
    /// The call rename(2).
    public var rename: @Sendable (_ old: FilePath, _ new: FilePath) throws(Errno) -> Void
    /// The call unlink(2).
    public var remove: @Sendable (_ path: FilePath) throws(Errno) -> Void
    /// True if a file exists at the given path.
    public var exists: @Sendable (_ path: FilePath) -> Bool

    /// Creates a set of system calls from the given functions.
    public init(
        open: @escaping @Sendable (_ path: FilePath, _ access: Access) throws(Errno) -> Int32,
        read: @escaping @Sendable (_ file: Int32, _ limit: Int) throws(Errno) -> [UInt8],
        write: @escaping @Sendable (_ file: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int,
        sync: @escaping @Sendable (_ file: Int32) throws(Errno) -> Void,
        close: @escaping @Sendable (_ file: Int32) throws(Errno) -> Void,
        link: @escaping @Sendable (_ old: FilePath, _ new: FilePath) throws(Errno) -> Void,
        rename: @escaping @Sendable (_ old: FilePath, _ new: FilePath) throws(Errno) -> Void,
        remove: @escaping @Sendable (_ path: FilePath) throws(Errno) -> Void,
        exists: @escaping @Sendable (_ path: FilePath) -> Bool
    ) {
        self.open = open
        self.read = read
        self.write = write
        self.sync = sync
        self.close = close
        self.link = link
        self.rename = rename
        self.remove = remove
        self.exists = exists
    }

    /// The operating system's calls.
    public static let system = FileCalls(
        open: { path, access throws(Errno) in
            let flags =
                switch access {
                case .read: O_RDONLY | O_CLOEXEC | O_NONBLOCK
                case .create: O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
                case .directory: O_RDONLY | O_DIRECTORY | O_CLOEXEC
                }
            return Int32(try retrying { Glibc.open(path.string, flags, 0o640) })
        },
        read: { file, limit throws(Errno) in
            var buffer = [UInt8](repeating: 0, count: limit)
            let count = try retrying { Glibc.read(file, &buffer, limit) }
            return Array(buffer[..<count])
        },
        write: { file, bytes throws(Errno) in
            try retrying { bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } }
        },
        sync: { file throws(Errno) in try retrying { Glibc.fsync(file) } },
        // Linux closes the descriptor even if close(2) reports EINTR. A second close(2) could close
        // another file, so the call is not repeated.
        close: { file throws(Errno) in
            if Glibc.close(file) != 0, errno != EINTR { throw Errno(rawValue: errno) }
        },
        link: { old, new throws(Errno) in try retrying { Glibc.link(old.string, new.string) } },
        rename: { old, new throws(Errno) in try retrying { Glibc.rename(old.string, new.string) } },
        remove: { path throws(Errno) in try retrying { Glibc.unlink(path.string) } },
        exists: { path in Glibc.access(path.string, F_OK) == 0 })

    /// Repeats a call after EINTR, and throws other errors.
    @discardableResult
    private static func retrying<Result: FixedWidthInteger>(
        _ call: () -> Result
    ) throws(Errno) -> Int {
        while true {
            let result = call()
            if result >= 0 { return Int(result) }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }
}
