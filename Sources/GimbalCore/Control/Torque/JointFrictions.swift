/// The friction of all three joints: fed forward, and learned.
///
/// Loop thread only; constant time, no allocation.
struct JointFrictions: Sendable, BitwiseCopyable {
    /// The same for every joint.
    var parameters = FrictionCompensator.Parameters()

    private var yaw = FrictionCompensator()
    private var roll = FrictionCompensator()
    private var pitch = FrictionCompensator()

    /// Joints of unknown friction.
    init() {}

    /// As learned so far, N·m.
    var sizes: AxisVector {
        @_noLocks get { AxisVector(yaw: yaw.size, roll: roll.size, pitch: pitch.size) }
    }

    /// The torques that overcome the friction, N·m, for measured joint angles in rad.
    @_noLocks @_noAllocation
    mutating func torques(joints: AxisVector, astray: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yaw.torque(joint: joints.yaw, astray: astray.yaw, parameters: parameters, dt: dt),
            roll: roll.torque(
                joint: joints.roll, astray: astray.roll, parameters: parameters, dt: dt),
            pitch: pitch.torque(
                joint: joints.pitch, astray: astray.pitch, parameters: parameters, dt: dt))
    }

    /// The same for measured joint rates, rad/s.
    @_noLocks @_noAllocation
    mutating func torques(jointRates: AxisVector, astray: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yaw.torque(
                rate: jointRates.yaw, astray: astray.yaw, parameters: parameters, dt: dt),
            roll: roll.torque(
                rate: jointRates.roll, astray: astray.roll, parameters: parameters, dt: dt),
            pitch: pitch.torque(
                rate: jointRates.pitch, astray: astray.pitch, parameters: parameters, dt: dt))
    }

    /// Learns from the torques that the motors have exerted beyond what has accelerated the camera,
    /// N·m.
    @_noLocks @_noAllocation
    mutating func learn(residual: AxisVector, dt: Double) {
        yaw.learn(residual: residual.yaw, parameters: parameters, dt: dt)
        roll.learn(residual: residual.roll, parameters: parameters, dt: dt)
        pitch.learn(residual: residual.pitch, parameters: parameters, dt: dt)
    }

    /// Forgets the motion, keeps what was learned.
    @_noLocks @_noAllocation
    mutating func reset() {
        yaw.reset()
        roll.reset()
        pitch.reset()
    }
}
