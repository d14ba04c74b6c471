public import SystemPackage

extension FileDescriptor {
    /// Reads a whole file.
    ///
    /// - Parameter path: Path of the file.
    /// - Returns: Content of the file, up to the length that the file had when it was opened.
    /// - Throws: `Errno`.
    public static func bytes(of path: FilePath) throws(Errno) -> [UInt8] {
        do {
            let file = try open(path, .readOnly, options: .closeOnExec)
            return try file.closeAfter {
                let length = Int(try file.seek(offset: 0, from: .end))
                try file.seek(offset: 0, from: .start)
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
