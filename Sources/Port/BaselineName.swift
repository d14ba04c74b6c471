/// Rule for the names of baselines (profiles).
public enum BaselineName {
    /// The rule, for error messages and help.
    public static let rule = "1 to 32 letters, digits, -, _ or dots"

    /// True if the text obeys the rule. Letters are a...z and A...Z.
    public static func isValid(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
