import Glibc

extension Format {
    /// Text of a date, such as `2026-03-01 14:05:09`.
    ///
    /// - Parameters:
    ///   - seconds: The date, seconds since 1970.
    ///   - format: Format of strftime(3), for at most 63 bytes of text.
    ///   - isUTC: True for UTC, false for the computer's time zone.
    /// - Returns: The text.
    public static func date(
        _ seconds: Double, _ format: String = "%Y-%m-%d %H:%M:%S", isUTC: Bool = false
    ) -> String {
        var time = time_t(seconds)
        var parts = tm()
        if isUTC { gmtime_r(&time, &parts) } else { localtime_r(&time, &parts) }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
