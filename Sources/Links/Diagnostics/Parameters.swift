import PlainText
public import Port
public import Wire

/// The parameters of one request, with errors that name the field.
public struct Parameters: Sendable {
    /// Name of the method that the request calls.
    public let method: String
    private let values: [String: JSONValue]
    private let declared: [Parameter]

    /// Reads the parameters of a request, and checks their names.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - declared: Known parameters. An unknown parameter is an error, so a mistyped name is not
    ///     ignored silently. If `declared` is nil, all parameters are ignored.
    /// - Throws: `Refusal` that names the first unknown or missing parameter.
    init(_ request: Request, _ declared: [Parameter]?) throws(Refusal) {
        method = request.method
        values = request.params
        self.declared = declared ?? []
        guard let declared else { return }
        try refuseUnknown(declared.map(\.name))
        for parameter in declared where parameter.isRequired && value(parameter.name) == nil {
            throw missing(parameter.name)
        }
    }

    private func refuseUnknown(_ names: [String]) throws(Refusal) {
        let unknown = values.keys.sorted().first { !names.contains($0) }
        guard let unknown else { return }
        let known = names.isEmpty ? "no parameters" : names.joined(separator: ", ")
        throw Refusal(
            .invalidParams,
            "\(method) has no parameter \"\(unknown)\"; it takes \(known)."
                + Suggestion.sentence(for: unknown, in: names),
            field: unknown)
    }

    /// The value of a parameter; nil if the parameter is missing or `null`.
    public func value(_ name: String) -> JSONValue? {
        guard let value = values[name], value != .null else { return nil }
        return value
    }

    /// Value of a required parameter.
    public func required(_ name: String) throws(Refusal) -> JSONValue {
        guard let value = value(name) else { throw missing(name) }
        return value
    }

    /// Value of a string parameter; nil if the parameter is missing.
    public func string(_ name: String) throws(Refusal) -> String? {
        guard let value = value(name) else { return nil }
        guard let string = value.string else { throw wrongType(name, "a string", value) }
        return string
    }

    /// Value of a required string parameter.
    public func requiredString(_ name: String) throws(Refusal) -> String {
        guard let value = try string(name) else { throw missing(name) }
        return value
    }

    /// Declaration of a parameter.
    ///
    /// - Throws: `internalError`, because the method does not declare the parameter.
    private func kind(_ name: String) throws(Refusal) -> Parameter.Kind {
        guard let parameter = declared.first(where: { $0.name == name }) else {
            throw Refusal(.internalError, "\(method) does not declare the parameter \(name).")
        }
        return parameter.kind
    }

    /// Value of a numeric parameter. If the number is out of range, the error names the unit.
    public func number(_ name: String) throws(Refusal) -> Double? {
        guard case .number(let range, let unit) = try kind(name) else { throw undeclared(name) }
        guard let value = value(name) else { return nil }
        guard let number = value.number else { throw wrongType(name, "a number", value) }
        guard range.contains(number) else {
            throw Refusal(
                .outOfRange,
                "\(name) = \(value.text) is outside \(text(range.lowerBound))...\(text(range.upperBound))"
                    + (unit.isEmpty ? "." : " \(unit)."),
                field: name)
        }
        return number
    }

    /// Value of a Boolean parameter; nil if the parameter is missing.
    public func bool(_ name: String) throws(Refusal) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.bool else { throw wrongType(name, "true or false", value) }
        return bool
    }

    /// Value of an integer parameter; nil if the parameter is missing.
    public func integer(_ name: String) throws(Refusal) -> Int? {
        guard case .integer(let range, _) = try kind(name) else { throw undeclared(name) }
        guard let value = value(name) else { return nil }
        guard let integer = value.int else { throw wrongType(name, "a whole number", value) }
        guard range.contains(integer) else {
            throw Refusal(
                .outOfRange,
                "\(name) = \(integer) is outside \(range.lowerBound)...\(range.upperBound).",
                field: name)
        }
        return integer
    }

    /// Value of a parameter that is a string or an array of strings; nil if the parameter is
    /// missing.
    public func strings(_ name: String) throws(Refusal) -> [String]? {
        guard let value = value(name) else { return nil }
        if let string = value.string { return [string] }
        guard let array = value.array else { throw wrongType(name, "an array of strings", value) }
        var strings: [String] = []
        for element in array {
            guard let string = element.string else {
                throw wrongType(name, "an array of strings", element)
            }
            strings.append(string)
        }
        return strings
    }

    /// Creates the refusal of a request that lacks the given parameter.
    public func missing(_ name: String) -> Refusal {
        var words = ""
        if case .word(let list) = declared.first(where: { $0.name == name })?.kind {
            words = ": \(list.joined(separator: ", "))"
        }
        return Refusal(
            .invalidParams, "\(method) needs the parameter \"\(name)\"\(words).", field: name)
    }

    /// The value of the parameter `action`; if the parameter is missing, the first declared word.
    public func action() throws(Refusal) -> String {
        guard case .word(let words) = try kind("action"), let first = words.first else {
            throw undeclared("action")
        }
        return try word("action") ?? first
    }

    /// Value of an enumeration parameter; nil if the parameter is missing.
    public func word(_ name: String) throws(Refusal) -> String? {
        guard case .word(let words) = try kind(name) else { throw undeclared(name) }
        guard let word = try string(name) else { return nil }
        guard words.contains(word) else {
            throw Refusal(
                .invalidParams,
                "\(name) must be \(words.joined(separator: ", ")), not \"\(word.prefix(64))\"."
                    + Suggestion.sentence(for: word, in: words),
                field: name)
        }
        return word
    }

    private func undeclared(_ name: String) -> Refusal {
        Refusal(.internalError, "\(method) declares the parameter \(name) with another type.")
    }

    private func wrongType(_ name: String, _ wanted: String, _ found: JSONValue) -> Refusal {
        Refusal(.invalidParams, "\(name) must be \(wanted), not \(found.kind).", field: name)
    }

    private func text(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }
}
