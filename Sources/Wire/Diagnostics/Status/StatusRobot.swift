/// State of a robot's stepper motors.
public struct RobotStatus: Hashable, Sendable, Codable {
    /// The motors of the slider and of the joystick's x and y axes.
    public var motors: [StepperStatus]
    /// Number of failed attempts to set or read the GPIO lines since the start.
    public var lineErrors = 0
    /// Reason why the GPIO lines cannot be used, such as "Device or resource busy"; absent without
    /// a problem.
    public var problem: String?

    /// Creates a status of stepper motors with working GPIO lines.
    public init(motors: [StepperStatus]) { self.motors = motors }
}

/// State of one stepper motor.
public struct StepperStatus: Hashable, Sendable, Codable {
    /// Name of the motor: `slider`, `x` or `y`.
    public var axis: String
    /// Position, steps from home. Before `homing` is `done`, the position is relative to the
    /// position at the start.
    public var positionSteps: Int
    /// State of the search for the home switch: `none`, `seeking`, `leaving`, `done` or `failed`.
    public var homing: String

    /// Creates the state of a motor at the given position.
    public init(axis: String, positionSteps: Int, homing: String) {
        self.axis = axis
        self.positionSteps = positionSteps
        self.homing = homing
    }
}
