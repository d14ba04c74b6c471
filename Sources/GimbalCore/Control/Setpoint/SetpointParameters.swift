extension SetpointGenerator {
    /// Limits of the set-point's motion, one value for each earth-frame angle.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest rate, rad/s.
        public var maxRate = AxisVector(repeating: 240 * .pi / 180)
        /// Largest acceleration, rad/s².
        public var maxAcceleration = AxisVector(repeating: 3000 * .pi / 180)
        /// Largest jerk, rad/s³.
        public var maxJerk = AxisVector(repeating: 150_000 * .pi / 180)
        /// Smallest angle, rad. If both bounds of yaw are infinite, yaw can turn endlessly.
        public var minimum = AxisVector(yaw: -.infinity, roll: -.pi / 3, pitch: -.pi * 2 / 3)
        /// Largest angle, rad.
        public var maximum = AxisVector(yaw: .infinity, roll: .pi / 3, pitch: .pi * 2 / 3)

        /// Creates the default values.
        public init() {}

        /// The largest rates from which each axis can stop within `seconds`, rad/s. A turn at a rate
        /// must be at rest at the end of its dead-man time, so the turn does not exceed these rates.
        public func rates(stoppingWithin seconds: Double) -> AxisVector {
            func rate(_ axis: GimbalAxis) -> Double {
                RateBlend.rate(
                    stoppingWithin: seconds, acceleration: maxAcceleration[axis],
                    jerk: maxJerk[axis])
            }
            return AxisVector(yaw: rate(.yaw), roll: rate(.roll), pitch: rate(.pitch))
        }

        /// Copy of the limits with rates and accelerations multiplied by the fractions in `limits`.
        @_noLocks
        public func slower(_ limits: MotionLimits) -> Parameters {
            var result = self
            result.maxRate = maxRate * limits.rate
            result.maxAcceleration = maxAcceleration * limits.acceleration
            return result
        }
    }

    /// Result of a `point` request.
    public struct Forecast: Sendable, BitwiseCopyable {
        /// Duration until the set-point is at rest, s.
        public var duration = 0.0
        /// The limit that determined the movement's duration; `none` if the duration is as
        /// requested.
        public var limit = MotionLimit.none
        /// Final angles of the movement, rad; NaN on axes without a request.
        public var goal = AxisVector.unknown
        /// True if a requested angle was outside its axis's range and was limited to the range.
        public var isClamped = false

        @_noLocks
        init() {}
    }
}
