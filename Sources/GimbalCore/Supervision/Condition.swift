/// Everything that can stand between a command and motion, by name. Shown in `status`, on the socket and in the log.
///
/// A set with the operations written out: those of `OptionSet` are generic, and the loop's checker refuses them in
/// debug builds.
public struct Conditions: Hashable, Sendable, BitwiseCopyable {
    /// The set as bits.
    public var rawValue: UInt64

    /// The set with these bits.
    @inlinable @_noLocks
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Nothing holds.
    @inlinable public static var none: Conditions { @_noLocks get { Conditions(rawValue: 0) } }

    /// Both sets together.
    @inlinable @_noLocks
    public static func | (a: Conditions, b: Conditions) -> Conditions {
        Conditions(rawValue: a.rawValue | b.rawValue)
    }

    /// Adds `other`.
    @inlinable @_noLocks
    public mutating func insert(_ other: Conditions) { rawValue |= other.rawValue }

    /// What is left without `other`.
    @inlinable @_noLocks
    public func subtracting(_ other: Conditions) -> Conditions {
        Conditions(rawValue: rawValue & ~other.rawValue)
    }

    /// Whether any of `other` holds.
    @inlinable @_noLocks
    public func intersects(_ other: Conditions) -> Bool { rawValue & other.rawValue != 0 }

    /// Whether nothing holds.
    @inlinable
    public var isEmpty: Bool { @_noLocks get { rawValue == 0 } }

    /// The mode is `inactive`: nobody asked for motion.
    @inlinable public static var inactiveMode: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 0) }
    }
    /// A rate command outlived its dead-man; the set-point stands still.
    @inlinable public static var commandExpired: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 1) }
    }
    /// A motor asks for more than its torque limit.
    @inlinable public static var motorSaturated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 2) }
    }
    /// A joint is at the end of its range.
    @inlinable public static var jointLimit: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 3) }
    }
    /// The loop missed its period.
    @inlinable public static var loopOverrun: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 4) }
    }
    /// The attitude estimate has not settled yet.
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
    /// NaN, infinity, or a value outside the sensor's range.
    @inlinable public static var imuImplausible: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 9) }
    }
    /// The samples' clock ran backwards or jumped.
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
    /// The gyroscope is, or was a moment ago, at the end of its range: the attitude has lost an unknown angle.
    @inlinable public static var imuSaturated: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 14) }
    }
    /// A motor is so hot that its torque is limited.
    @inlinable public static var motorHot: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 18) }
    }
    /// The inertia is being looked for; the camera is held where it is.
    @inlinable public static var inertiaUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 17) }
    }
    /// An axis is shaken to find its tuning.
    @inlinable public static var autotuning: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 19) }
    }
    /// A calibration is going on: the camera is turned by hand, or must be still.
    @inlinable public static var calibrating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 15) }
    }
    /// Gravity was somewhere else than the estimate said, which starts again.
    @inlinable public static var gravityMismatch: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 16) }
    }
    /// In lockstep: no simulator is connected.
    @inlinable public static var simulatorMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 20) }
    }
    /// In lockstep: the simulator has sent no line for longer than it may.
    @inlinable public static var simulatorSilent: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 21) }
    }
    /// The encoders of the joints were there at the start and have stopped delivering.
    @inlinable public static var encoderMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 22) }
    }
    /// The IMU on the handle was there at the start and has stopped delivering.
    @inlinable public static var handleIMUMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 23) }
    }
    /// A motor without encoder has lost its rotor; the field looks for it again.
    @inlinable public static var motorSlipped: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 28) }
    }
    /// The magnetometer was there at the start and has stopped delivering.
    @inlinable public static var magnetometerMissing: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 24) }
    }
    /// The boot mode needs the joints, and nothing shows them: the mode is `locked` in its place.
    @inlinable public static var bootModeUnavailable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 25) }
    }
    /// The mode follows the handle, and nothing shows the joints any more: the camera holds as in `locked`.
    @inlinable public static var jointsUnknown: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 26) }
    }
    /// The joints are at their pose of rest, and the outputs were to go off there.
    @inlinable public static var retracted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 27) }
    }
    /// The camera goes the other way than a motor was told to take it; latched until it is reset.
    @inlinable public static var responseReversed: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 29) }
    }
    /// The loop has missed its period again and again; latched until it is reset.
    @inlinable public static var loopUnreliable: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 30) }
    }
    /// A motor has been at its limit for long, and the joint does not move.
    @inlinable public static var motorStalled: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 31) }
    }
    /// The controllers made an output that is no number or beyond its limit; latched until it is reset.
    @inlinable public static var controlFault: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 33) }
    }
    /// The servos cannot be where the camera says they are; they would jump.
    @inlinable public static var jointsOutOfReach: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 32) }
    }
    /// Joints or motors contradict the gyroscope; it is believed again once the camera is calm.
    @inlinable public static var gyroContradicted: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 34) }
    }
    /// The loop swings by what its own motors do: its gains are lowered, and what they rest on is measured anew.
    @inlinable public static var loopOscillating: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 40) }
    }
    /// The search for the inertia has ended without a result; the camera is held softly, and the search begins again later.
    @inlinable public static var inertiaNotFound: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 41) }
    }
    /// Gravity has jumped without a turn of the gyroscope, so that the accelerometer is not used, or has leaned away from the
    /// estimate for longer than motion explains.
    @inlinable public static var attitudeDoubtful: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 42) }
    }
    /// Samples come more slowly than the loop runs; the gains are those of a loop as slow as the samples.
    @inlinable public static var samplesSlow: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 43) }
    }
    /// The camera is not the one that the saved inertia or delay belongs to; what was measured is in force.
    @inlinable public static var tuningStale: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 44) }
    }
    /// Motors without encoders have lost their rotors and flung the camera; they are off until it hangs calm.
    @inlinable public static var rotorLost: Conditions {
        @_noLocks get { Conditions(rawValue: 1 << 45) }
    }
}
