/// Formatting of numbers and words as text. An unknown number is shown as a dash.
public enum Format {
    /// Formats a number with a fixed number of decimals.
    ///
    /// - Parameters:
    ///   - value: The number. An infinite or NaN number is shown as `–`.
    ///   - decimals: Number of decimals, 0...9.
    ///   - signed: True if positive numbers have a plus sign.
    /// - Returns: The text, rounded half away from zero.
    public static func fixed(_ value: Double, _ decimals: Int, signed: Bool = false) -> String {
        guard value.isFinite else { return "–" }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = (value.magnitude * scale).rounded()
        guard scaled < 1e18 else { return value.description }
        let digits = String(Int64(scaled))
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let point = padded.index(padded.endIndex, offsetBy: -decimals)
        let text = decimals == 0 ? padded : "\(padded[..<point]).\(padded[point...])"
        // A number that rounds to zero has no sign.
        if scaled == 0 { return signed ? " " + text : text }
        return (value < 0 ? "-" : signed ? "+" : "") + text
    }

    /// Shortest exact text of a number, such as `2` or `0.5`.
    public static func plain(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    /// Text of a duration in its two largest units, such as `2 h 14 min`.
    public static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return "–" }
        let whole = Int(seconds)
        let (days, hours) = (whole / 86400, whole / 3600 % 24)
        let (minutes, rest) = (whole / 60 % 60, whole % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes) min" }
        if minutes > 0 { return "\(minutes) min \(rest) s" }
        return "\(rest) s"
    }

    /// Text of a count, with groups of three digits, such as `8 042 113`.
    public static func count(_ value: Int) -> String {
        var text = ""
        let digits = String(value.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(" ") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + text
    }

    /// Text of a count with its noun, such as `1 file` or `2 files`. The plural is the noun with an
    /// "s".
    public static func counted(_ value: Int, _ noun: String) -> String {
        "\(value) \(noun)\(value == 1 ? "" : "s")"
    }

    /// This text, right-aligned to `width` characters; longer text is not truncated.
    public static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// This text, left-aligned to `width` characters; longer text is truncated with an ellipsis.
    public static func left(_ text: String, _ width: Int) -> String {
        if text.count > width { return text.prefix(max(0, width - 1)) + "…" }
        return text + String(repeating: " ", count: width - text.count)
    }

    /// Lines of this text, wrapped at spaces to at most `width` characters.
    public static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
