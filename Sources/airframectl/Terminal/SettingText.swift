import PlainText
import Wire

extension Format {
    /// A setting's value without the quotes of JSON where it is one word or sentence.
    static func value(_ value: JSONValue) -> String {
        value.string ?? value.text
    }
}
