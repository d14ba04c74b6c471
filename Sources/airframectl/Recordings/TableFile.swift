import Glibc
import SystemPackage

/// Output of a table of comma-separated values. A file receives the bytes unchanged. For the path
/// `-`, standard output receives the text with escapes (`Output`).
struct TableFile {
    /// The open file; nil for standard output.
    private let file: FileDescriptor?
    private let output: Int32

    /// Creates the file, or truncates an existing file.
    ///
    /// - Parameters:
    ///   - path: Path of the file; `-` means standard output.
    ///   - output: File descriptor of standard output; tests replace it.
    /// - Throws: `Errno` of the failed system call.
    init(_ path: String, output: Int32 = STDOUT_FILENO) throws {
        self.output = output
        guard path != "-" else {
            file = nil
            return
        }
        file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
    }

    /// Writes whole lines of UTF-8 text.
    ///
    /// - Throws: `Errno` of the failed system call.
    func write(_ bytes: some Sequence<UInt8>) throws {
        guard let file else {
            return Output.write(String(decoding: Array(bytes), as: UTF8.self), to: output)
        }
        _ = try file.writeAll(bytes)
    }

    /// Closes the file after the last row.
    ///
    /// - Throws: `Errno` of the failed system call.
    func close() throws { try file?.close() }
}
