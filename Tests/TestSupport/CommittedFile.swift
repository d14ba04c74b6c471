import Glibc
public import SystemPackage

/// A file of the repository that says what the code says: made by a test, read by people.
public struct CommittedFile: Sendable {
    private static let repository = FilePath(#filePath).removingLastComponent()
        .removingLastComponent().removingLastComponent()

    /// Below the repository's top, such as `etc/airframed.toml`.
    public let name: String

    /// Where it is.
    public var path: FilePath { Self.repository.appending(name) }

    /// The file with this name.
    public init(_ name: String) { self.name = name }

    /// What is committed.
    ///
    /// - Throws: `Errno`.
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

    /// Compares it with what it should say, or writes that where `AIRFRAME_WRITE_DOCUMENTS` is set.
    ///
    /// - Parameter expected: The whole text.
    /// - Returns: What to do, when they differ; the expected text is in a file in /tmp then.
    /// - Throws: `Errno`.
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
