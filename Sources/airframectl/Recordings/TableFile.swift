import Glibc
import SystemPackage

/// Output of a table of comma-separated values: to a file, byte for byte, or for `-` to standard
/// output, like all other text (`Output`).
struct TableFile {
    /// The file; nil for standard output.
    private let file: FileDescriptor?
    private let output: Int32

    /// Creates the file, or empties it.
    ///
    /// - Parameters:
    ///   - path: Path of the file; `-` means standard output.
    ///   - output: File descriptor of standard output; tests replace it.
    /// - Throws: `Errno`.
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
    /// - Throws: `Errno`.
    func write(_ bytes: some Sequence<UInt8>) throws {
        guard let file else {
            return Output.write(String(decoding: Array(bytes), as: UTF8.self), to: output)
        }
        _ = try file.writeAll(bytes)
    }

    /// Closes the file after the last row.
    ///
    /// - Throws: `Errno`.
    func close() throws { try file?.close() }
}
