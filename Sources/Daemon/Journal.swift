import CSystemd
import Glibc

/// systemd's journal, for lines that have fields of their own: sd_journal_sendv(3).
enum Journal {
    /// Writes one entry.
    ///
    /// - Parameter fields: Names in capitals, `MESSAGE` and `PRIORITY` among them, with their values.
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
