/// What the gimbal is asked to do.
public enum Mode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Outputs off.
    case inactive
    /// Holds the commanded attitude in the earth frame.
    case locked
    /// Roll and pitch as in `locked`; yaw follows the handle's heading.
    case panFollow
    /// All axes follow the handle.
    case fpv
    /// Pan and tilt rates of somebody who sees a person turn the camera; silence ends it.
    case tracking
    /// Level, and ahead as the handle points.
    case neutral
    /// The joints go to a pose of rest.
    case retract

    /// The name in configuration, sockets and log. Not for the loop thread.
    public var name: String {
        switch self {
        case .inactive: "inactive"
        case .locked: "locked"
        case .panFollow: "pan_follow"
        case .fpv: "fpv"
        case .tracking: "tracking"
        case .neutral: "neutral"
        case .retract: "retract"
        }
    }

    /// The mode with this name.
    public init?(name: String) {
        guard let mode = Mode.allCases.first(where: { $0.name == name }) else { return nil }
        self = mode
    }

    /// Whether it can only work where something shows the joints, and with them the handle.
    public var needsJoints: Bool {
        @_noLocks get {
            switch self {
            case .inactive, .locked, .tracking: false
            case .panFollow, .fpv, .neutral, .retract: true
            }
        }
    }

    /// Which axes `point` and `rate` move: 1 where they do, NaN where the mode itself decides.
    public var commandable: AxisVector {
        @_noLocks get {
            switch self {
            case .locked: AxisVector(repeating: 1)
            case .panFollow: AxisVector(yaw: .nan, roll: 1, pitch: 1)
            case .inactive, .fpv, .tracking, .neutral, .retract: .unknown
            }
        }
    }

    /// Which axes go to a commanded or level angle when the outputs come on; NaN where the mode
    /// moves them.
    var pointedAtStart: AxisVector {
        if case .panFollow = self { return commandable }
        return AxisVector(repeating: 1)
    }

    /// Which axes follow the handle in `panFollow`; NaN on the others.
    var followed: AxisVector { AxisVector(yaw: 1, roll: .nan, pitch: .nan) }

    /// Written out: the loop's checker refuses the derived comparison.
    @_noLocks
    func differs(from other: Mode) -> Bool { rawValue != other.rawValue }
}
