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
    mutating func torques(joints: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yaw.torque(joint: joints.yaw, parameters: parameters, dt: dt),
            roll: roll.torque(joint: joints.roll, parameters: parameters, dt: dt),
            pitch: pitch.torque(joint: joints.pitch, parameters: parameters, dt: dt))
    }

    /// The same for measured joint rates, rad/s.
    @_noLocks @_noAllocation
    mutating func torques(jointRates: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yaw.torque(rate: jointRates.yaw, parameters: parameters, dt: dt),
            roll: roll.torque(rate: jointRates.roll, parameters: parameters, dt: dt),
            pitch: pitch.torque(rate: jointRates.pitch, parameters: parameters, dt: dt))
    }

    /// Learns from the torques that the feedback still adds on each joint, N·m.
    @_noLocks @_noAllocation
    mutating func learn(feedback: AxisVector, dt: Double) {
        yaw.learn(feedback: feedback.yaw, parameters: parameters, dt: dt)
        roll.learn(feedback: feedback.roll, parameters: parameters, dt: dt)
        pitch.learn(feedback: feedback.pitch, parameters: parameters, dt: dt)
    }

    /// Forgets the motion, keeps what was learned.
    @_noLocks @_noAllocation
    mutating func reset() {
        yaw.reset()
        roll.reset()
        pitch.reset()
    }
}
