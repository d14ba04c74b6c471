import PlainText
import Wire

extension Format {
    /// A setting's value, without JSON's quotes for a single word or sentence.
    static func value(_ value: JSONValue) -> String {
        value.string ?? value.text
    }
}
