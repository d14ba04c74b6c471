/// One of a robot's stepper motors.
public struct StepperStatus: Hashable, Sendable, Codable {
    /// "slider", "x", "y".
    public var axis: String
    /// From home; from where it stood at the start while `homing` is not "done".
    public var positionSteps: Int
    /// "none", "seeking", "leaving", "done", "failed".
    public var homing: String
    /// Why its lines cannot be set: "Device or resource busy"; absent when they can.
    public var problem: String?

    enum CodingKeys: String, CodingKey {
        case axis, homing, problem
        case positionSteps = "position_steps"
    }

    /// A motor at this place.
    public init(axis: String, positionSteps: Int, homing: String) {
        self.axis = axis
        self.positionSteps = positionSteps
        self.homing = homing
    }
}
