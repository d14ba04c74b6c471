import GimbalCore
import Port

// What can be asked for at all, apart from who asks and what the ring has room for.
extension Commander {
    /// Why a request cannot be carried out in this mode, whoever asks; nil when it can.
    static func check(_ request: MotionRequest, mode: Mode, isStopped: Bool) -> Refusal? {
        switch request {
        case .mode:
            return isStopped ? .emergencyStopped : nil
        case .point(let angles, let duration, let rate):
            if let refusal = blocked(mode, isStopped) { return refusal }
            guard isMovable(angles, in: mode) else { return .notInMode(mode) }
            if let refusal = outside(MotionRequest.fastest, rate, "rate", perSecond) {
                return refusal
            }
            for angle in [angles.yaw, angles.roll, angles.pitch] where !angle.isNaN {
                let refusal = outside(MotionRequest.angles, angle, "angle", degrees)
                if let refusal { return refusal }
            }
            guard MotionRequest.durations.contains(duration) else {
                return .outOfRange("duration", MotionRequest.durations, "seconds")
            }
            return nil
        case .rate(let rate):
            if let refusal = blocked(mode, isStopped) { return refusal }
            guard isMovable(rate.onlyMoving, in: mode) else {
                return .notInMode(mode)
            }
            return [rate.yaw, rate.roll, rate.pitch].lazy
                .compactMap { outside(MotionRequest.rates, $0, "rate", perSecond) }.first
        case .track(let pan, let tilt):
            if let refusal = blocked(mode, isStopped) { return refusal }
            guard mode == .tracking else { return .notInMode(mode) }
            guard !pan.isInfinite, !tilt.isInfinite else {
                return .outOfRange(field: "rate", allowed: "degrees per second")
            }
            return nil
        case .lookAside(let yaw, let rate):
            if let refusal = blocked(mode, isStopped) { return refusal }
            guard mode == .panFollow else { return .notInMode(mode) }
            if !yaw.isNaN, let refusal = outside(MotionRequest.angles, yaw, "yaw", degrees) {
                return refusal
            }
            return outside(MotionRequest.rates, rate, "rate", perSecond)
        case .step(let axis, let wish):
            if isStopped { return .emergencyStopped }
            guard MotionRequest.steppers.indices.contains(axis) else {
                return .outOfRange(field: "axis", allowed: "0...2")
            }
            if case .turn(let speed) = wish, !speed.isFinite {
                return .outOfRange(field: "speed", allowed: "steps per second")
            }
            return nil
        case .excite(let excitation):
            if let refusal = blocked(mode, isStopped) { return refusal }
            guard excitation.amplitude.isFinite, excitation.amplitude >= 0 else {
                return .outOfRange(field: "amplitude", allowed: "0 and more")
            }
            return nil
        case .testMotor:
            if isStopped { return .emergencyStopped }
            return mode == .inactive ? nil : .active(mode)
        case .drive(let left, let right):
            if isStopped { return .emergencyStopped }
            guard MotionRequest.wheels.contains(left), MotionRequest.wheels.contains(right) else {
                return .outOfRange("wheel", MotionRequest.wheels, "")
            }
            return nil
        case .resetIntegrals, .take, .release, .emergencyStop, .resetEmergencyStop:
            return nil
        }
    }

    private static let degrees = "degrees"
    private static let perSecond = "degrees per second"

    /// The refusal of a value in radians outside a range in degrees.
    private static func outside(
        _ range: ClosedRange<Double>, _ radians: Double, _ field: String, _ unit: String
    ) -> Refusal? {
        let bounds =
            Angle.degrees(range.lowerBound).radians...Angle.degrees(range.upperBound).radians
        return bounds.contains(radians) ? nil : .outOfRange(field, range, unit)
    }

    /// Whether an axis that was asked for is one that the mode leaves to requests. A request for no axis is no offence.
    private static func isMovable(_ axes: AxisVector, in mode: Mode) -> Bool {
        let asked = [axes.yaw, axes.roll, axes.pitch]
        let own = axes * mode.commandable
        return asked.allSatisfy(\.isNaN)
            || [own.yaw, own.roll, own.pitch].contains { !$0.isNaN }
    }

    private static func blocked(_ mode: Mode, _ isStopped: Bool) -> Refusal? {
        if isStopped { return .emergencyStopped }
        return mode == .inactive ? .inactive : nil
    }
}

extension AxisVector {
    /// The same, with NaN on axes that are zero: what a request for rates moves.
    fileprivate var onlyMoving: AxisVector {
        AxisVector(
            yaw: yaw == 0 ? .nan : yaw, roll: roll == 0 ? .nan : roll,
            pitch: pitch == 0 ? .nan : pitch)
    }
}
