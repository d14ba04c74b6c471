import Glibc
public import SystemPackage
public import Wire

/// File that contains the passphrase of a link's shared key on one line. The key is the SHA-256
/// hash of the passphrase, as in ground stations.
public struct KeyFile: Sendable {
    /// Shortest allowed passphrase, bytes; a shorter passphrase is easy to guess.
    static let shortest = 8
    private static let longest = 1024

    /// Path of the file.
    public let path: FilePath
    /// The setting that requires the file.
    private let setting: String

    /// - Parameters:
    ///   - path: Path of the file.
    ///   - setting: The setting that requires the file, for messages.
    public init(path: FilePath, setting: String) {
        self.path = path
        self.setting = setting
    }

    /// Reads the file.
    ///
    /// - Returns: The key.
    /// - Throws: `SocketError` that states the problem with the file, and the remedy.
    public func read() throws(SocketError) -> SharedKey {
        let bytes: [UInt8]
        let mode: mode_t
        do {
            (bytes, mode) = try contents()
        } catch {
            let errno = (error as? Errno) ?? .ioError
            throw problem("\(errno); \(remedy(errno))")
        }
        guard mode & 0o007 == 0 else {
            throw problem(
                "every user can read the file; run chmod o= \(path), and change the passphrase")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw problem("the file is not text; write one line with a passphrase into the file")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, lines[0].utf8.count >= Self.shortest, bytes.count <= Self.longest
        else {
            throw problem(
                "the file must contain one line, a passphrase of \(Self.shortest) to \(Self.longest - 1) bytes"
            )
        }
        return SharedKey(passphrase: lines[0])
    }

    private func contents() throws -> (bytes: [UInt8], mode: mode_t) {
        let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        defer { try? file.close() }
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0 else { throw Errno(rawValue: errno) }
        let bytes = try [UInt8](unsafeUninitializedCapacity: Self.longest + 1) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        return (bytes, facts.st_mode)
    }

    /// Remedy for a file that cannot be read, as the end of a sentence.
    func remedy(_ error: Errno) -> String {
        switch error {
        case .permissionDenied, .notPermitted:
            "make the user that runs airframed the owner of this file: sudo chown airframe: \(path)"
        default: "write a passphrase into this file, or set \(setting) = false"
        }
    }

    private func problem(_ sentence: String) -> SocketError {
        SocketError(description: "\(setting) is true, but \(path): \(sentence).")
    }
}
