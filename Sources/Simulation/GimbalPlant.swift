internal import CMathShim
public import GimbalCore

/// Mechanics of the gimbal: a rigid camera on three joints with massless links, carried by a handle
/// with prescribed motion.
///
/// The state consists of the camera's attitude and rate; the joint angles are computed from the
/// attitudes of camera and handle. The semi-implicit Euler method integrates the state, by default
/// at 8 kHz.
public struct GimbalPlant: Sendable {
    /// Inertia, friction and limits. The default values describe the plant that this project's
    /// tests and benchmarks use.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Moments of inertia about the camera's axes, kg·m².
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Products of inertia Ixy, Ixz and Iyz, kg·m², in this order.
        public var inertiaProducts = Vector3.zero
        /// Friction of the yaw joint.
        public var yawFriction = JointFriction.Parameters()
        /// Friction of the roll joint.
        public var rollFriction = JointFriction.Parameters()
        /// Friction of the pitch joint.
        public var pitchFriction = JointFriction.Parameters()
        /// Static imbalance, kg·m, camera frame: mass times the offset of the centre of mass from
        /// the intersection of the joints' axes. At 1 g, each component of the default imbalance
        /// causes a torque of 5 mN·m.
        public var imbalance = Vector3(5e-3 / 9.81, 5e-3 / 9.81, 5e-3 / 9.81)
        /// Cogging torque of the motors.
        public var cogging = Cogging()
        /// Stiffness of the cables, N·m/rad. The cables exert no torque at joint angle zero.
        public var cableStiffness = AxisVector(repeating: 5e-3)
        /// Largest motor torque, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Mechanical range of each joint, ± rad.
        public var jointRange = AxisVector(yaw: 6, roll: 1.2, pitch: 2.4)
        /// Stiffness of the mechanical stops, N·m/rad. The stops are critically damped.
        public var stopStiffness = 20.0
        /// Integration steps per second, at least 4000.
        public var stepRate = 8000.0

        /// Creates the parameters of the default plant.
        public init() {}

        /// Friction of the joints. A write sets the friction of all three joints; a read returns
        /// the friction of the pitch joint.
        public var friction: JointFriction.Parameters {
            get { pitchFriction }
            set {
                yawFriction = newValue
                rollFriction = newValue
                pitchFriction = newValue
            }
        }

        /// Multiplies the inertia, the friction of all joints and the imbalance by factors.
        public mutating func scale(
            inertia: Double = 1, friction factor: Double = 1, imbalance: Double = 1
        ) {
            self.inertia = self.inertia * inertia
            inertiaProducts = inertiaProducts * inertia
            self.imbalance = self.imbalance * imbalance
            var joint = friction
            joint.coulomb *= factor
            joint.stiction *= factor
            joint.viscous *= factor
            friction = joint
        }
    }

    /// Torques on the plant in one step.
    public struct Drive: Sendable, BitwiseCopyable {
        /// Motor torques on the camera's side of each joint, N·m; the plant limits these torques.
        public var torque: AxisVector
        /// External moment on the camera, camera frame, N·m.
        public var push: Vector3

        /// Creates the torques of one step.
        public init(torque: AxisVector, push: Vector3 = .zero) {
            self.torque = torque
            self.push = push
        }
    }

    /// Standard gravity, m/s².
    public static var gravity: Double { 9.81 }

    /// Inertia, friction and limits of the plant.
    public private(set) var parameters: Parameters
    /// Attitude: rotation from the camera frame to the earth frame.
    public private(set) var attitude: Quaternion
    /// Angular rate, camera frame, rad/s.
    public private(set) var rate = Vector3.zero
    /// Joint angles, rad.
    public private(set) var joints: AxisVector
    /// Joint rates, rad/s.
    public private(set) var jointRates = AxisVector.zero

    private var tensor: InertiaTensor
    private var yawFriction: JointFriction
    private var rollFriction: JointFriction
    private var pitchFriction: JointFriction

    /// Creates a plant whose camera moves with the handle, at the given joint angles.
    ///
    /// - Parameters:
    ///   - parameters: Inertia, friction and limits of the plant.
    ///   - base: State of the handle at the start.
    ///   - joints: Joint angles at the start, rad.
    public init(parameters: Parameters, base: BaseMotion.State, joints: AxisVector = .zero) {
        self.parameters = parameters
        tensor = InertiaTensor(parameters)
        self.joints = joints
        let relative = JointKinematics.attitude(joints: joints)
        attitude = (base.attitude * relative).normalized
        rate = relative.inverseRotate(base.rate)
        yawFriction = JointFriction(parameters: parameters.yawFriction)
        rollFriction = JointFriction(parameters: parameters.rollFriction)
        pitchFriction = JointFriction(parameters: parameters.pitchFriction)
    }

    /// Specific force at the intersection of the joints' axes, where the sensor is mounted; camera
    /// frame, m/s².
    ///
    /// - Parameter base: Present state of the handle.
    /// - Returns: Specific force, m/s²; [0, 0, -9.81] at rest and level.
    public func specificForce(base: BaseMotion.State) -> Vector3 {
        attitude.inverseRotate(base.acceleration - Vector3(0, 0, GimbalPlant.gravity))
    }

    /// Multiplies the camera's inertia by `factor`, as if the camera were exchanged.
    mutating func scaleInertia(by factor: Double) {
        parameters.inertia = parameters.inertia * factor
        parameters.inertiaProducts = parameters.inertiaProducts * factor
        tensor = InertiaTensor(parameters)
    }

    /// Advances the plant by one step under the given torques.
    ///
    /// - Parameters:
    ///   - drive: Motor torques and external moments, constant over the step.
    ///   - base: State of the handle at the start of the step.
    ///   - dt: Duration of the step, s.
    public mutating func step(drive: Drive, base: BaseMotion.State, dt: Double) {
        let kinematics = updateJoints(base: base)
        let torque = jointTorque(motor: drive.torque.clamped(to: parameters.torqueLimit), dt: dt)
        let moment =
            kinematics.moment(torques: torque)
            - parameters.imbalance.cross(specificForce(base: base)) + drive.push
        rate += tensor.acceleration(moment - rate.cross(tensor.momentum(rate))) * dt
        attitude = (attitude * Quaternion(rotationVector: rate * dt)).normalized
    }

    /// Compute the motor torques that produce the given acceleration of the camera at the present
    /// instant. The computation includes all disturbances.
    ///
    /// - Parameters:
    ///   - acceleration: Desired angular acceleration, camera frame, rad/s².
    ///   - push: External moment on the camera, camera frame, N·m.
    ///   - base: Present state of the handle.
    ///   - dt: Time over which the friction is evaluated, s.
    /// - Returns: Torque of each joint, N·m, before the motors' limits.
    public func requiredTorque(
        acceleration: Vector3, push: Vector3, base: BaseMotion.State, dt: Double
    ) -> AxisVector {
        var copy = self
        let kinematics = copy.updateJoints(base: base)
        let passive = copy.jointTorque(motor: .zero, dt: dt)
        let needed =
            tensor.momentum(acceleration) + rate.cross(tensor.momentum(rate))
            + parameters.imbalance.cross(specificForce(base: base)) - push
        return kinematics.torques(moment: needed) - passive
    }

    /// Advances the plant by one step with prescribed joint angles, as if the actuators were
    /// infinitely stiff.
    ///
    /// - Parameters:
    ///   - joints: Joint angles at the end of the step, rad.
    ///   - jointRates: Joint rates, rad/s.
    ///   - base: State of the handle at the end of the step.
    public mutating func place(
        joints: AxisVector, jointRates: AxisVector, base: BaseMotion.State
    ) {
        self.joints = joints
        self.jointRates = jointRates
        let relative = JointKinematics.attitude(joints: joints)
        attitude = (base.attitude * relative).normalized
        rate =
            relative.inverseRotate(base.rate)
            + JointKinematics(joints: joints).relativeRate(jointRates: jointRates)
    }

    /// Computes joint angles and rates from the motion of camera and handle. Yaw and pitch are
    /// continuous across ±180°.
    private mutating func updateJoints(base: BaseMotion.State) -> JointKinematics {
        let relative = base.attitude.conjugate * attitude
        let wrapped = JointKinematics.joints(attitude: relative)
        joints = AxisVector(
            yaw: GimbalPlant.unwrap(wrapped.yaw, near: joints.yaw), roll: wrapped.roll,
            pitch: GimbalPlant.unwrap(wrapped.pitch, near: joints.pitch))
        let kinematics = JointKinematics(joints: joints)
        jointRates = kinematics.jointRates(
            relativeRate: rate - relative.inverseRotate(base.rate))
        return kinematics
    }

    private static func unwrap(_ angle: Double, near: Double) -> Double {
        let turns = cm_floor((near - angle) / (2 * .pi) + 0.5)
        return turns == 0 ? angle : angle + turns * 2 * .pi
    }

    private mutating func jointTorque(motor: AxisVector, dt: Double) -> AxisVector {
        let p = parameters
        let friction = AxisVector(
            yaw: yawFriction.torque(rate: jointRates.yaw, inertia: p.inertia.yaw, dt: dt),
            roll: rollFriction.torque(rate: jointRates.roll, inertia: p.inertia.roll, dt: dt),
            pitch: pitchFriction.torque(rate: jointRates.pitch, inertia: p.inertia.pitch, dt: dt))
        let stops = AxisVector(
            yaw: stop(joints.yaw, jointRates.yaw, p.jointRange.yaw, p.inertia.yaw),
            roll: stop(joints.roll, jointRates.roll, p.jointRange.roll, p.inertia.roll),
            pitch: stop(joints.pitch, jointRates.pitch, p.jointRange.pitch, p.inertia.pitch))
        let torque = motor + friction + stops - p.cableStiffness * joints
        return p.cogging.isNone ? torque : torque + p.cogging.torque(at: joints)
    }

    private func stop(
        _ angle: Double, _ rate: Double, _ range: Double, _ inertia: Double
    ) -> Double {
        let beyond = angle > range ? angle - range : angle < -range ? angle + range : 0
        guard beyond != 0 else { return 0 }
        return -parameters.stopStiffness * beyond
            - 2 * cm_sqrt(parameters.stopStiffness * inertia) * rate
    }
}
