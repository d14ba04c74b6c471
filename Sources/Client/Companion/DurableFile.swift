import Glibc
public import SystemPackage

/// Writer of files that survive a power failure.
public enum DurableFile {
    /// Replaces a file atomically. After a power failure, the file contains either the old or the
    /// new bytes. The call waits for the disk.
    ///
    /// - Parameters:
    ///   - path: Path of the file; `path` with the suffix `.new` is overwritten.
    ///   - bytes: The new content.
    ///   - permissions: Permissions of a new file.
    /// - Throws: `Errno` if the file cannot be written; the old file is unchanged.
    public static func replace(
        _ path: String, with bytes: [UInt8], permissions: FilePermissions = .ownerReadWrite
    ) throws(Errno) {
        let new = path + ".new"
        do {
            let file = try FileDescriptor.open(
                FilePath(new), .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: permissions)
            try file.closeAfter {
                try file.writeAll(bytes)
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            throw error as? Errno ?? .ioError
        }
        guard rename(new, path) == 0 else { throw Errno(rawValue: errno) }
        try syncFolder(of: path)
    }

    /// Syncs a file's folder to the disk, so that a power failure does not lose the file's name.
    ///
    /// - Parameter path: Path of the file.
    /// - Throws: `Errno` if the folder cannot be opened or synced.
    public static func syncFolder(of path: String) throws(Errno) {
        let folder = FilePath(path).removingLastComponent()
        do {
            let file = try FileDescriptor.open(
                folder.isEmpty ? "." : folder, .readOnly, options: [.directory, .closeOnExec])
            try file.closeAfter {
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            throw error as? Errno ?? .ioError
        }
    }
}
