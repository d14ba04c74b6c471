import SystemPackage

/// Standard error, for people and the journal.
enum StandardError {
    /// Writes the text unchanged. An error of standard error itself cannot be reported.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
