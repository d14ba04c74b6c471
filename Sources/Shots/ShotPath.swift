import Glibc

/// Path of the camera through key frames, as a function of the elapsed fraction of the shot, 0...1.
/// The path connects the key frames by straight lines, with smoothed corners and gradual
/// acceleration. The path begins at the first key frame and ends at the last.
public struct ShotPath: Sendable, Equatable {
    /// Key frames at equal time intervals.
    private let points: [Pose]
    /// Fraction of the shot over which corners are rounded, 0...1.
    private let smoothing: Double
    /// Duration of the acceleration, and of the braking, as a fraction of the shot, 0...0.5.
    private let ease: Double

    /// Creates a path.
    ///
    /// - Parameters:
    ///   - points: Key frames at equal time intervals, at least one. Between two key frames, yaw
    ///     turns the shorter way. If both ways are equally long, yaw turns in the direction of the
    ///     difference between the given angles.
    ///   - smoothing: Fraction of the shot over which corners are rounded, 0...1; 0 keeps the
    ///     corners.
    ///   - ease: Duration of the acceleration, and of the braking, as a fraction of the shot,
    ///     0...0.5.
    public init(through points: [Pose], smoothing: Double = 0, ease: Double = 0) {
        var continuous = points
        for (index, (last, point)) in zip(points, points.dropFirst()).enumerated() {
            let difference = point.yaw - last.yaw
            let way = Pose.wrapped(difference)
            let isHalfTurn = way.magnitude > 180 - 1e-9
            continuous[index + 1].yaw =
                continuous[index].yaw
                + (isHalfTurn ? Double(signOf: difference, magnitudeOf: way) : way)
        }
        self.points = continuous
        self.smoothing = smoothing
        self.ease = ease
    }

    /// Pose after the given fraction of the shot, 0...1; yaw is continuous, and can exceed ±180°.
    public func pose(at share: Double) -> Pose {
        let share = eased(min(max(share, 0), 1))
        guard smoothing > 0, points.count > 1 else { return straight(share) }
        // Mean with triangular weights; the triangle's base has the width `smoothing`.
        let steps = 16
        var (sum, weights) = (Pose(), 0.0)
        for step in -steps...steps {
            let offset = Double(step) / Double(steps) * smoothing / 2
            let weight = 1 - Double(step.magnitude) / Double(steps + 1)
            let pose = straight(share + offset)
            sum.yaw += weight * pose.yaw
            sum.roll += weight * pose.roll
            sum.pitch += weight * pose.pitch
            weights += weight
        }
        return Pose(yaw: sum.yaw / weights, roll: sum.roll / weights, pitch: sum.pitch / weights)
    }

    /// Straight path. The path is extended point-symmetrically before its beginning and after its
    /// end. Therefore smoothing does not move the ends of the path.
    private func straight(_ share: Double) -> Pose {
        if share < 0 { return mirrored(straight(min(-share, 1)), at: points[0]) }
        if share > 1 { return mirrored(straight(max(2 - share, 0)), at: points[points.count - 1]) }
        let place = share * Double(points.count - 1)
        let index = min(Int(place), points.count - 2)
        guard index >= 0 else { return points[0] }
        let (a, b, rest) = (points[index], points[index + 1], place - Double(index))
        return Pose(
            yaw: a.yaw + rest * (b.yaw - a.yaw), roll: a.roll + rest * (b.roll - a.roll),
            pitch: a.pitch + rest * (b.pitch - a.pitch))
    }

    private func mirrored(_ pose: Pose, at end: Pose) -> Pose {
        Pose(
            yaw: 2 * end.yaw - pose.yaw, roll: 2 * end.roll - pose.roll,
            pitch: 2 * end.pitch - pose.pitch)
    }

    /// Fraction of the path after the given fraction of the time: constant acceleration, constant
    /// speed, constant deceleration.
    private func eased(_ time: Double) -> Double {
        guard ease > 0 else { return time }
        let speed = 1 / (1 - ease)
        if time < ease { return speed * time * time / (2 * ease) }
        if time > 1 - ease { return 1 - speed * (1 - time) * (1 - time) / (2 * ease) }
        return speed * (time - ease / 2)
    }
}
