/// Attitude of the camera.
public struct AttitudeStatus: Hashable, Sendable, Codable {
    /// Attitude quaternion w x y z: rotation from the body frame to the earth frame.
    public var quaternion: [Number] = [.unknown, .unknown, .unknown, .unknown]
    /// Yaw (Euler order Z-X-Y), right positive, degrees.
    public var yawDeg: Number = .unknown
    /// Roll (Euler order Z-X-Y), right positive, degrees.
    public var rollDeg: Number = .unknown
    /// Pitch (Euler order Z-X-Y), up positive, degrees.
    public var pitchDeg: Number = .unknown

    /// Creates an unknown attitude.
    public init() {}
}

/// Target of the set-point, and its source.
public struct PointingStatus: Hashable, Sendable, Codable {
    /// Target of each angle of the set-point: earth frame, order Z-X-Y, degrees.
    public var targetDeg = AxisNumbers()
    /// Lag of each angle behind the handle, degrees; 0 if the axis does not follow the handle.
    public var followErrorDeg = AxisNumbers()
    /// Time until the mode `tracking` ends automatically, s; absent in other modes.
    public var trackingRemainingS: Number?

    /// Creates an unknown target.
    public init() {}
}

/// Results of the attitude estimator.
public struct EstimatorStatus: Hashable, Sendable, Codable {
    /// Estimated gyroscope bias, body frame, deg/s.
    public var gyroBiasDps = VectorNumbers()
    /// Standard deviation of the gyroscope bias, deg/s.
    public var gyroBiasSigmaDps = VectorNumbers()
    /// Standard deviation of the inclination, degrees.
    public var inclinationSigmaDeg: Number = .unknown
    /// Standard deviation of the heading relative to north, degrees; unknown without a
    /// magnetometer.
    public var headingSigmaDeg: Number = .unknown
    /// Weight of the last accelerometer correction, 0...1. A weight below 1 means that the
    /// estimator partly rejects the correction as an acceleration.
    public var accelWeight: Number = .unknown
    /// Root mean square of the normalised innovation over 1 s; at most 1 if the model is valid.
    public var innovation: Number = .unknown
    /// True if the estimator detects rest.
    public var isAtRest = false
    /// True if the estimate has converged.
    public var isConverged = false

    /// Creates a status of the estimator with unknown values.
    public init() {}
}

/// The last IMU sample.
public struct IMUStatus: Hashable, Sendable, Codable {
    /// Specific force, body frame, m/s²: [0, 0, -9.81] at rest and level.
    public var accelMS2 = VectorNumbers()
    /// Angular rate, body frame, including the bias, deg/s.
    public var gyroDps = VectorNumbers()
    /// Temperature of the sensor, °C; unknown if the sensor does not measure it.
    public var temperatureC: Number = .unknown
    /// Age of the newest IMU sample, ms.
    public var ageMs: Number = .unknown
    /// Number of IMU samples in the last second.
    public var rateHz: Number = .unknown
    /// Number of IMU samples since the start.
    public var samples = 0
    /// True if the last sample had a gyroscope axis at full scale.
    public var isGyroSaturated = false
    /// Number of IMU samples since the start with a gyroscope axis at full scale.
    public var gyroSaturatedSamples = 0
    /// Number of IMU samples since the start with an accelerometer axis at full scale.
    public var accelClippedSamples = 0
    /// Root mean square of the specific force above 31 Hz over 1 s, for all axes together, m/s².
    public var accelVibrationMS2: Number = .unknown
    /// Root mean square of the rate above 31 Hz over 1 s, for all axes together, deg/s.
    public var gyroVibrationDps: Number = .unknown
    /// Reason why the set-up of the sensor chip failed, such as "failed its gyroscope's self test";
    /// absent after success.
    public var setUpFailure: String?
    /// Keys of the settings that the sensor's driver in the kernel cannot use, so that they have no
    /// effect; absent if there are none.
    public var ignoredSettings: [String]?
    /// Number of reconfigurations after the chip lost its configuration.
    public var lostConfigurations = 0
    /// Relative error of the chip's clock, ppm, positive for a slow clock; unknown without the
    /// chip's FIFO.
    public var clockErrorPpm: Number = .unknown
    /// Numbers of bus and chip failures, by name: `outage`, `stall`, `failed_transfer`,
    /// `missed_edge`, `late_edge`, `fifo_overflow`, `lost_configuration`; empty without a real
    /// chip.
    public var faults: [String: Int] = [:]
    /// Reason why the set-up of the handle's sensor failed; absent after success, and without this
    /// sensor.
    public var handleSetUpFailure: String?
    /// Numbers of failures of the handle's sensor, by name as in `faults`; empty without this
    /// sensor.
    public var handleFaults: [String: Int] = [:]

    /// Creates a status of the IMU with unknown values.
    public init() {}
}

/// Joint angles and their source.
public struct JointStatus: Hashable, Sendable, Codable {
    /// Value of `source` if no sensor and no motor measures the joint angles.
    public static let estimated =
        "estimated from the camera's attitude, assuming an upright handle"

    /// Joint angles, degrees. If the camera is aligned with the handle, all joint angles are zero.
    public var angleDeg = AxisNumbers()
    /// Source of the angles: `encoders`, `servo command`, `field angle`, `handle IMU` or the text
    /// `estimated`.
    public var source = ""
    /// Lower end of each joint's range.
    public var minimumDeg = AxisNumbers()
    /// Upper end of each joint's range.
    public var maximumDeg = AxisNumbers()
    /// Current problem of the encoders, such as "the encoder of pitch has no magnet"; absent if
    /// there is none.
    public var encoderFailure: String?
    /// Numbers of failed encoder readings, by axis and reason, such as `pitch_no_answer` or
    /// `pitch_no_magnet`; empty without encoders.
    public var encoderFaults: [String: Int] = [:]

    /// Creates a status of the joints with unknown values.
    public init() {}
}

/// Motor commands and motor properties.
public struct MotorStatus: Hashable, Sendable, Codable {
    /// Value of the setting `motors.type`.
    public var type = ""
    /// Torque on the camera side of each joint, N·m.
    public var torqueNm = AxisNumbers()
    /// Torque limit of each motor, N·m.
    public var torqueLimitNm = AxisNumbers()
    /// Measured or configured inertia about the camera's axes, kg·m²; only for `motors.type =
    /// "torque"`.
    public var inertiaKgM2 = AxisNumbers()
    /// Standard deviation of the inertia, percent; 0 for a configured inertia.
    public var inertiaSigmaPercent = AxisNumbers()
    /// Estimated Coulomb friction of each joint, N·m; 0 means no compensation.
    public var frictionNm = AxisNumbers()
    /// Estimated imbalance, camera frame, g·m: mass times offset of the centre of mass from the
    /// joint axes; only for `motors.type = "torque"`.
    public var imbalanceGm = VectorNumbers()
    /// Motor noise: RMS of the feedback moment above 50 Hz about the camera's axes, N·m; only for
    /// `motors.type = "torque"`.
    public var humNm = AxisNumbers()
    /// Stiffness reduction about each camera axis to limit the motor noise, percent of the largest
    /// reduction; 0 means no reduction. 100 in a loop that is too slow for the lag compensator.
    public var calmPercent = AxisNumbers()
    /// Corner frequencies of the controller, percent of the tuned ones; less than 100 after an
    /// oscillation, and if the loop delay is longer than configured. Unknown for servos.
    public var bandwidthPercent: Number = .unknown
    /// Fraction of the handle's fast motion that the servo commands compensate, about the handle's
    /// axes, percent.
    public var followedPercent = AxisNumbers()
    /// Description of the independent motor cut-off for a hanging bus, or `noCutOff`; absent for
    /// simulated motors.
    public var cutOff: String?

    /// Text of `cutOff` if the motors cannot be switched off while their bus hangs.
    public static let noCutOff = "cannot be switched off if the bus hangs"

    /// Creates a status of the motors with unknown values.
    public init() {}
}
