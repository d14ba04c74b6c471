import SystemPackage

/// The stream that people and the journal read.
enum StandardError {
    /// Writes the text as it is. Nobody is left to tell when standard error itself fails.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
