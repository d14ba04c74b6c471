import PlainText
import Wire

extension Format {
    /// Text of a setting's value. A string is shown without JSON quotes.
    static func value(_ value: JSONValue) -> String {
        value.string ?? value.text
    }
}
