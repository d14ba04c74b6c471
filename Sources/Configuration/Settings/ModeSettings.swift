public import GimbalCore

/// Preset of the modes that follow the handle: dead zone, rate limit and smoothing of each axis.
public enum FollowPreset: String, Sendable, CaseIterable {
    /// The camera follows the handle very slowly outside a wide dead zone, for slow pans.
    case cinema
    /// The camera follows the handle slowly, for smooth pictures.
    case slow
    /// The camera follows the handle, faster than with `slow` and slower than with `sport`.
    case normal
    /// The camera follows the handle quickly.
    case sport
    /// The camera keeps its direction, and follows the handle only if a joint would otherwise reach
    /// the end of its range.
    case lock
}

/// State of the motors in the rest pose.
public enum RetractedOutputs: String, Sendable, CaseIterable {
    /// The motors hold the pose.
    case hold
    /// The motors are switched off.
    case off
}

extension Settings {
    /// Settings of `[mode]`.
    public struct ModeSettings: Sendable, Equatable {
        /// Mode after the start-up checks.
        public var boot = Mode.locked
    }

    /// Settings of `[follow]`, the modes that follow the handle.
    public struct Following: Sendable, Equatable {
        /// Active preset.
        public var preset = FollowPreset.normal
        /// Dead zone of yaw in mode `pan_follow` with every preset, degrees; a negative value
        /// selects the dead zone of the active preset.
        public var panDeadZoneDeg = -1.0
        /// Dead zone of each axis in mode `fpv` with every preset, degrees; a negative value
        /// selects the dead zone of the active preset.
        public var fpvDeadZoneDeg = AxisVector(repeating: -1)
        /// Values of the preset `cinema`.
        public var cinema = Pace(maxRateDps: 30, smoothingS: 1.2, panZone: 8, fpvZone: 3)
        /// Values of the preset `slow`.
        public var slow = Pace(maxRateDps: 40, smoothingS: 0.8)
        /// Values of the preset `normal`.
        public var normal = Pace(maxRateDps: 90, smoothingS: 0.4)
        /// Values of the preset `sport`.
        public var sport = Pace(maxRateDps: 200, smoothingS: 0.15)
        /// Values of the preset `lock`.
        public var lock = Pace(maxRateDps: 90, smoothingS: 0.4, panZone: 60, fpvZone: 45)

        /// Rate limit, smoothing and dead zones of the active preset. The dead zones that apply to
        /// every preset replace those of the preset.
        public var pace: Pace {
            var pace =
                switch preset {
                case .cinema: cinema
                case .slow: slow
                case .normal: normal
                case .sport: sport
                case .lock: lock
                }
            if panDeadZoneDeg >= 0 { pace.panDeadZoneDeg = panDeadZoneDeg }
            for axis in GimbalAxis.allCases where fpvDeadZoneDeg[axis] >= 0 {
                pace.fpvDeadZoneDeg[axis] = fpvDeadZoneDeg[axis]
            }
            return pace
        }
    }

    /// Settings of one preset, such as `[follow.slow]`.
    public struct Pace: Sendable, Equatable {
        /// Largest rate of an axis, deg/s.
        public var maxRateDps: AxisVector
        /// Lag of each axis behind the handle at a constant rate, s.
        public var smoothingS: AxisVector
        /// Dead zone of yaw in mode `pan_follow`, degrees.
        public var panDeadZoneDeg: Double
        /// Dead zone of each axis in mode `fpv`, degrees.
        public var fpvDeadZoneDeg: AxisVector

        init(maxRateDps: Double, smoothingS: Double, panZone: Double = 5, fpvZone: Double = 1) {
            self.maxRateDps = AxisVector(repeating: maxRateDps)
            self.smoothingS = AxisVector(repeating: smoothingS)
            panDeadZoneDeg = panZone
            fpvDeadZoneDeg = AxisVector(repeating: fpvZone)
        }
    }

    /// Settings of `[push]`, for turning the camera by hand.
    public struct Pushing: Sendable, Equatable {
        /// True if a person can turn the camera by hand.
        public var enabled = false
        /// Threshold of the hand's torque above which the camera turns, percent of the motor's
        /// torque limit.
        public var thresholdPercent = 50.0
        /// Rate at which the camera turns if the hand's torque equals the torque limit, deg/s.
        public var maxRateDps = 60.0
    }

    /// Settings of `[tracking]`, the mode in which an app keeps a person in the picture.
    public struct Tracking: Sendable, Equatable {
        /// Largest pan and tilt rate, deg/s.
        public var maxRateDps = 45.0
        /// Pan range in each direction, degrees.
        public var panRangeDeg = 90.0
        /// Tilt range in each direction, degrees.
        public var tiltRangeDeg = 45.0
        /// Timeout of rate requests, s; then the mode becomes `locked`.
        public var timeoutS = 1.0
    }

    /// Settings of `[retract]`, the mode that moves the camera to its rest pose.
    public struct Retraction: Sendable, Equatable {
        /// Joint angles of the rest pose, degrees.
        public var jointsDeg = AxisVector(yaw: 0, roll: 0, pitch: -90)
        /// Rate of the joints during the motion to the rest pose, deg/s.
        public var maxRateDps = 45.0
        /// State of the motors in the rest pose.
        public var outputs = RetractedOutputs.hold
    }

    /// Parameters for detecting a hand, in GimbalCore's units.
    var pushParameters: HandPush.Parameters {
        var result = HandPush.Parameters()
        result.isEnabled = push.enabled
        result.threshold = push.thresholdPercent / 100
        result.maxRate = push.maxRateDps * .pi / 180
        return result
    }

    /// Parameters of the modes, in GimbalCore's units.
    public var modeParameters: ModeParameters {
        let radian = Double.pi / 180
        var result = ModeParameters()
        let pace = follow.pace
        result.follow = FollowTuning(
            maxRate: pace.maxRateDps * radian, smoothing: pace.smoothingS)
        result.panDeadZone = pace.panDeadZoneDeg * radian
        result.fpvDeadZone = pace.fpvDeadZoneDeg * radian
        result.trackingMaxRate = tracking.maxRateDps * radian
        result.trackingRange = AxisVector(
            yaw: tracking.panRangeDeg * radian, roll: 0, pitch: tracking.tiltRangeDeg * radian)
        result.trackingTimeout = tracking.timeoutS
        // The default pose can be beyond a range that was measured or configured later.
        let range = reachableJointsDeg
        result.retractJoints =
            retract.jointsDeg.clamped(from: range.lower, to: range.upper) * radian
        result.retractRate = retract.maxRateDps * radian
        result.isOffWhenRetracted = retract.outputs == .off
        return result
    }
}
