/// Angle and range of the yaw joint.
public struct YawJoint: Sendable, Equatable {
    /// Angle of the joint, degrees.
    public var angle: Double
    /// Range of the joint, degrees; -360...360 means that the joint has no ends.
    public var range: ClosedRange<Double>

    /// Creates the state of a joint.
    public init(angle: Double, range: ClosedRange<Double>) {
        (self.angle, self.range) = (angle, range)
    }

    /// Creates the state of a joint after a turn of the camera from `yaw` to `target`, while the
    /// handle keeps its heading. The camera turns on the shorter way, or on the other way if only
    /// this way keeps the joint within its range.
    ///
    /// - Parameters:
    ///   - angle: Angle of the joint before the turn, degrees.
    ///   - range: Range of the joint, degrees.
    ///   - yaw: Yaw of the camera before the turn, earth frame, degrees.
    ///   - target: Yaw of the camera after the turn, earth frame, degrees.
    public init(
        angle: Double, range: ClosedRange<Double>, turnedFrom yaw: Double, to target: Double
    ) {
        let end = angle + Pose.wrapped(target - yaw)
        // A joint at its end stop can be slightly outside its range.
        let isReachable = (range.lowerBound - 1...range.upperBound + 1).contains(end)
        let other = [end - 360, end + 360].first { range.contains($0) }
        self.init(angle: isReachable ? end : other ?? end, range: range)
    }
}

/// Turn of the camera to a waypoint.
public struct ShotMove: Sendable, Equatable {
    /// Largest turn of an axis, degrees.
    public var angle: Double
    /// Number of the waypoint, from 1.
    public var waypoint: Int

    /// True if a range prevents the shorter way.
    public var isDetour: Bool { angle > 180 + 1e-6 }
}

extension ShotPlan {
    /// Computes the largest turn of an axis to a waypoint. As in airframed, yaw turns in the
    /// opposite direction if a range prevents the shorter way; the handle keeps its heading.
    ///
    /// - Parameters:
    ///   - first: Orientation at the beginning of the shot, earth frame.
    ///   - ranges: Value of `motion.range_deg`: lower and upper end for yaw, roll and pitch,
    ///     degrees.
    ///   - joint: The yaw joint at the beginning of the shot; nil if its angle is unknown.
    /// - Returns: The turn. Of equal turns, the first one.
    public func largestMove(
        from first: Pose, within ranges: [[Double]], joint: YawJoint?
    ) -> ShotMove {
        var yaw = YawForecast(first.yaw, within: ranges.first ?? [], joint)
        var last = first
        var largest = ShotMove(angle: 0, waypoint: 1)
        for (index, frame) in frames.enumerated() {
            let pose = frame.pose.turned(byYaw: first.yaw)
            let angle = max(
                yaw.turn(to: pose.yaw).magnitude, (pose.roll - last.roll).magnitude,
                (pose.pitch - last.pitch).magnitude)
            if angle > largest.angle + 1e-6 {
                largest = ShotMove(angle: angle, waypoint: index + 1)
            }
            last = pose
        }
        return largest
    }
}

/// Forecast of the yaw of the set-point, as airframed computes it. All angles are in degrees.
private struct YawForecast {
    private var yaw: Double
    /// Range of the set-point; nil if yaw has no limit.
    private let range: ClosedRange<Double>?
    /// The joint; nil if its angle is unknown, or if it has no ends.
    private var joint: YawJoint?

    init(_ yaw: Double, within range: [Double], _ joint: YawJoint?) {
        self.joint = joint.flatMap { Self.isEndless($0.range) ? nil : $0 }
        let bounds = range.count == 2 && range[0] <= range[1] ? range[0]...range[1] : -360...360
        self.range = Self.isEndless(bounds) ? nil : bounds
        // Yaw has the same direction after each whole turn.
        let turned = yaw + 360 * ((bounds.lowerBound - yaw) / 360).rounded(.up)
        self.yaw = bounds.contains(turned) && !bounds.contains(yaw) ? turned : yaw
    }

    private static func isEndless(_ range: ClosedRange<Double>) -> Bool {
        range.lowerBound <= -360 && range.upperBound >= 360
    }

    /// Turns to a direction.
    ///
    /// - Returns: Angle of the turn, right positive.
    mutating func turn(to direction: Double) -> Double {
        var turn = Pose.wrapped(direction - yaw)
        if let joint {
            let (down, up) = (
                joint.range.lowerBound - joint.angle, joint.range.upperBound - joint.angle
            )
            if turn > up, turn - 360 >= down {
                turn -= 360
            } else if turn < down, turn + 360 <= up {
                turn += 360
            }
        }
        if let range {
            if yaw + turn > range.upperBound, yaw + turn - 360 >= range.lowerBound {
                turn -= 360
            } else if yaw + turn < range.lowerBound, yaw + turn + 360 <= range.upperBound {
                turn += 360
            }
        }
        yaw += turn
        joint?.angle += turn
        return turn
    }
}
