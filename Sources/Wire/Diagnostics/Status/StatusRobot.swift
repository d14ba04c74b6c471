/// State of a robot's stepper motors.
public struct RobotStatus: Hashable, Sendable, Codable {
    /// The motor of the slider, and the motors for the joystick's x and y.
    public var motors: [StepperStatus]
    /// Number of failed attempts to set or read the GPIO lines since the start.
    public var lineErrors = 0
    /// Reason why the GPIO lines cannot be used now, such as "Device or resource busy"; absent if
    /// they can be used.
    public var problem: String?

    /// Creates a status of stepper motors whose GPIO lines work.
    public init(motors: [StepperStatus]) { self.motors = motors }
}

/// State of one stepper motor.
public struct StepperStatus: Hashable, Sendable, Codable {
    /// Name of the motor: "slider", "x" or "y".
    public var axis: String
    /// Position, steps from home; until `homing` is "done", steps from the position at the start.
    public var positionSteps: Int
    /// State of the search for the home switch: "none", "seeking", "leaving", "done" or "failed".
    public var homing: String

    /// Creates the state of a motor at the given position.
    public init(axis: String, positionSteps: Int, homing: String) {
        self.axis = axis
        self.positionSteps = positionSteps
        self.homing = homing
    }
}
