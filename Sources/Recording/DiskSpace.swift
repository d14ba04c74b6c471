internal import Glibc

/// Size and free space of a file system. Network drives without a limit report the largest possible
/// number of blocks, whose bytes do not fit into an integer.
public struct DiskSpace: Sendable, Equatable {
    /// Size of the file system, bytes; `Int.max` if it is larger.
    public let size: Int
    /// Space that programs without special rights can use, bytes; `Int.max` if it is larger.
    public let free: Int

    /// Asks the system for the file system of a path; this can wait for the disk. Nil if the path
    /// does not exist, or if the system does not report the space.
    public init?(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        self.init(
            blocks: UInt64(status.f_blocks), free: UInt64(status.f_bavail),
            blockBytes: UInt64(status.f_frsize))
    }

    /// Creates the space of a file system with the given numbers of blocks.
    init(blocks: UInt64, free: UInt64, blockBytes: UInt64) {
        func bytes(_ count: UInt64) -> Int {
            let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: blockBytes)
            return isTooLarge ? .max : Int(clamping: bytes)
        }
        size = bytes(blocks)
        self.free = bytes(free)
    }
}
