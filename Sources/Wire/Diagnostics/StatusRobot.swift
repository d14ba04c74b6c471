/// A robot's stepper motors.
public struct RobotStatus: Hashable, Sendable, Codable {
    /// Slider, joystick's x, joystick's y.
    public var motors: [StepperStatus]
    /// Number of failures to set or read the lines since the start.
    public var lineErrors = 0
    /// Reason why the lines cannot be used now: "Device or resource busy"; absent if they can.
    public var problem: String?

    /// Creates motors with working lines.
    public init(motors: [StepperStatus]) { self.motors = motors }
}

/// One stepper motor.
public struct StepperStatus: Hashable, Sendable, Codable {
    /// "slider", "x", "y".
    public var axis: String
    /// Position, steps from home; from the position at the start until `homing` is "done".
    public var positionSteps: Int
    /// "none", "seeking", "leaving", "done", "failed".
    public var homing: String

    /// Creates a motor at this position.
    public init(axis: String, positionSteps: Int, homing: String) {
        self.axis = axis
        self.positionSteps = positionSteps
        self.homing = homing
    }
}
