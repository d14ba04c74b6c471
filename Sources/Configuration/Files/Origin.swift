/// Source of the active value.
public enum Origin: Sendable, Equatable, CustomStringConvertible {
    /// The built-in default.
    case builtIn
    /// A configuration file.
    case file(String, line: Int?)
    /// Saved by `airframectl save` or by an app.
    case saved
    /// An argument of `--set`.
    case commandLine
    /// Changed while running, not saved.
    case live

    /// `default`, `FILE:LINE`, `saved`, `--set` or `live`.
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
