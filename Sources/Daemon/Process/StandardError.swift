import SystemPackage

/// Output to standard error, for the terminal or the journal.
enum StandardError {
    /// Writes the text unchanged. A failure is ignored, because it cannot be reported anywhere.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
