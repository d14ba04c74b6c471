import Glibc
public import SystemPackage

/// Runs `body` with a new directory, and removes it afterwards.
///
/// - Parameter body: Receives the directory's path.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`, or `Errno` if the directory cannot be created.
public func withTemporaryDirectory<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let path = try newDirectory()
    defer { remove(path) }
    return try body(path)
}

/// Runs an asynchronous `body` with a new directory, and removes the directory afterwards.
public func withTemporaryDirectory<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (FilePath) async throws -> Result
) async throws -> Result {
    let path = try newDirectory()
    defer { remove(path) }
    return try await body(path)
}

private func newDirectory() throws -> FilePath {
    var template = Array("/tmp/airframe-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    return FilePath(
        String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
}

/// Creates a directory.
///
/// - Parameter path: Path of the directory, whose parent must exist.
/// - Throws: `Errno` if the directory cannot be created.
public func makeDirectory(_ path: FilePath) throws {
    guard mkdir(path.string, 0o755) == 0 else { throw Errno(rawValue: errno) }
}

/// Writes text to a file, and replaces an earlier file.
///
/// - Parameters:
///   - text: The complete contents.
///   - path: Path of the file.
/// - Throws: `Errno` if the file cannot be written.
public func write(_ text: String, to path: FilePath) throws {
    let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
    try file.closeAfter { _ = try file.writeAll(text.utf8) }
}

private func remove(_ path: FilePath) {
    if let directory = opendir(path.string) {
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { remove(path.appending(name)) }
        }
        closedir(directory)
    }
    _ = Glibc.remove(path.string)
}
