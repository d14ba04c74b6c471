/// Mode of the stabilizer: the kind of motion that the set-point performs.
public enum Mode: UInt8, Sendable, BitwiseCopyable, CaseIterable, Recordable {
    /// The motors' outputs are off.
    case inactive
    /// Hold the commanded attitude in the earth frame.
    case locked
    /// Hold roll and pitch as in `locked`; yaw follows the handle's heading.
    case panFollow
    /// Follow the handle on all axes.
    case fpv
    /// Turn the camera at pan and tilt rates from an operator, or from an app that keeps a person
    /// in the picture. If no rate arrives for the configured time, the mode changes to `locked`.
    case tracking
    /// Hold the camera level; its heading follows the handle.
    case neutral
    /// Move the joints to a rest pose.
    case retract

    /// Name of the mode in the configuration, on the sockets and in the log. The loop thread must
    /// not use this property.
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

    /// Creates the mode with the given name; nil if no mode has this name.
    public init?(name: String) {
        guard let mode = Mode.allCases.first(where: { $0.name == name }) else { return nil }
        self = mode
    }

    /// True if the mode needs the handle's attitude, which is computed from the joint angles.
    public var needsJoints: Bool {
        @_noLocks get {
            switch self {
            case .inactive, .locked, .tracking: false
            case .panFollow, .fpv, .neutral, .retract: true
            }
        }
    }

    /// Mask of the axes to which the requests `point` and `rate` apply: 1 on these axes, NaN on the
    /// axes that the mode controls.
    public var commandable: AxisVector {
        @_noLocks get {
            switch self {
            case .locked: AxisVector(repeating: 1)
            case .panFollow: AxisVector(yaw: .nan, roll: 1, pitch: 1)
            case .inactive, .fpv, .tracking, .neutral, .retract: .unknown
            }
        }
    }

    /// Mask of the axes that move to a commanded or level angle when the outputs are switched on: a
    /// number on these axes, NaN on the others.
    var pointedAtStart: AxisVector {
        if case .panFollow = self { return commandable }
        return AxisVector(repeating: 1)
    }

    /// Mask of the axes that follow the handle in `panFollow`: a number on these axes, NaN on the
    /// others.
    var followed: AxisVector { AxisVector(yaw: 1, roll: .nan, pitch: .nan) }

    /// True if two modes differ. The comparison is a method, because the real-time checker rejects
    /// the synthesized operator.
    @_noLocks
    func differs(from other: Mode) -> Bool { rawValue != other.rawValue }
}
