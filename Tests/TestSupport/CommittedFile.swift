import Glibc
public import SystemPackage

/// A generated file in the repository. Tests compare the committed text with the generated text.
public struct CommittedFile: Sendable {
    private static let repository = FilePath(#filePath).removingLastComponent()
        .removingLastComponent().removingLastComponent()

    /// Path relative to the repository's root, such as `etc/airframed.toml`.
    public let name: String

    /// Absolute path of the file.
    public var path: FilePath { Self.repository.appending(name) }

    /// Refers to the file with this name.
    public init(_ name: String) { self.name = name }

    /// Committed text of the file.
    ///
    /// - Throws: `Errno` if the file cannot be read.
    public func text() throws -> String {
        let file = try FileDescriptor.open(path, .readOnly)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
            defer { chunk.deallocate() }
            while true {
                let count = try file.read(into: chunk)
                if count == 0 { return String(decoding: bytes, as: UTF8.self) }
                bytes += chunk.prefix(count)
            }
        }
    }

    /// Compares the file with the generated text. If `AIRFRAME_WRITE_DOCUMENTS` is set, writes the
    /// generated text to the file.
    ///
    /// - Parameter expected: The complete generated text.
    /// - Returns: Instructions if the texts differ, otherwise nil. The expected text is then in a
    ///   file in /tmp.
    /// - Throws: `Errno` if a file cannot be read or written.
    public func drift(from expected: String) throws -> String? {
        guard try text() != expected else { return nil }
        if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
            try write(expected, to: path)
            return nil
        }
        let copy = FilePath("/tmp").appending((path.lastComponent?.string ?? "") + ".expected")
        try write(expected, to: copy)
        return "\(name) has drifted, compare it with \(copy): make documents writes it"
    }
}
