/// Keeps a set-point within what the joints can reach, where the handle's attitude is known. Within two degrees of an end
/// of a range the camera falls behind gently, so that it arrives there without a blow.
///
/// Loop thread only; constant time.
struct JointLimiter: Sendable, BitwiseCopyable {
    /// Half the width of the zone in which the camera falls behind, rad.
    private static var knee: Double { @_noLocks get { 2 * .pi / 180 } }

    /// The joints of which the last set-point asked for an angle at or beyond the end of the range.
    private(set) var atEnd = AxisSet.none
    /// Joint angles that the set-point asks for, rad, continuous over whole turns: a camera at one end of its range does
    /// not swing to the other because that is nearer by now. NaN before the first.
    private var wanted = AxisVector.unknown

    @_noLocks
    init() {}

    /// Forgets which way round the joints have come.
    @_noLocks
    mutating func reset() {
        wanted = .unknown
        atEnd = .none
    }

    /// The set-point that the joints can reach: `setpoint` itself away from the ends of the ranges.
    ///
    /// - Parameters:
    ///   - setpoint: What is asked for.
    ///   - handle: Where the handle is.
    ///   - range: How far the joints turn.
    /// - Returns: What is held instead.
    @_noLocks
    mutating func limit(_ setpoint: Setpoint, handle: HandlePose, range: JointRange) -> Setpoint {
        let relative = handle.attitude.conjugate * setpoint.attitude
        let asked = JointKinematics.joints(attitude: relative)
        let before = wanted.filled(from: handle.joints)
        wanted = AxisVector(
            yaw: JointLimiter.unwrapped(asked.yaw, near: before.yaw), roll: asked.roll,
            pitch: JointLimiter.unwrapped(asked.pitch, near: before.pitch))
        let low = range.minimum
        let high = range.maximum
        let knee = JointLimiter.knee
        let yaw = BentLine(wanted.yaw, from: low.yaw, to: high.yaw, knee: knee)
        let roll = BentLine(wanted.roll, from: low.roll, to: high.roll, knee: knee)
        let pitch = BentLine(wanted.pitch, from: low.pitch, to: high.pitch, knee: knee)
        let steepest = min(yaw.slope, min(roll.slope, pitch.slope))
        atEnd = AxisSet(
            yaw: yaw.slope <= 0.5, roll: roll.slope <= 0.5, pitch: pitch.slope <= 0.5)
        guard steepest < 1 else { return setpoint }
        let reachable = AxisVector(yaw: yaw.angle, roll: roll.angle, pitch: pitch.angle)
        let slopes = AxisVector(yaw: yaw.slope, roll: roll.slope, pitch: pitch.slope)
        let attitude = handle.attitude * JointKinematics.attitude(joints: reachable)
        // What moves with the handle, and what the joints still do.
        let carriedHere = setpoint.attitude.conjugate.rotate(handle.rate)
        let rates = JointKinematics(joints: asked).jointRates(
            relativeRate: setpoint.rate - carriedHere)
        let carried = attitude.conjugate.rotate(handle.rate)
        let own = JointKinematics(joints: reachable).relativeRate(jointRates: rates * slopes)
        return Setpoint(attitude: attitude, rate: carried + own)
    }

    private static func unwrapped(_ angle: Double, near other: Double) -> Double {
        other + Angle(radians: other).shortestArc(to: .radians(angle)).radians
    }
}

/// A line that bends into the ends of a range along parabolas.
private struct BentLine: Sendable, BitwiseCopyable {
    /// The angle that is within the range, rad.
    let angle: Double
    /// How much of a motion is left, 0...1; one half at the end of the range.
    let slope: Double

    /// All in radians; `knee` is half the width of the bend.
    @_noLocks
    init(_ wanted: Double, from minimum: Double, to maximum: Double, knee: Double) {
        let above = wanted - (maximum - knee)
        let below = minimum + knee - wanted
        let depth = min(max(max(above, below), 0), 2 * knee)
        let lost = depth * depth / (4 * knee)
        slope = 1 - depth / (2 * knee)
        if above > 0 {
            angle = maximum - knee + depth - lost
        } else if below > 0 {
            angle = minimum + knee - depth + lost
        } else {
            angle = wanted
        }
    }
}
