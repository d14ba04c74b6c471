public import SystemPackage

/// Reads a file.
///
/// - Parameter path: Path of the file.
/// - Returns: All bytes of the file.
/// - Throws: `Errno` if the file cannot be read.
public func bytes(of path: FilePath) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .readOnly)
    return try file.closeAfter {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = try chunk.withUnsafeMutableBytes({ try file.read(into: $0) }),
            count > 0
        {
            all += chunk[..<count]
        }
        return all
    }
}

/// Writes bytes to a file, and replaces an earlier file.
///
/// - Parameters:
///   - bytes: The complete contents.
///   - path: Path of the file.
/// - Throws: `Errno` if the file cannot be written.
public func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
    try file.closeAfter { _ = try file.writeAll(bytes) }
}
