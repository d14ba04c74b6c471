/// Escaping of external text for terminals and logs. Names of phones, metadata of recordings and
/// settings can contain any characters. Escapes replace characters that control a terminal or
/// reverse the text direction. All text is escaped once: by `Output` in airframectl, and by
/// `LogStore` in the daemon.
extension String {
    /// Copy of this text with escapes such as `\u009b` instead of C0 and C1 controls, DEL, line
    /// separators and bidirectional controls. In JSON text, the escape represents the same
    /// character.
    ///
    /// Source: ECMA-48 (C1 controls act like ESC sequences), UAX #9 (explicit directional
    /// formatting).
    public var visible: String { visible { _ in false } }

    /// Copy of this text with escapes as in `visible`, but with unchanged line ends and tabs.
    public var visibleLines: String { visible { $0 == "\n" || $0 == "\t" } }

    private func visible(_ isKept: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: { $0.steers && !isKept($0) }) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.steers, !isKept(scalar) {
                let digits = String(scalar.value, radix: 16)
                text +=
                    "\\u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
                    .unicodeScalars
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    /// True if a terminal would interpret the character instead of displaying it.
    fileprivate var steers: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
