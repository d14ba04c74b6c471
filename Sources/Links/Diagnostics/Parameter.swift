import Wire

/// Declaration of a parameter of a socket method. `Parameters` checks requests against the
/// declaration, and the method `methods` returns the declaration.
public struct Parameter: Sendable, Equatable {
    /// Type and permitted values of a parameter.
    enum Kind: Sendable, Equatable {
        case number(ClosedRange<Double>, unit: String)
        case integer(ClosedRange<Int>, unit: String)
        case word([String])
        case text
        case texts
        case bool
        case any
    }

    /// Name of the parameter in requests.
    public let name: String
    let kind: Kind
    let summary: String
    /// True if every request must contain the parameter.
    let isRequired: Bool

    private init(_ name: String, _ kind: Kind, _ isRequired: Bool, _ summary: String) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.summary = summary
    }

    /// Declares a number in the given range and unit; an empty unit means that the number has no
    /// unit.
    public static func number(
        _ name: String, in range: ClosedRange<Double>, unit: String, required: Bool = false,
        _ summary: String
    ) -> Parameter {
        Parameter(name, .number(range, unit: unit), required, summary)
    }

    /// Declares an integer in the given range.
    public static func integer(
        _ name: String, in range: ClosedRange<Int>, unit: String = "", required: Bool = false,
        _ summary: String
    ) -> Parameter {
        Parameter(name, .integer(range, unit: unit), required, summary)
    }

    /// Declares an enumeration of the given words.
    public static func word(
        _ name: String, of words: [String], required: Bool = false, _ summary: String
    ) -> Parameter {
        Parameter(name, .word(words), required, summary)
    }

    /// Declares the parameter `action`, whose default is the first of the given words.
    public static func action(_ words: [String], _ summary: String) -> Parameter {
        word("action", of: words, summary)
    }

    /// Declares a text.
    public static func text(
        _ name: String, required: Bool = false, _ summary: String
    ) -> Parameter {
        Parameter(name, .text, required, summary)
    }

    /// Declares a string or a list of strings.
    public static func texts(
        _ name: String, required: Bool = false, _ summary: String
    ) -> Parameter {
        Parameter(name, .texts, required, summary)
    }

    /// Declares a Boolean.
    public static func bool(_ name: String, _ summary: String) -> Parameter {
        Parameter(name, .bool, false, summary)
    }

    /// Declares a value of any type; the method checks the value.
    public static func any(
        _ name: String, required: Bool = false, _ summary: String
    ) -> Parameter {
        Parameter(name, .any, required, summary)
    }

    /// The declaration, as the method `methods` returns it.
    var description: ParameterDescription {
        var description = ParameterDescription(
            name: name, kind: .any, summary: summary, required: isRequired)
        switch kind {
        case .number(let range, let unit):
            description.kind = .number
            description.unit = unit
            description.minimum = Number(range.lowerBound)
            description.maximum = Number(range.upperBound)
        case .integer(let range, let unit):
            description.kind = .integer
            description.unit = unit
            description.minimum = Number(Double(range.lowerBound))
            description.maximum = range.upperBound == .max ? nil : Number(Double(range.upperBound))
        case .word(let words):
            description.kind = .word
            description.words = words
        case .text: description.kind = .text
        case .texts: description.kind = .texts
        case .bool: description.kind = .bool
        case .any: description.kind = .any
        }
        return description
    }
}
