import GimbalCore
import Port

/// Sticks that have been deflected since an emergency stop. Wheels and stepper motors need no mode,
/// so without this check the reset of the stop would start a motion whose request is repeated. The
/// type reads no clock; callers pass the time as an argument.
struct HeldSticks {
    /// Motion of wheels or stepper motors by one source.
    private struct Motion: Hashable {
        let source: CommandSource
        let lifetime: MotionRequest.Lifetime
    }

    /// Times at which the newest refused motions would have ended.
    private var ends: [Motion: Instant] = [:]

    /// Records a request, and checks whether a stick has been deflected since the stop. A request to
    /// stop, or a pause of the dead-man time, shows that the stick is in the middle.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: Source of the request.
    ///   - until: Expiry time of the request.
    ///   - isStopped: True if an emergency stop is latched.
    ///   - now: Time at which the request was received.
    /// - Returns: True if the request must be refused.
    mutating func isHeld(
        _ request: MotionRequest, from source: CommandSource, until: Instant, isStopped: Bool,
        now: Instant
    ) -> Bool {
        guard let lifetime = request.lifetime, let turns = request.turnsVehicle else {
            return false
        }
        ends = ends.filter { now < $0.value }
        let motion = Motion(source: source, lifetime: lifetime)
        let isHeld = turns && (isStopped || ends[motion] != nil)
        ends[motion] = isHeld ? until : nil
        return isHeld
    }
}

extension MotionRequest {
    /// True if the request turns wheels or a stepper motor until its dead-man time has passed; false
    /// if the request stops them; nil for other requests.
    fileprivate var turnsVehicle: Bool? {
        switch effect {
        case .wheels(let left, let right): left != 0 || right != 0
        case .stepper(_, .turn(let speed)): speed != 0
        case .stepper(_, .hold): false
        case .stepper, .camera, .take, .release: nil
        }
    }
}
