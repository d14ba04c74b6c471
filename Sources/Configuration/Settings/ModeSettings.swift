public import GimbalCore

/// Preset of the follow modes, which selects one of three sets of values.
public enum FollowPreset: String, Sendable, CaseIterable {
    /// Calm pictures.
    case slow
    /// In between.
    case normal
    /// Stays close to the hand.
    case sport
}

/// State of the motors in the resting pose.
public enum RetractedOutputs: String, Sendable, CaseIterable {
    /// The motors hold them there.
    case hold
    /// The motors go off.
    case off
}

extension Settings {
    /// `[mode]`
    public struct ModeSettings: Sendable, Equatable {
        /// Mode after the start-up checks.
        public var boot = Mode.locked
    }

    /// `[follow]`
    public struct Following: Sendable, Equatable {
        /// The set of numbers in force.
        public var preset = FollowPreset.normal
        /// Dead zone in pan_follow before yaw follows the handle, degrees.
        public var panDeadZoneDeg = 5.0
        /// Dead zone in fpv before each axis follows the handle, degrees.
        public var fpvDeadZoneDeg = AxisVector(repeating: 1)
        /// The numbers of `slow`.
        public var slow = Pace(maxRateDps: 40, smoothingS: 0.8)
        /// The numbers of `normal`.
        public var normal = Pace(maxRateDps: 90, smoothingS: 0.4)
        /// The numbers of `sport`.
        public var sport = Pace(maxRateDps: 200, smoothingS: 0.15)

        /// The set of numbers in force.
        public var pace: Pace {
            switch preset {
            case .slow: slow
            case .normal: normal
            case .sport: sport
            }
        }
    }

    /// `[follow.slow]` and its like
    public struct Pace: Sendable, Equatable {
        /// Fastest that an axis follows, deg/s.
        public var maxRateDps: AxisVector
        /// Time that an axis stays behind a steady turn, s.
        public var smoothingS: AxisVector

        init(maxRateDps: Double, smoothingS: Double) {
            self.maxRateDps = AxisVector(repeating: maxRateDps)
            self.smoothingS = AxisVector(repeating: smoothingS)
        }
    }

    /// `[tracking]`
    public struct Tracking: Sendable, Equatable {
        /// Largest pan and tilt rate, deg/s.
        public var maxRateDps = 45.0
        /// Pan range to either side, degrees.
        public var panRangeDeg = 90.0
        /// Tilt range to either side, degrees.
        public var tiltRangeDeg = 45.0
        /// Silence after which the mode is locked, s.
        public var timeoutS = 1.0
    }

    /// `[retract]`
    public struct Retraction: Sendable, Equatable {
        /// The pose of rest, degrees.
        public var jointsDeg = AxisVector(yaw: 0, roll: 0, pitch: -90)
        /// Rate of the joints on the way there, deg/s.
        public var maxRateDps = 45.0
        /// State of the motors there.
        public var outputs = RetractedOutputs.hold
    }

    /// The modes' numbers as the core wants them.
    public var modeParameters: ModeParameters {
        let radian = Double.pi / 180
        var result = ModeParameters()
        result.follow = FollowTuning(
            maxRate: follow.pace.maxRateDps * radian, smoothing: follow.pace.smoothingS)
        result.panDeadZone = follow.panDeadZoneDeg * radian
        result.fpvDeadZone = follow.fpvDeadZoneDeg * radian
        result.trackingMaxRate = tracking.maxRateDps * radian
        result.trackingRange = AxisVector(
            yaw: tracking.panRangeDeg * radian, roll: 0, pitch: tracking.tiltRangeDeg * radian)
        result.trackingTimeout = tracking.timeoutS
        result.retractJoints = retract.jointsDeg * radian
        result.retractRate = retract.maxRateDps * radian
        result.isOffWhenRetracted = retract.outputs == .off
        return result
    }
}
