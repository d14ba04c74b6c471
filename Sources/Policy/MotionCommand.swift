import GimbalCore
import Port

// What becomes of a request in the loop.
extension Commander {
    /// Dead-man of a motor test, s.
    private static let motorTestSeconds = 0.5

    /// The refusal of a mode for want of a sensor; nil where the loop has what it needs, or has not been heard yet.
    static func missingSensor(
        for request: MotionRequest, _ loop: LoopState?
    ) -> Refusal? {
        guard case .mode(let mode) = request, mode.needsJoints, let loop, !loop.showsJoints else {
            return nil
        }
        return loop.hasSample ? .missingSensor(mode) : .sensorsUnknown(mode)
    }

    /// What the loop is told; nil for requests that are carried out without it.
    static func command(
        for request: MotionRequest, now: Instant, _ rules: Rules
    ) -> Command? {
        switch request {
        case .mode(let mode): .mode(mode)
        case .point(let angles, let duration, let rate):
            .point(target: angles, duration: duration, rate: rate)
        case .rate(let rate):
            .rate(rate, validUntil: now.advanced(bySeconds: rules.deadManSeconds))
        case .track(let pan, let tilt):
            .track(
                pan: pan, tilt: tilt, validUntil: now.advanced(bySeconds: rules.trackingSeconds))
        case .lookAside(let yaw, let rate):
            .lookAside(
                yaw: yaw, rate: rate, validUntil: now.advanced(bySeconds: rules.deadManSeconds))
        case .excite(let excitation): .excite(excitation)
        case .testMotor(let axis):
            .testMotor(axis, validUntil: now.advanced(bySeconds: motorTestSeconds))
        case .resetIntegrals: .resetIntegrals
        case .emergencyStop: .emergencyStop
        case .resetEmergencyStop: .resetEmergencyStop
        case .take, .release, .drive, .step: nil
        }
    }
}
