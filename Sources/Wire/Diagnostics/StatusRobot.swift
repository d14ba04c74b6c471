/// A robot's stepper motors.
public struct RobotStatus: Hashable, Sendable, Codable {
    /// Slider, joystick's x, joystick's y.
    public var motors: [StepperStatus]
    /// Number of failures to set or read the lines since the start.
    public var lineErrors = 0
    /// Why they cannot be now: "Device or resource busy"; absent when they can.
    public var problem: String?

    /// These motors, whose lines work.
    public init(motors: [StepperStatus]) { self.motors = motors }
}

/// One stepper motor.
public struct StepperStatus: Hashable, Sendable, Codable {
    /// "slider", "x", "y".
    public var axis: String
    /// From home; from where it stood at the start while `homing` is not "done".
    public var positionSteps: Int
    /// "none", "seeking", "leaving", "done", "failed".
    public var homing: String

    /// A motor at this place.
    public init(axis: String, positionSteps: Int, homing: String) {
        self.axis = axis
        self.positionSteps = positionSteps
        self.homing = homing
    }
}
