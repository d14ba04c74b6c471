/// Source of a setting's active value.
public enum Origin: Sendable, Equatable, CustomStringConvertible {
    /// The value is the built-in default.
    case builtIn
    /// The value comes from a configuration file.
    case file(String, line: Int?)
    /// The value was saved by `airframectl save` or by an app.
    case saved
    /// The value comes from an argument of `--set`.
    case commandLine
    /// The value was changed while airframed runs, and is not saved.
    case live

    /// Name of the source: `default`, `FILE:LINE`, `saved`, `--set` or `live`.
    public var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path, let line): line.map { "\(path):\($0)" } ?? path
        case .saved: "saved"
        case .commandLine: "--set"
        case .live: "live"
        }
    }

    /// The origin as a place in a message; nil for a built-in value.
    var place: Place? {
        switch self {
        case .builtIn, .live: nil
        case .file(let path, let line): .file(path, line: line, column: nil)
        case .saved: .saved
        case .commandLine: .commandLine
        }
    }
}
