/// A set of named conditions. Some conditions prevent or limit motion; others are only reported.
/// `status`, the socket and the log show the conditions.
///
/// This type implements its own set operations. The real-time checker rejects the generic
/// operations of `OptionSet` in debug builds.
public struct Conditions: Hashable, Sendable, BitwiseCopyable {
    /// The set as bits.
    public var rawValue: UInt64

    /// Creates a set from its bits.
    @inlinable @_noLocks
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The empty set.
    @inlinable public static var none: Conditions { @_noLocks get { Conditions(rawValue: 0) } }

    /// The union of two sets.
    @inlinable @_noLocks
    public static func | (a: Conditions, b: Conditions) -> Conditions {
        Conditions(rawValue: a.rawValue | b.rawValue)
    }

    /// Adds `other`.
    @inlinable @_noLocks
    public mutating func insert(_ other: Conditions) { rawValue |= other.rawValue }

    /// The conditions of this set that are not in `other`.
    @inlinable @_noLocks
    public func subtracting(_ other: Conditions) -> Conditions {
        Conditions(rawValue: rawValue & ~other.rawValue)
    }

    /// The conditions that both sets contain.
    @inlinable @_noLocks
    public func intersection(_ other: Conditions) -> Conditions {
        Conditions(rawValue: rawValue & other.rawValue)
    }

    /// True if the two sets have a condition in common.
    @inlinable @_noLocks
    public func intersects(_ other: Conditions) -> Bool { rawValue & other.rawValue != 0 }

    /// True if the set is empty.
    @inlinable
    public var isEmpty: Bool { @_noLocks get { rawValue == 0 } }

    /// The mode is `inactive`: no motion is requested.
    @inlinable public static var inactiveMode: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 0) }
    }
    /// The dead-man time of a rate command has expired, and the set-point does not move.
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
    /// The control loop has missed a period.
    @inlinable public static var loopOverrun: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 4) }
    }
    /// The attitude estimate has not converged yet.
    @inlinable public static var estimateNotConverged: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 5) }
    }
    /// No IMU sample has arrived since start-up.
    @inlinable public static var imuMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 6) }
    }
    /// The newest IMU sample is too old.
    @inlinable public static var imuStale: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 7) }
    }
    /// Consecutive IMU samples are bit-identical, so the sensor counts as frozen.
    @inlinable public static var imuFrozen: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 8) }
    }
    /// An IMU value is NaN, infinite or outside the sensor's range; or several samples contradict
    /// the camera's known motion.
    @inlinable public static var imuImplausible: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 9) }
    }
    /// The time stamps of the samples went backwards or have a gap.
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
    /// The process is shutting down.
    @inlinable public static var shutdown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 13) }
    }
    /// A gyroscope axis is or was recently at full scale, so the attitude error is unknown.
    @inlinable public static var imuSaturated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 14) }
    }
    /// A motor is hot, and its torque is limited.
    @inlinable public static var motorHot: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 18) }
    }
    /// The inertia is being identified; until it is known, the controller holds the camera at its
    /// present attitude.
    @inlinable public static var inertiaUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 17) }
    }
    /// Autotune is exciting an axis.
    @inlinable public static var autotuning: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 19) }
    }
    /// A calibration is in progress: the user turns the camera by hand, or the camera must be
    /// still.
    @inlinable public static var calibrating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 15) }
    }
    /// The measured gravity contradicted the attitude estimate, so the estimator starts again.
    @inlinable public static var gravityMismatch: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 16) }
    }
    /// In lockstep mode, no simulator is connected.
    @inlinable public static var simulatorMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 20) }
    }
    /// In lockstep mode, the simulator has not sent a line within its time limit.
    @inlinable public static var simulatorSilent: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 21) }
    }
    /// The joints' encoders were present at start-up, but no longer deliver angles.
    @inlinable public static var encoderMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 22) }
    }
    /// The IMU on the handle was present at start-up, but no longer delivers samples.
    @inlinable public static var handleIMUMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 23) }
    }
    /// The rotor of a motor without encoder no longer follows the magnetic field; the controller
    /// searches for the rotor's position.
    @inlinable public static var motorSlipped: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 28) }
    }
    /// The magnetometer is configured or was present, but delivers no measurements.
    @inlinable public static var magnetometerMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 24) }
    }
    /// The boot mode needs joint angles, but no source of joint angles exists; the mode is
    /// therefore `locked`.
    @inlinable public static var bootModeUnavailable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 25) }
    }
    /// The mode follows the handle, but joint angles are no longer available; the controller holds
    /// the camera as in `locked`.
    @inlinable public static var jointsUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 26) }
    }
    /// The joints have reached their rest pose, and the outputs are switched off, as requested.
    @inlinable public static var retracted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 27) }
    }
    /// The camera moves opposite to a motor's command; this fault is latched until it is reset.
    @inlinable public static var responseReversed: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 29) }
    }
    /// The control loop has missed its period repeatedly; this fault is latched until it is reset.
    @inlinable public static var loopUnreliable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 30) }
    }
    /// A motor has been at its torque limit for 3 s, but the camera does not move.
    @inlinable public static var motorStalled: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 31) }
    }
    /// A controller's output was not a number, or exceeded its limit; this fault is latched until
    /// it is reset.
    @inlinable public static var controlFault: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 33) }
    }
    /// The servos cannot reach the joint angles that the camera's attitude requires. The servos
    /// stay off, because the camera would jump if they were switched on.
    @inlinable public static var jointsOutOfReach: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 32) }
    }
    /// Joints or motors contradict the gyroscope (see `GyroWitness`). The gyroscope is not used
    /// until its rate has been low for 0.1 s while the outputs are off.
    @inlinable public static var gyroContradicted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 34) }
    }
    /// The control loop oscillates. The controller lowers its gains. The controller measures the
    /// inertia and the delay again, because the gains depend on both.
    @inlinable public static var loopOscillating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 40) }
    }
    /// The identification of the inertia has failed. The controller holds the camera with low
    /// gains, and repeats the identification later.
    @inlinable public static var inertiaNotFound: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 41) }
    }
    /// The attitude is doubtful. The measured direction of gravity jumped while the gyroscope
    /// measured no rotation, or it has deviated from the estimate for longer than motion can
    /// explain. After a jump of the measured direction, the accelerometer is not used.
    @inlinable public static var attitudeDoubtful: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 42) }
    }
    /// Samples arrive more slowly than the loop runs; the controller uses the gains for a loop at
    /// the sample rate.
    @inlinable public static var samplesSlow: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 43) }
    }
    /// The saved inertia or delay does not fit the present camera; the controller uses the measured
    /// values.
    @inlinable public static var tuningStale: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 44) }
    }
    /// The rotors of motors without encoders did not follow the magnetic field, and the camera was
    /// flung. The motors stay off until the camera hangs still.
    @inlinable public static var rotorLost: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 45) }
    }
    /// A hand turns the camera, and the set-point follows the hand.
    @inlinable public static var cameraPushed: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 46) }
    }
    /// A drive, a servo or the motor board has sent nothing for three periods, or 15 ms on a serial line.
    @inlinable public static var driveSilent: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 50) }
    }
    /// A drive, a servo or the motor board reports a fault, or remains off after a command to
    /// switch it on.
    @inlinable public static var driveFault: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 51) }
    }
    /// The CAN controller is in the bus-off state, or its network interface is down.
    @inlinable public static var canBusOff: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 52) }
    }
    /// The CAN controller has reported an error within the last second.
    @inlinable public static var canErrors: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 53) }
    }
    /// The serial port of the motors is missing.
    @inlinable public static var motorPortLost: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 54) }
    }
    /// Damaged bytes have arrived on the motors' serial line within the last second.
    @inlinable public static var motorBytesDamaged: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 55) }
    }
    /// A servo or the motor board reports an overloaded motor.
    @inlinable public static var driveOverload: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 56) }
    }
    /// A servo or the motor board reports an excessive temperature.
    @inlinable public static var driveOverheated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 57) }
    }
    /// A servo or the motor board reports a supply voltage outside its range.
    @inlinable public static var driveVoltage: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 58) }
    }
    /// The supply voltage of the motors is low; requested motion is slower.
    @inlinable public static var supplyLow: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 59) }
    }
    /// The supply voltage of the motors is too low: the camera moves to its rest pose, and the
    /// motors are then switched off.
    @inlinable public static var supplyEmpty: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 60) }
    }
    /// The supply of the drives is off, or was switched on so recently that the drives are not
    /// expected to answer.
    @inlinable public static var drivesStarting: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 61) }
    }
    /// A drive has not confirmed the timeout of its watchdog, which airframed sets.
    @inlinable public static var driveUnguarded: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 62) }
    }
}
