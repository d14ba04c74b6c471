import CSystemd
import Glibc

/// systemd's journal, for lines that have fields of their own: sd_journal_sendv(3).
enum Journal {
    /// Whether what is written to a file arrives in the journal.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - stream: `JOURNAL_STREAM`, the journal's device and inode (systemd.exec(5)). Children
    ///     inherit it, also those whose output somebody sent elsewhere; so it is compared.
    /// - Returns: False where the journal does not read, or nobody knows.
    static func reads(
        _ descriptor: Int32, stream: String? = getenv("JOURNAL_STREAM").map { String(cString: $0) }
    ) -> Bool {
        var file = stat()
        guard let stream, fstat(descriptor, &file) == 0 else { return false }
        return stream == "\(file.st_dev):\(file.st_ino)"
    }

    /// Writes one entry.
    ///
    /// - Parameter fields: Names in capitals, `MESSAGE` and `PRIORITY` among them, with their
    ///   values.
    /// - Returns: Whether the journal has it; false where none listens.
    static func send(_ fields: [(name: String, value: String)]) -> Bool {
        let entries = fields.map { Array("\($0.name)=\($0.value)".utf8) }
        // One buffer that stays where it is while the call lasts.
        let bytes = entries.flatMap { $0 }
        return bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            var offset = 0
            let vectors = entries.map { entry in
                defer { offset += entry.count }
                return iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: base + offset),
                    iov_len: entry.count)
            }
            return sd_journal_sendv(vectors, Int32(vectors.count)) == 0
        }
    }
}
