/// Origin of a setting's active value.
public enum Origin: Sendable, Equatable, CustomStringConvertible {
    /// The value is the built-in default.
    case builtIn
    /// The value is from a configuration file.
    case file(String, line: Int?)
    /// The value was saved by `airframectl save` or by an app.
    case saved
    /// The value is from an argument of `--set`.
    case commandLine
    /// The value was changed at run time and has not been saved.
    case live

    /// Name of the origin: `default`, `FILE:LINE`, `saved`, `--set` or `live`.
    public var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path, let line): line.map { "\(path):\($0)" } ?? path
        case .saved: "saved"
        case .commandLine: "--set"
        case .live: "live"
        }
    }

    /// The origin as a location in a message; nil for a built-in value.
    var place: Place? {
        switch self {
        case .builtIn, .live: nil
        case .file(let path, let line): .file(path, line: line, column: nil)
        case .saved: .saved
        case .commandLine: .commandLine
        }
    }
}
