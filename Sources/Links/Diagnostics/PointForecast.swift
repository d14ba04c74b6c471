import GimbalCore
import PlainText
import Port
import Wire

/// Forecast of the motion after a `point` request, for the client that sent the request. The
/// forecast is computed from the newest snapshot, with the same set-point generator as in the loop.
struct PointForecast {
    /// The newest known snapshot of the control loop.
    let snapshot: StabilizerSnapshot
    /// The configured limits of the set-point generator.
    let parameters: SetpointGenerator.Parameters
    /// The ranges of the joints.
    let jointRange: JointRange

    /// Smallest angle beyond the end of a joint's range that is reported, rad (0.5°). The estimated
    /// angles of handle and camera are less accurate than the set-point.
    private static let tolerance = 0.5 * Double.pi / 180
    /// Smallest error of a requested angle that is reported, rad (2°). Near the end of a range, the
    /// camera lags behind the set-point by up to 2° (`JointLimiter`).
    private static let leastMiss = 2 * Double.pi / 180

    /// Creates the answer to an accepted `point` request.
    ///
    /// - Parameters:
    ///   - angles: Requested angles, rad; NaN for axes without a request.
    ///   - duration: Requested duration, s; 0 if none was requested.
    ///   - rate: Requested rate, rad/s; 0 if none was requested.
    ///   - mode: The active mode.
    /// - Returns: The expected duration of the motion, and the limits that changed the request.
    func acknowledgement(
        _ angles: AxisVector, duration: Double, rate: Double, mode: Mode
    ) -> Acknowledgement {
        let own = angles * mode.commandable
        var generator = SetpointGenerator(
            parameters: parameters.slower(snapshot.motion), at: snapshot.pointing)
        let forecast = generator.point(target: own, duration: duration, rate: rate)
        var limits: [String] = []
        var sentences: [String] = []
        if snapshot.output.enabled {
            let seconds = Format.fixed(forecast.duration, 2)
            sentences.append("The camera turns, and arrives in \(seconds) s.")
            if duration > 0, let limit = name(of: forecast.limit) {
                limits.append(limit.name)
                // Only an assistant's request has both a duration and a rate, which is its limit.
                let key =
                    rate > 0 && forecast.limit == .rate
                    ? "mcp.max_rate_dps or \(limit.key)" : limit.key
                sentences.append("\(key) makes the turn longer than requested.")
            }
        } else {
            sentences.append("The camera turns when the motors are switched on.")
        }
        if forecast.isClamped {
            limits.append("range")
            sentences.append(
                "motion.range_deg limits the turn to \(Self.text(forecast.goal, where: own)).")
        }
        let ends = jointEnds(before: forecast.goal, of: own)
        if !ends.isEmpty {
            limits.append("joints")
            sentences.append(
                "joints.range_deg stops the camera before the target, at these joint angles: \(ends)."
            )
        }
        let left = Self.names(where: angles, butNot: own)
        if !left.isEmpty {
            limits.append("mode")
            sentences.append(
                "Mode \(mode.name) controls \(left); airframed ignores the request's values for these axes."
            )
        }
        return Acknowledgement(
            sentences.joined(separator: " "),
            durationS: snapshot.output.enabled ? Number(forecast.duration) : nil,
            limitedBy: limits)
    }

    /// Text with the ends of the joints' ranges at which the camera stops before the target, such as
    /// "roll 45°"; empty if the camera can reach the requested angles, or if the joint angles are
    /// unknown. The handle is assumed not to move.
    private func jointEnds(before goal: AxisVector, of request: AxisVector) -> String {
        if case .assumed = snapshot.jointSource { return "" }
        let handle = snapshot.attitude * EulerZXY.quaternion(snapshot.joints).conjugate
        let target = EulerZXY.quaternion(goal.filled(from: snapshot.pointing.target))
        let wanted = EulerZXY.angles(handle.conjugate * target)
        var joints = wanted
        var ends: [String] = []
        for axis in GimbalAxis.allCases {
            let (low, high) = (jointRange.minimum[axis], jointRange.maximum[axis])
            // A range can contain angles beyond half a turn.
            let isReachable = [-1.0, 0, 1].contains { turns in
                let angle = wanted[axis] + turns * 2 * .pi
                return angle >= low - Self.tolerance && angle <= high + Self.tolerance
            }
            guard wanted[axis].isFinite, !isReachable else { continue }
            joints[axis] = abs(wanted[axis] - low) < abs(wanted[axis] - high) ? low : high
            ends.append("\(axis.name) \(Self.degrees(joints[axis]))")
        }
        // A joint beyond its end can leave the requested angles unchanged: a joint without a servo
        // in a tilted hand does not limit a turn about another axis.
        let reached = EulerZXY.angles(handle * EulerZXY.quaternion(joints))
        let isMissed = GimbalAxis.allCases.contains { axis in
            guard !request[axis].isNaN else { return false }
            let miss = Angle(radians: reached[axis]).shortestArc(to: .radians(goal[axis])).radians
            return abs(miss) > Self.leastMiss
        }
        return isMissed ? ends.joined(separator: ", ") : ""
    }

    private static func degrees(_ angle: Double) -> String {
        "\(Format.plain((angle * 1800 / .pi).rounded() / 10))°"
    }

    private func name(of limit: MotionLimit) -> (name: String, key: String)? {
        switch limit {
        case .none: nil
        case .rate: ("rate", snapshot.motion.rateName)
        case .acceleration: ("acceleration", snapshot.motion.accelerationName)
        }
    }

    private static func axes(_ angles: AxisVector) -> [(String, Double)] {
        [("yaw", angles.yaw), ("roll", angles.roll), ("pitch", angles.pitch)]
    }

    private static func names(where asked: AxisVector, butNot own: AxisVector) -> String {
        zip(axes(asked), axes(own)).filter { !$0.1.isNaN && $1.1.isNaN }.map(\.0.0)
            .joined(separator: ", ")
    }

    /// Text with the angles of the target that differ from the requested angles, such as "pitch
    /// -120°".
    private static func text(_ goal: AxisVector, where asked: AxisVector) -> String {
        zip(axes(goal), axes(asked))
            .filter { goal, asked in
                let turn = Angle(radians: goal.1).shortestArc(to: .radians(asked.1)).radians
                return abs(turn) > 1e-9
            }
            .map { goal, _ in "\(goal.0) \(degrees(goal.1))" }
            .joined(separator: ", ")
    }
}

extension MotionLimits {
    /// Name of the limit of the rate in a sentence, with the present fraction of the setting.
    var rateName: String { "motion.max_rate_dps\(Self.text(rate))" }

    /// Name of the limit of the acceleration in a sentence, with the present fraction.
    var accelerationName: String {
        "motion.max_acceleration_dps2\(Self.text(acceleration)) or max_jerk_dps3"
    }

    private static func text(_ share: Double) -> String {
        share < 1 ? " (at present \(Format.fixed(share * 100, 1)) % of it)" : ""
    }
}
