internal import CMathShim

/// Kinematics of the three joints at one pose. Joint rates are mapped to the camera's rate, joint
/// torques to the moment on the camera, and vice versa.
///
/// The order of the joints from handle to camera is yaw about z, roll about x, pitch about y. Thus
/// `q_camera = q_handle * Rz(yaw) * Rx(roll) * Ry(pitch)`. All vectors are in the camera frame. The
/// links between the joints are assumed to be massless, so the torque of each motor equals the
/// moment about its axis.
///
/// At roll ±90°, the yaw and pitch axes are parallel, and the camera cannot be turned about the
/// third direction. Within 3° of roll ±90°, the mapping is evaluated as if roll were 3° away from
/// ±90°. Therefore rates and torques remain bounded.
public struct JointKinematics: Sendable, BitwiseCopyable {
    /// Direction of the yaw joint's axis, unit length.
    public let yawAxis: Vector3
    /// Direction of the roll joint's axis, unit length.
    public let rollAxis: Vector3
    /// Cosines and sines of the joint angles; the absolute value of `cosRoll` is at least
    /// `smallestCosine`.
    private let cosRoll, sinRoll, cosPitch, sinPitch: Double

    /// Smallest cosine that the mapping uses near the singularity.
    private static var smallestCosine: Double { 0.05 }

    /// Creates the geometry at the given joint angles.
    ///
    /// - Parameter joints: Joint angles, rad; the yaw angle has no effect.
    @_noLocks @_noAllocation
    public init(joints: AxisVector) {
        let roll = cm_sincos(joints.roll)
        let pitch = cm_sincos(joints.pitch)
        let cosine = roll.cos
        sinRoll = roll.sin
        cosPitch = pitch.cos
        sinPitch = pitch.sin
        yawAxis = Vector3(-cosine * sinPitch, sinRoll, cosine * cosPitch)
        rollAxis = Vector3(cosPitch, 0, sinPitch)
        if cosine >= 0 {
            cosRoll = max(cosine, JointKinematics.smallestCosine)
        } else {
            cosRoll = min(cosine, -JointKinematics.smallestCosine)
        }
    }

    /// Direction of the pitch joint's axis: the camera's own y axis.
    public var pitchAxis: Vector3 { @_noLocks @_noAllocation get { Vector3(0, 1, 0) } }

    /// Camera attitude relative to the handle.
    ///
    /// - Parameter joints: Joint angles, rad.
    /// - Returns: Unit quaternion, camera to handle.
    @_noLocks @_noAllocation
    public static func attitude(joints: AxisVector) -> Quaternion { EulerZXY.quaternion(joints) }

    /// Joint angles for a camera attitude relative to the handle; roll in -π/2...π/2.
    ///
    /// - Parameter attitude: Unit quaternion, camera to handle.
    /// - Returns: Joint angles, rad.
    @_noLocks @_noAllocation
    public static func joints(attitude: Quaternion) -> AxisVector { EulerZXY.angles(attitude) }

    /// The camera's angular rate relative to the handle, from the joint rates.
    ///
    /// - Parameter jointRates: Rates of the joints, rad/s.
    /// - Returns: Angular rate, camera frame, rad/s.
    @_noLocks @_noAllocation
    public func relativeRate(jointRates: AxisVector) -> Vector3 {
        yawAxis * jointRates.yaw + rollAxis * jointRates.roll + pitchAxis * jointRates.pitch
    }

    /// Joint rates for a rate of the camera relative to the handle.
    ///
    /// - Parameter rate: Camera's rate relative to the handle, camera frame, rad/s.
    /// - Returns: Joint rates, rad/s.
    @_noLocks @_noAllocation
    public func jointRates(relativeRate rate: Vector3) -> AxisVector {
        let yaw = (cosPitch * rate.z - sinPitch * rate.x) / cosRoll
        return AxisVector(
            yaw: yaw,
            roll: cosPitch * rate.x + sinPitch * rate.z,
            pitch: rate.y - sinRoll * yaw)
    }

    /// The joint torques that exert `moment` on the camera.
    ///
    /// - Parameter moment: Moment on the camera, camera frame, N·m.
    /// - Returns: Torque on the camera's side of each joint, N·m.
    @_noLocks @_noAllocation
    public func torques(moment: Vector3) -> AxisVector {
        AxisVector(
            yaw: yawAxis.dot(moment), roll: rollAxis.dot(moment), pitch: moment.y)
    }

    /// The moment that the joints exert on the camera.
    ///
    /// - Parameter torques: Torque on the camera's side of each joint, N·m.
    /// - Returns: Moment on the camera, camera frame, N·m.
    @_noLocks @_noAllocation
    public func moment(torques: AxisVector) -> Vector3 {
        let across = (torques.yaw - sinRoll * torques.pitch) / cosRoll
        return Vector3(
            cosPitch * torques.roll - sinPitch * across,
            torques.pitch,
            sinPitch * torques.roll + cosPitch * across)
    }

    /// Components of the camera's rate about the joint axes.
    ///
    /// - Parameter rate: Rate of the camera, camera frame, rad/s.
    /// - Returns: Component about each joint's axis, rad/s.
    @_noLocks @_noAllocation
    public func components(of rate: Vector3) -> AxisVector {
        AxisVector(yaw: yawAxis.dot(rate), roll: rollAxis.dot(rate), pitch: rate.y)
    }

    /// The joints whose axes are nearest to the given axes of the camera. If the camera points more
    /// than 45° up or down, roll and yaw are swapped, so the same mapping also gives the camera axes
    /// nearest to given joints.
    ///
    /// - Parameter axes: Axes of the camera.
    /// - Returns: The joints.
    @_noLocks @_noAllocation
    func joints(nearest axes: AxisSet) -> AxisSet {
        guard abs(sinPitch) > abs(cosPitch) else { return axes }
        return AxisSet(
            yaw: axes.contains(.roll), roll: axes.contains(.yaw), pitch: axes.contains(.pitch))
    }

    /// Weights of the camera's reciprocal inertias, about the camera's axes, in the response of the
    /// rate about a joint's axis to the torque of this joint's motor. The other joints move freely.
    ///
    /// - Parameter axis: The joint.
    /// - Returns: Three weights, camera frame; their sum is 1.
    @_noLocks @_noAllocation
    func weights(_ axis: GimbalAxis) -> Vector3 {
        let (across, along) = (sinPitch * sinPitch, cosPitch * cosPitch)
        return switch axis {
        case .yaw: Vector3(across, 0, along)
        case .roll: Vector3(along, 0, across)
        case .pitch: Vector3(0, 1, 0)
        }
    }

    /// The camera's inertia about each joint's axis.
    ///
    /// - Parameter inertia: Inertia about the camera's axes, kg·m².
    /// - Returns: Inertia about the joints' axes, kg·m². For example, if the camera points straight
    ///   up, the roll joint turns the camera about the camera's yaw axis. The inertia values of
    ///   roll and yaw are then swapped.
    @_noLocks @_noAllocation
    public func inertia(from inertia: AxisVector) -> AxisVector {
        let a = yawAxis
        let b = rollAxis
        return AxisVector(
            yaw: a.x * a.x * inertia.roll + a.y * a.y * inertia.pitch + a.z * a.z * inertia.yaw,
            roll: b.x * b.x * inertia.roll + b.z * b.z * inertia.yaw, pitch: inertia.pitch)
    }
}
