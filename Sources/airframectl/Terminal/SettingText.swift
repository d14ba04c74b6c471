import PlainText
import Wire

extension Format {
    /// Text of a setting's value; a word or a sentence has no JSON quotes.
    static func value(_ value: JSONValue) -> String {
        value.string ?? value.text
    }
}
