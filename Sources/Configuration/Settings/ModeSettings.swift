public import GimbalCore

/// Preset of the modes that follow the handle; it selects one of three sets of values.
public enum FollowPreset: String, Sendable, CaseIterable {
    /// The camera follows the handle slowly, for smooth pictures.
    case slow
    /// The camera follows the handle, faster than with `slow` and slower than with `sport`.
    case normal
    /// The camera follows the handle quickly.
    case sport
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
        /// Dead zone of yaw in mode `pan_follow`, degrees.
        public var panDeadZoneDeg = 5.0
        /// Dead zone of each axis in mode `fpv`, degrees.
        public var fpvDeadZoneDeg = AxisVector(repeating: 1)
        /// Values of the preset `slow`.
        public var slow = Pace(maxRateDps: 40, smoothingS: 0.8)
        /// Values of the preset `normal`.
        public var normal = Pace(maxRateDps: 90, smoothingS: 0.4)
        /// Values of the preset `sport`.
        public var sport = Pace(maxRateDps: 200, smoothingS: 0.15)

        /// Rate limit and smoothing of the active preset.
        public var pace: Pace {
            switch preset {
            case .slow: slow
            case .normal: normal
            case .sport: sport
            }
        }
    }

    /// Settings of `[follow.slow]`, `[follow.normal]` and `[follow.sport]`.
    public struct Pace: Sendable, Equatable {
        /// Largest rate of an axis, deg/s.
        public var maxRateDps: AxisVector
        /// Lag of each axis behind the handle at a constant rate, s.
        public var smoothingS: AxisVector

        init(maxRateDps: Double, smoothingS: Double) {
            self.maxRateDps = AxisVector(repeating: maxRateDps)
            self.smoothingS = AxisVector(repeating: smoothingS)
        }
    }

    /// Settings of `[push]`: a hand that turns the camera.
    public struct Pushing: Sendable, Equatable {
        /// True if a hand can turn the camera.
        public var enabled = false
        /// Torque of a hand, as a percentage of the motor's torque limit.
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

    /// Parameters of the detection of a hand for the core.
    var pushParameters: HandPush.Parameters {
        var result = HandPush.Parameters()
        result.isEnabled = push.enabled
        result.threshold = push.thresholdPercent / 100
        result.maxRate = push.maxRateDps * .pi / 180
        return result
    }

    /// Parameters of the modes for the core.
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
