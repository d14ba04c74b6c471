import PlainText
import Wire

/// Summary of the camera's motion, with the reasons that prevent motion as sentences.
struct MotionState: Equatable {
    /// The state as a short phrase, such as "moving" or "not moving".
    var headline: String
    var role: Style.Role
    /// One sentence for each reason, after the name of its condition, the most severe first.
    var sentences: [String]
    /// One sentence for each condition that does not prevent motion, after the condition's name.
    var notices: [String]
    /// True if a problem prevents motion. Motors that are off at a user's request are not a problem.
    var isInhibited: Bool

    init(_ status: Status) {
        let problems = status.inhibitions.filter(\.isProblem)
        isInhibited = !problems.isEmpty
        sentences = status.inhibitions.map { "\($0.name): \($0.sentence)" }
        notices = status.notices.map { "\($0.name): \($0.sentence)" }
        switch (status.isEnabled, problems.isEmpty) {
        case (true, true):
            headline = "MOVING"
            role = .good
            if sentences.isEmpty { sentences = [Self.holding(status)] }
            // `soft stop` is the name of the phase `stopping` of the supervisor.
            if status.state == "soft stop" {
                headline = "STOPPING"
                role = .caution
                sentences.insert("The motors ramp down, and are then switched off.", at: 0)
            }
        case (true, false):
            headline = "MOVING, WITH A PROBLEM"
            role = .caution
        case (false, true):
            headline = "OFF"
            role = .caution
            if sentences.isEmpty {
                sentences = [
                    status.mode == "inactive"
                        ? "The mode is inactive. `airframectl mode locked` starts the motors."
                        : "The motors are off; they are switched on when the start-up checks have passed."
                ]
            }
        case (false, false):
            headline = "NOT MOVING"
            role = .bad
        }
    }

    private static func holding(_ status: Status) -> String {
        let errors = [status.errorDeg.yaw, status.errorDeg.roll, status.errorDeg.pitch]
        guard let largest = errors.compactMap(\.known).map(\.magnitude).max() else {
            return "The motors are on; the mode is \(status.mode)."
        }
        return "The motors are on; the largest attitude error is \(Format.fixed(largest, 3))°."
    }
}
