/// A problem of the configuration, as a sentence with a remedy.
///
/// Example: `etc/airframed.toml:14: loop.rate_hz = 5000 is outside 50...4000`, then advice on the
/// choice of the rate.
public struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// Kind of the problem, for programs; `description` is the text for users.
    public enum Kind: String, Sendable {
        /// A file is missing, is a directory, cannot be read, is too large or is not UTF-8.
        case unreadable
        /// The text is not TOML.
        case syntax
        /// The key or table does not exist.
        case unknownKey
        /// The value has the wrong type, for example a string instead of a number.
        case wrongType
        /// The value has the correct type but is not allowed.
        case outOfRange
        /// The value is valid, but this build does not support it.
        case unavailable
        /// Two settings contradict each other.
        case conflict
        /// The setting cannot change at run time.
        case notLive
    }

    /// Kind of the problem.
    public var kind: Kind
    /// Location of the value; nil if it is unknown, for example for a value from the socket.
    public var place: Place?
    /// Dotted key; nil if the problem does not concern a single key.
    public var key: String?
    /// Shortened text of the value; nil if there is no value.
    public var value: String?
    /// Description of the problem. The description completes a sentence that begins with the key
    /// and the value.
    public var complaint: String
    /// Allowed values, as a range or a list of words; nil if the message does not state them.
    public var allowed: String?
    /// Usual remedy, in complete sentences; nil if there is none.
    public var hint: String?

    init(
        _ kind: Kind, at place: Place? = nil, key: String? = nil, value: String? = nil,
        _ complaint: String, allowed: String? = nil, hint: String? = nil
    ) {
        self.kind = kind
        self.place = place
        self.key = key
        self.value = value.map { Self.shortened($0) }
        self.complaint = complaint
        self.allowed = allowed
        self.hint = hint
    }

    /// The problem as one line: location, value, allowed values, usual remedy.
    public var description: String {
        var line = place.map { "\($0): " } ?? ""
        if let key {
            line += key
            if let value { line += " = \(value)" }
            line += " "
        }
        line += complaint + "."
        if let hint { line += " " + hint }
        return line
    }

    /// Shortens the text to one line of at most `limit` characters, with blanks instead of control
    /// characters.
    static func shortened(_ text: String, limit: Int = 60) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit + 1) {
            scalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
        }
        guard scalars.count > limit else { return String(scalars) }
        return String(String.UnicodeScalarView(scalars.prefix(limit - 3))) + "..."
    }
}

extension ConfigurationProblem {
    /// Creates the problem for an unknown key.
    ///
    /// - Parameters:
    ///   - key: The unknown key.
    ///   - value: Value of the key as text.
    ///   - place: Location of the key.
    ///   - guess: Key that the user probably meant; nil if no key is similar.
    ///   - remedy: Hint without a guess; nil if there is none.
    /// - Returns: The problem.
    static func unknown(
        _ key: String, value: String?, at place: Place?, guess: String?, remedy: String? = nil
    ) -> ConfigurationProblem {
        ConfigurationProblem(
            .unknownKey, at: place, key: shortened(key), value: value, "is not a known key",
            hint: guess.map { "Did you mean \($0)?" } ?? remedy)
    }

    /// Creates the problem for an argument `KEY=VALUE` without a value.
    ///
    /// - Parameters:
    ///   - text: The argument.
    ///   - place: `commandLine` for an argument of `--set`; nil for a request.
    ///   - example: Correct `KEY=VALUE`, for the message.
    /// - Returns: The problem.
    static func withoutValue(
        _ text: String, at place: Place?, example: String
    ) -> ConfigurationProblem {
        let option = place == .commandLine ? "--set " : ""
        return ConfigurationProblem(
            .syntax, at: place, key: shortened(text), "has no value",
            hint: "Write \(option)KEY=VALUE, such as \(option)\(example).")
    }
}

/// Location of a value.
public enum Place: Sendable, Equatable, CustomStringConvertible {
    /// Location in a file. Line and column numbers begin at 1.
    case file(String, line: Int?, column: Int?)
    /// Location in an argument of `--set`.
    case commandLine
    /// Location of a saved value in the state directory.
    case saved

    /// `FILE:LINE:COLUMN`, without unknown parts.
    public var description: String {
        switch self {
        case .file(let path, let line, let column):
            [path, line.map(String.init), column.map(String.init)].compactMap(\.self)
                .joined(separator: ":")
        case .commandLine: "--set"
        case .saved: "saved state"
        }
    }
}

/// All problems of a configuration.
public struct ConfigurationFailure: Error, Sendable, CustomStringConvertible {
    /// The problems, at least one, in the order of files and lines.
    public let problems: [ConfigurationProblem]

    /// Creates a failure from one or more problems.
    public init(_ problems: [ConfigurationProblem]) { self.problems = problems }

    /// The problems as text, one line for each.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
