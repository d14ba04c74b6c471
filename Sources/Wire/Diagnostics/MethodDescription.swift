/// Description of a socket method, for programs that offer all methods to their users. The request
/// `methods` returns one description for each method.
public struct MethodDescription: Hashable, Sendable, Codable {
    /// Access that a method requires.
    public enum Access: String, Sendable, Codable {
        /// The method is read-only.
        case read
        /// The method requires write access.
        case write
        /// With the first value of the parameter `action`, the method is read-only. The other
        /// values require write access.
        case action
    }

    /// Name of the method in requests.
    public var name: String
    /// Effect of the method, in one sentence.
    public var summary: String
    /// Access that the method requires.
    public var access: Access
    /// The parameters of the method.
    public var parameters: [ParameterDescription]
    /// JSON Schema (2020-12) of the answer; absent if the answer is not described.
    public var result: JSONValue?

    /// Creates a description.
    public init(
        name: String, summary: String, access: Access, parameters: [ParameterDescription] = [],
        result: JSONValue? = nil
    ) {
        self.name = name
        self.summary = summary
        self.access = access
        self.parameters = parameters
        self.result = result
    }
}

/// Description of one parameter of a method.
public struct ParameterDescription: Hashable, Sendable, Codable {
    /// Type of the parameter's value.
    public enum Kind: String, Sendable, Codable {
        /// A number, an integer, a string or a Boolean.
        case number, integer, text, bool
        /// One of `words`.
        case word
        /// A string, or a list of strings.
        case texts
        /// The value can have any type.
        case any
    }

    /// Name of the parameter.
    public var name: String
    /// Type of the parameter's value.
    public var kind: Kind
    /// Meaning of the parameter, in one sentence.
    public var summary: String
    /// Unit of a number; empty for a value without a unit.
    public var unit: String
    /// Smallest permitted number; absent without a limit.
    public var minimum: Number?
    /// Largest permitted number; absent without a limit.
    public var maximum: Number?
    /// Permitted values of an enumeration (type `word`); otherwise empty.
    public var words: [String]
    /// True if every request must contain the parameter.
    public var required: Bool

    /// Creates a description.
    public init(
        name: String, kind: Kind, summary: String, unit: String = "", minimum: Number? = nil,
        maximum: Number? = nil, words: [String] = [], required: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.unit = unit
        self.minimum = minimum
        self.maximum = maximum
        self.words = words
        self.required = required
    }
}
