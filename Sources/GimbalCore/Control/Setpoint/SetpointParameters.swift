extension SetpointGenerator {
    /// The limits of the movement.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest rate, rad/s.
        public var maxRate = AxisVector(repeating: 240 * .pi / 180)
        /// Largest acceleration, rad/s².
        public var maxAcceleration = AxisVector(repeating: 3000 * .pi / 180)
        /// Largest jerk, rad/s³.
        public var maxJerk = AxisVector(repeating: 150_000 * .pi / 180)
        /// Smallest angle, rad; yaw may turn without end where both of its bounds are infinite.
        public var minimum = AxisVector(yaw: -.infinity, roll: -.pi / 3, pitch: -.pi * 2 / 3)
        /// Largest angle, rad.
        public var maximum = AxisVector(yaw: .infinity, roll: .pi / 3, pitch: .pi * 2 / 3)

        /// The defaults.
        public init() {}
    }

    /// What became of a `point`.
    public struct Forecast: Sendable, BitwiseCopyable {
        /// Seconds until the camera stands there.
        public var duration = 0.0
        /// What keeps it from being quicker; `none` where it takes as long as was asked for.
        public var limit = MotionLimit.none
        /// Where it leads, rad; NaN on axes that were not asked for.
        public var goal = AxisVector.unknown
        /// Whether a goal had to be moved into the range.
        public var isClamped = false

        @_noLocks
        init() {}
    }
}
