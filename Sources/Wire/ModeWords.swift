public import GimbalCore

/// Texts of a mode for users.
public struct ModeWords: Sendable, Hashable {
    /// The mode.
    public let mode: Mode
    /// Short description of the mode.
    public let summary: String

    /// Name of the mode in configuration, on the socket and in the log.
    public var name: String { mode.name }

    /// Texts of every mode.
    public static let catalogue: [ModeWords] = [
        ModeWords(mode: .inactive, summary: "motors off"),
        ModeWords(mode: .locked, summary: "holds the commanded attitude in the earth frame"),
        ModeWords(
            mode: .panFollow,
            summary: "holds roll and pitch in the earth frame, yaw follows the handle's heading"),
        ModeWords(mode: .fpv, summary: "all axes follow the handle"),
        ModeWords(
            mode: .tracking,
            summary:
                "follows pan and tilt rates from an app that detects a person; ends when the app stops sending"
        ),
        ModeWords(
            mode: .neutral, summary: "the camera is level, and its heading follows the handle"),
        ModeWords(mode: .retract, summary: "the joints go to their resting pose"),
    ]

    /// Short description of the given mode.
    public static func of(_ mode: Mode) -> String {
        catalogue.first { $0.mode == mode }?.summary ?? ""
    }
}

extension Supervisor.Phase {
    /// State of the motors' outputs as text.
    public var words: String {
        switch self {
        case .off: "off"
        case .starting: "soft start"
        case .active: "running"
        case .stopping: "soft stop"
        case .braking: "braking"
        }
    }
}
