public import SystemPackage

/// The bytes of a file.
///
/// - Parameter path: Which file.
/// - Returns: All of them.
/// - Throws: `Errno`.
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

/// Makes a file of these bytes, in the place of an earlier one.
///
/// - Parameters:
///   - bytes: The whole contents.
///   - path: Where.
/// - Throws: `Errno`.
public func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
    try file.closeAfter { _ = try file.writeAll(bytes) }
}
