import CSystemd
import Glibc

/// Access to systemd's journal, for entries with separate fields: sd_journal_sendv(3).
enum Journal {
    /// True if the output to a file descriptor arrives in the journal.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor.
    ///   - stream: `JOURNAL_STREAM`, the journal's device and inode (systemd.exec(5)). Child
    ///     processes inherit `JOURNAL_STREAM` even if their output goes elsewhere, so the function
    ///     compares the variable with the device and inode of the descriptor.
    /// - Returns: True if the output goes to the journal; false if the destination is unknown.
    static func reads(
        _ descriptor: Int32, stream: String? = getenv("JOURNAL_STREAM").map { String(cString: $0) }
    ) -> Bool {
        var file = stat()
        guard let stream, fstat(descriptor, &file) == 0 else { return false }
        return stream == "\(file.st_dev):\(file.st_ino)"
    }

    /// Writes one entry.
    ///
    /// - Parameter fields: Fields with names in capitals, including `MESSAGE` and `PRIORITY`, with
    ///   their values.
    /// - Returns: True if the journal has accepted the entry; false if there is no journal.
    static func send(_ fields: [(name: String, value: String)]) -> Bool {
        let entries = fields.map { Array("\($0.name)=\($0.value)".utf8) }
        // All entries are in one buffer, so that their addresses stay valid during the call.
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
