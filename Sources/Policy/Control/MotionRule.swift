import GimbalCore
import Port

/// Rule for one kind of request: its requirements, its ranges, and its effect.
struct MotionRule {
    /// Reason to refuse the request now; nil if it is possible.
    let refusal: Refusal?
    /// Command for the loop; nil if the request needs none.
    let command: Command?
    /// Whether the camera turns afterwards until a dead-man time has passed; nil if unchanged.
    let isTurning: Bool?
    /// Whether the source of the request takes control.
    let takesControl: Bool

    private init(
        _ refusal: Refusal? = nil, _ command: Command? = nil, isTurning: Bool? = nil,
        takesControl: Bool = true
    ) {
        self.refusal = refusal
        self.command = command
        self.isTurning = isTurning
        self.takesControl = takesControl
    }

    /// The rule of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - mode: The active mode.
    ///   - isStopped: Whether an emergency stop is latched.
    ///   - now: Time of the receipt, at which dead-man times begin.
    ///   - rules: The dead-man times.
    init(
        _ request: MotionRequest, in mode: Mode, isStopped: Bool, now: Instant,
        _ rules: Commander.Rules
    ) {
        let stopped: Refusal? = isStopped ? .emergencyStopped : nil
        /// Refusal unless the motors are on.
        let off = stopped ?? (mode == .inactive ? .inactive : nil)
        switch request {
        case .mode(let wanted): self.init(stopped, .mode(wanted))
        case .point(let angles, let duration, let rate):
            let isTimely = MotionRequest.durations.contains(duration)
            self.init(
                off ?? Self.immovable(angles, in: mode)
                    ?? Self.outside(MotionRequest.fastest, "rate", Self.perSecond, [rate])
                    ?? Self.outside(MotionRequest.angles, "angle", Self.degrees, angles.asked)
                    ?? (isTimely
                        ? nil : .outOfRange("duration", MotionRequest.durations, "seconds")),
                .point(target: angles, duration: duration, rate: rate), isTurning: false)
        case .rate(let rate):
            self.init(
                off ?? Self.immovable(rate.onlyMoving, in: mode)
                    ?? Self.outside(MotionRequest.rates, "rate", Self.perSecond, rate.all),
                .rate(rate, validUntil: now.advanced(bySeconds: rules.deadManSeconds)),
                isTurning: rate != .zero)
        case .track(let pan, let tilt):
            let isFinite = !pan.isInfinite && !tilt.isInfinite
            self.init(
                off ?? (mode == .tracking ? nil : .notInMode(mode))
                    ?? (isFinite ? nil : .outOfRange(field: "rate", allowed: Self.perSecond)),
                .track(
                    pan: pan, tilt: tilt,
                    validUntil: now.advanced(bySeconds: rules.trackingSeconds)), isTurning: true)
        case .lookAside(let yaw, let rate):
            self.init(
                off ?? (mode == .panFollow ? nil : .notInMode(mode))
                    ?? Self.outside(
                        MotionRequest.angles, "yaw", Self.degrees, yaw.isNaN ? [] : [yaw])
                    ?? Self.outside(MotionRequest.rates, "rate", Self.perSecond, [rate]),
                .lookAside(
                    yaw: yaw, rate: rate,
                    validUntil: now.advanced(bySeconds: rules.deadManSeconds)),
                isTurning: rate != 0 ? true : nil)
        case .excite(let excitation):
            let isPositive = excitation.amplitude.isFinite && excitation.amplitude >= 0
            self.init(
                off ?? (isPositive ? nil : .outOfRange(field: "amplitude", allowed: "0 and more")),
                .excite(excitation), takesControl: false)
        case .testMotor(let axis):
            self.init(
                stopped ?? (mode == .inactive ? nil : .active(mode)),
                .testMotor(axis, validUntil: now.advanced(bySeconds: Self.motorTestSeconds)),
                isTurning: false)
        case .drive(let left, let right):
            let isRight = [left, right].allSatisfy(MotionRequest.wheels.contains)
            self.init(stopped ?? (isRight ? nil : .outOfRange("wheel", MotionRequest.wheels, "")))
        case .step(let axis, let wish):
            var refusal = stopped
            if !MotionRequest.steppers.indices.contains(axis) {
                refusal = refusal ?? .outOfRange(field: "axis", allowed: "0...2")
            }
            if case .turn(let speed) = wish, !speed.isFinite {
                refusal = refusal ?? .outOfRange(field: "speed", allowed: "steps per second")
            }
            self.init(refusal)
        case .resetIntegrals: self.init(nil, .resetIntegrals)
        case .take, .release: self.init()
        case .emergencyStop: self.init(nil, .emergencyStop)
        case .resetEmergencyStop: self.init(nil, .resetEmergencyStop, takesControl: false)
        }
    }

    /// Dead-man time of a motor test, s.
    private static let motorTestSeconds = 0.5
    private static let degrees = "degrees"
    private static let perSecond = "degrees per second"

    /// The refusal of values in radians outside a range in degrees.
    private static func outside(
        _ range: ClosedRange<Double>, _ field: String, _ unit: String, _ radians: [Double]
    ) -> Refusal? {
        let bounds =
            Angle.degrees(range.lowerBound).radians...Angle.degrees(range.upperBound).radians
        return radians.allSatisfy(bounds.contains) ? nil : .outOfRange(field, range, unit)
    }

    /// The refusal of axes that the mode controls. A request without any axis is not refused.
    private static func immovable(_ axes: AxisVector, in mode: Mode) -> Refusal? {
        let own = axes * mode.commandable
        return axes.asked.isEmpty || !own.asked.isEmpty ? nil : .notInMode(mode)
    }
}

extension AxisVector {
    /// Every axis.
    fileprivate var all: [Double] { [yaw, roll, pitch] }
    /// The axes with a request, which are not NaN.
    fileprivate var asked: [Double] { all.filter { !$0.isNaN } }

    /// The same values with NaN on axes that are zero: the axes that a rate request moves.
    fileprivate var onlyMoving: AxisVector {
        AxisVector(
            yaw: yaw == 0 ? .nan : yaw, roll: roll == 0 ? .nan : roll,
            pitch: pitch == 0 ? .nan : pitch)
    }
}
