import SystemPackage

/// Output to standard error, for people and the journal.
enum StandardError {
    /// Writes the text unchanged. If writing to standard error fails, the failure cannot be
    /// reported anywhere.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
