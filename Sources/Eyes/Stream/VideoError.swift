import CVideo

/// Problem that GStreamer reports, as a sentence with a remedy.
public struct VideoError: Error, Sendable, CustomStringConvertible {
    /// Problem and remedy as a sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Calls a C shim function that returns an error text if it fails.
///
/// - Returns: Result of `body`, and the error text, which is empty after success.
func withErrorText<Result>(_ body: (UnsafeMutablePointer<CChar>) -> Result) -> (Result, String) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CV_TEXT)) { buffer in
        buffer.initialize(repeating: 0)
        let result = buffer.baseAddress.map { body($0) }
        let text = String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let result else {
            fatalError("The temporary buffer of \(CV_TEXT) bytes has no base address.")
        }
        return (result, text)
    }
}

/// Access to the GStreamer library.
enum VideoLibrary {
    /// Initialises GStreamer. Call this method before any other use of GStreamer.
    static func start() throws(VideoError) {
        let (isReady, text) = withErrorText { cv_start($0) }
        guard isReady else {
            throw VideoError("GStreamer cannot be used: \(text). Install its packages again.")
        }
    }
}
