import Glibc
public import SystemPackage

/// File system access for the loader; tests replace it.
public struct ConfigurationFiles: Sendable {
    /// The contents of a file, at most `sizeLimit + 1` bytes.
    public var read: @Sendable (_ path: FilePath) throws(Errno) -> [UInt8]
    /// The names in a directory, in any order.
    public var list: @Sendable (_ directory: FilePath) throws(Errno) -> [String]

    /// Creates access to a file system from the functions `read` and `list`.
    public init(
        read: @escaping @Sendable (_ path: FilePath) throws(Errno) -> [UInt8],
        list: @escaping @Sendable (_ directory: FilePath) throws(Errno) -> [String]
    ) {
        self.read = read
        self.list = list
    }

    /// Largest accepted size of a file, bytes. The size limit is necessary, because the path can be
    /// a device with endless data.
    public static let sizeLimit = 1 << 20

    /// The file system of the computer.
    public static let system = ConfigurationFiles(read: readFile, list: listDirectory)

    private static func readFile(_ path: FilePath) throws(Errno) -> [UInt8] {
        do {
            // Only a read of standard input can block. All other files are opened with O_NONBLOCK.
            // Without O_NONBLOCK, `open` on a named pipe waits for a writer.
            let isInput = path == "/dev/stdin"
            let file = try FileDescriptor.open(
                path, .readOnly, options: isInput ? .closeOnExec : [.closeOnExec, .nonBlocking])
            return try file.closeAfter {
                var info = stat()
                if !isInput, fstat(file.rawValue, &info) == 0,
                    [S_IFIFO, S_IFSOCK, S_IFBLK].contains(info.st_mode & S_IFMT)
                {
                    throw Errno.notSupported
                }
                return try contents(of: file)
            }
        } catch let error as Errno {
            throw error
        } catch {
            throw .ioError
        }
    }

    private static func contents(of file: FileDescriptor) throws -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while content.count <= sizeLimit {
            let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { break }
            content.append(contentsOf: chunk[..<count])
        }
        return content
    }

    private static func listDirectory(_ path: FilePath) throws(Errno) -> [String] {
        guard let directory = opendir(path.string) else { throw Errno(rawValue: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            // The directory entry contains the name as a NUL-terminated C array.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)
                ) {
                    String(cString: $0)
                }
            }
            names.append(name)
        }
        return names
    }
}
