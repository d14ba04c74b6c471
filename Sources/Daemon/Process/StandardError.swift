import SystemPackage

/// Output to standard error, for people and the journal.
enum StandardError {
    /// Writes the text unchanged. If standard error cannot be written, this cannot be reported.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
