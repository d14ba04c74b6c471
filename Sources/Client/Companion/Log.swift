import Glibc
import PlainText

/// Log of a companion program on standard error, which systemd passes to the journal.
public enum Log {
    /// Writes text to the log; each line of the text becomes a log line.
    public static func write(_ text: String) {
        let bytes = Array((text.visibleLines + "\n").utf8)
        // A failure to write to standard error is ignored, because it cannot be reported elsewhere.
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
