import Client
import Glibc
import SystemPackage

/// Output of a table of comma-separated values. A file receives the bytes unchanged, and appears or
/// replaces an older file only when it is complete: until `close`, the draft `PATH.new` receives
/// the bytes. For the path `-`, standard output receives the text with escapes (`Output`).
final class TableFile {
    /// The open file; nil for standard output, and after `close`.
    private var file: FileDescriptor?
    private let path: FilePath
    /// Path of the draft; nil for standard output, devices and pipes.
    private let draft: FilePath?
    private let output: Int32

    /// Creates the draft of the file.
    ///
    /// - Parameters:
    ///   - path: Path of the file; `-` means standard output.
    ///   - input: Path of the file that the command reads; nil if the command can replace it.
    ///   - output: File descriptor of standard output; tests replace it.
    /// - Throws: `ClientError` if the output is the input; `Errno` of the failed system call.
    init(_ path: String, input: String? = nil, output: Int32 = STDOUT_FILENO) throws {
        self.output = output
        self.path = FilePath(path)
        guard path != "-" else {
            draft = nil
            return
        }
        let old = Self.properties(path)
        if let input, let old, let read = Self.properties(input), old.st_dev == read.st_dev,
            old.st_ino == read.st_ino
        {
            throw ClientError.file(
                "\(path): the command reads this file. Choose another output.", field: "output")
        }
        let isRegular = old.map { $0.st_mode & S_IFMT == S_IFREG } ?? true
        draft = isRegular ? FilePath("\(path).new") : nil
        file = try FileDescriptor.open(
            draft ?? self.path, .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
    }

    /// Removes an incomplete draft.
    deinit {
        guard let file else { return }
        try? file.close()
        if let draft { unlink(draft.string) }
    }

    private static func properties(_ path: String) -> stat? {
        var info = stat()
        return stat(path, &info) == 0 ? info : nil
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

    /// Closes the file after the last row, and gives it its name.
    ///
    /// - Throws: `Errno` of the failed system call.
    func close() throws {
        guard let file else { return }
        if let draft, rename(draft.string, path.string) != 0 { throw Errno(rawValue: errno) }
        self.file = nil
        try file.close()
    }
}
