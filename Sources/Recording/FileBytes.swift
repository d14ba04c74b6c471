internal import Glibc
public import SystemPackage

extension FileDescriptor {
    /// Reads a whole file.
    ///
    /// - Parameter path: Path of the file.
    /// - Returns: Content of the file, up to the length that the file had when it was opened.
    /// - Throws: `Errno`; `isDirectory` or `invalidArgument` if the path does not name a regular
    ///   file.
    public static func bytes(of path: FilePath) throws(Errno) -> [UInt8] {
        do {
            let file = try open(path, .readOnly, options: .closeOnExec)
            return try file.closeAfter {
                let length = try regularLength(of: file)
                var bytes = [UInt8](repeating: 0, count: length)
                var read = 0
                while read < length {
                    let count = try bytes.withUnsafeMutableBytes {
                        try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[read...]))
                    }
                    if count == 0 { break }
                    read += count
                }
                bytes.removeLast(length - read)
                return bytes
            }
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }
}

/// Length of a regular file, bytes. `lseek` is not sufficient: for a directory of ext4, it returns a
/// huge number.
private func regularLength(of file: FileDescriptor) throws(Errno) -> Int {
    var info = stat()
    guard fstat(file.rawValue, &info) == 0 else { throw Errno(rawValue: errno) }
    switch info.st_mode & S_IFMT {
    case S_IFREG: return Int(info.st_size)
    case S_IFDIR: throw .isDirectory
    default: throw .invalidArgument
    }
}
