import GimbalCore
import PlainText
import Wire

/// What will become of a `point`, told to whoever asks: computed with the loop's own generator from
/// its newest snapshot.
struct PointForecast {
    /// The state of the loop after its last tick that is known.
    let snapshot: StabilizerSnapshot
    /// The limits in force.
    let parameters: SetpointGenerator.Parameters

    /// The answer to a `point` that was accepted.
    ///
    /// - Parameters:
    ///   - angles: Radians; NaN where nothing was asked for.
    ///   - duration: Seconds, 0 where none was asked for.
    ///   - rate: rad/s, 0 where none was asked for.
    ///   - mode: The mode in force.
    /// - Returns: How long it takes, and what was changed about it.
    func acknowledgement(
        _ angles: AxisVector, duration: Double, rate: Double, mode: Mode
    ) -> Acknowledgement {
        let own = angles * mode.commandable
        var generator = SetpointGenerator(parameters: parameters, at: snapshot.pointing)
        let forecast = generator.point(target: own, duration: duration, rate: rate)
        var limits: [String] = []
        var sentences: [String] = []
        if snapshot.output.enabled {
            let seconds = Format.fixed(forecast.duration, 2)
            sentences.append("Turning, there in \(seconds) s.")
            if duration > 0, let limit = Self.name(of: forecast.limit) {
                limits.append(limit.name)
                sentences.append("\(limit.key) stretches it.")
            }
        } else {
            sentences.append("The camera turns there when the motors come on.")
        }
        if forecast.isClamped {
            limits.append("range")
            sentences.append("motion.range_deg ends at \(Self.text(forecast.goal, where: own)).")
        }
        let left = Self.names(where: angles, butNot: own)
        if !left.isEmpty {
            limits.append("mode")
            sentences.append("Mode \(mode.name) controls \(left).")
        }
        return Acknowledgement(
            sentences.joined(separator: " "),
            durationS: snapshot.output.enabled ? Number(forecast.duration) : nil,
            limitedBy: limits)
    }

    private static func name(of limit: MotionLimit) -> (name: String, key: String)? {
        switch limit {
        case .none: nil
        case .rate: ("rate", "motion.max_rate_dps")
        case .acceleration: ("acceleration", "motion.max_acceleration_dps2 or max_jerk_dps3")
        }
    }

    private static func axes(_ angles: AxisVector) -> [(String, Double)] {
        [("yaw", angles.yaw), ("roll", angles.roll), ("pitch", angles.pitch)]
    }

    private static func names(where asked: AxisVector, butNot own: AxisVector) -> String {
        zip(axes(asked), axes(own)).filter { !$0.1.isNaN && $1.1.isNaN }.map(\.0.0)
            .joined(separator: ", ")
    }

    /// "pitch -120°" for every angle that is not where it was asked to be.
    private static func text(_ goal: AxisVector, where asked: AxisVector) -> String {
        zip(axes(goal), axes(asked))
            .filter { goal, asked in
                let turn = Angle(radians: goal.1).shortestArc(to: .radians(asked.1)).radians
                return abs(turn) > 1e-9
            }
            .map { goal, _ in "\(goal.0) \(Format.plain((goal.1 * 1800 / .pi).rounded() / 10))°" }
            .joined(separator: ", ")
    }
}
