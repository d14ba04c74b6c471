/// A set of named conditions, each of which can prevent or limit motion. `status`, the socket and
/// the log show the conditions.
///
/// The set operations are written out: those of `OptionSet` are generic, and the checker of
/// real-time code rejects them in debug builds.
public struct Conditions: Hashable, Sendable, BitwiseCopyable {
    /// The set as bits.
    public var rawValue: UInt64

    /// The set with these bits.
    @inlinable @_noLocks
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The empty set.
    @inlinable public static var none: Conditions { @_noLocks get { Conditions(rawValue: 0) } }

    /// The union of both sets.
    @inlinable @_noLocks
    public static func | (a: Conditions, b: Conditions) -> Conditions {
        Conditions(rawValue: a.rawValue | b.rawValue)
    }

    /// Adds `other`.
    @inlinable @_noLocks
    public mutating func insert(_ other: Conditions) { rawValue |= other.rawValue }

    /// Removes the conditions of `other`.
    @inlinable @_noLocks
    public func subtracting(_ other: Conditions) -> Conditions {
        Conditions(rawValue: rawValue & ~other.rawValue)
    }

    /// Whether the two sets have a condition in common.
    @inlinable @_noLocks
    public func intersects(_ other: Conditions) -> Bool { rawValue & other.rawValue != 0 }

    /// Whether the set is empty.
    @inlinable
    public var isEmpty: Bool { @_noLocks get { rawValue == 0 } }

    /// The mode is `inactive`: no motion is requested.
    @inlinable public static var inactiveMode: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 0) }
    }
    /// The dead-man of a rate command has expired, so the set-point stands still.
    @inlinable public static var commandExpired: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 1) }
    }
    /// A motor's command exceeds its torque limit.
    @inlinable public static var motorSaturated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 2) }
    }
    /// A joint is at a limit of its range.
    @inlinable public static var jointLimit: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 3) }
    }
    /// The loop missed its period.
    @inlinable public static var loopOverrun: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 4) }
    }
    /// The attitude estimate has not converged yet.
    @inlinable public static var estimateNotConverged: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 5) }
    }
    /// No IMU sample has arrived since the start.
    @inlinable public static var imuMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 6) }
    }
    /// The last IMU sample is too old.
    @inlinable public static var imuStale: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 7) }
    }
    /// Consecutive IMU samples are identical to the bit: the sensor is frozen.
    @inlinable public static var imuFrozen: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 8) }
    }
    /// An IMU value is NaN, infinite or outside the sensor's range.
    @inlinable public static var imuImplausible: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 9) }
    }
    /// The clock of the samples ran backwards or jumped.
    @inlinable public static var imuTimeFault: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 10) }
    }
    /// The bus reports errors.
    @inlinable public static var busError: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 11) }
    }
    /// Emergency stop, latched until it is reset.
    @inlinable public static var emergencyStop: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 12) }
    }
    /// The process is ending.
    @inlinable public static var shutdown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 13) }
    }
    /// The gyroscope is, or was a moment ago, at full scale, so the attitude is wrong by an unknown
    /// angle.
    @inlinable public static var imuSaturated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 14) }
    }
    /// A motor is hot, so its torque is limited.
    @inlinable public static var motorHot: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 18) }
    }
    /// The inertia is being identified; until then the camera is held where it is.
    @inlinable public static var inertiaUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 17) }
    }
    /// Autotune is exciting an axis.
    @inlinable public static var autotuning: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 19) }
    }
    /// A calibration is in progress: the camera is turned by hand, or must be still.
    @inlinable public static var calibrating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 15) }
    }
    /// Gravity contradicted the attitude estimate, so the estimate starts again.
    @inlinable public static var gravityMismatch: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 16) }
    }
    /// In lockstep: no simulator is connected.
    @inlinable public static var simulatorMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 20) }
    }
    /// In lockstep: the simulator has not sent a line within its time limit.
    @inlinable public static var simulatorSilent: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 21) }
    }
    /// The joints' encoders were present at the start and have stopped delivering.
    @inlinable public static var encoderMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 22) }
    }
    /// The IMU on the handle was present at the start and has stopped delivering.
    @inlinable public static var handleIMUMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 23) }
    }
    /// A motor without encoder has lost its rotor; the field searches for it.
    @inlinable public static var motorSlipped: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 28) }
    }
    /// The magnetometer was present at the start and has stopped delivering.
    @inlinable public static var magnetometerMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 24) }
    }
    /// The boot mode needs joint angles, and there is no source for them; the mode is `locked`
    /// instead.
    @inlinable public static var bootModeUnavailable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 25) }
    }
    /// The mode follows the handle, but joint angles are no longer available; the camera is held as
    /// in `locked`.
    @inlinable public static var jointsUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 26) }
    }
    /// The joints are at their rest pose, where the outputs were requested to go off.
    @inlinable public static var retracted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 27) }
    }
    /// The camera moves opposite to a motor's command; latched until it is reset.
    @inlinable public static var responseReversed: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 29) }
    }
    /// The loop has missed its period repeatedly; latched until it is reset.
    @inlinable public static var loopUnreliable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 30) }
    }
    /// A motor has been at its limit for seconds, and its joint does not move.
    @inlinable public static var motorStalled: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 31) }
    }
    /// A controller's output was not a number or beyond its limit; latched until it is reset.
    @inlinable public static var controlFault: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 33) }
    }
    /// The servos cannot reach the joint angles that the camera's attitude requires; if they came
    /// on, the camera would jump.
    @inlinable public static var jointsOutOfReach: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 32) }
    }
    /// Joints or motors contradict the gyroscope, so it is not used until the camera is calm.
    @inlinable public static var gyroContradicted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 34) }
    }
    /// The control loop oscillates; its gains are lowered, and the properties that they depend on
    /// are measured again.
    @inlinable public static var loopOscillating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 40) }
    }
    /// The identification of the inertia has failed; the camera is held softly, and the
    /// identification is repeated later.
    @inlinable public static var inertiaNotFound: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 41) }
    }
    /// The attitude is doubtful. Either the measured direction of gravity has jumped without a turn
    /// of the gyroscope, so the accelerometer is not used; or it has differed from the estimate for
    /// longer than motion explains.
    @inlinable public static var attitudeDoubtful: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 42) }
    }
    /// Samples arrive more slowly than the loop runs; the gains are those of a loop at the samples'
    /// rate.
    @inlinable public static var samplesSlow: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 43) }
    }
    /// The saved inertia or delay belongs to another camera; the measured values are used.
    @inlinable public static var tuningStale: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 44) }
    }
    /// Motors without encoders have lost their rotors and flung the camera; the motors are off
    /// until the camera hangs still.
    @inlinable public static var rotorLost: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 45) }
    }
}
