/// Attitude and rate of the handle, computed from the camera's motion and the joint angles.
struct HandlePose: Sendable, BitwiseCopyable {
    /// Attitude, handle to earth.
    let attitude: Quaternion
    /// Angular rate of the handle, earth frame, rad/s, smoothed with a time constant of 0.1 s.
    let rate: Vector3
    /// Joint angles, rad.
    let joints: AxisVector
    /// True if the joint angles are derived from the motors' magnetic fields instead of encoders.
    /// Derived joint angles have an error equal to the load angle; after a rotor has slipped, the
    /// error also contains whole pole pairs.
    let isBelieved: Bool

    /// Creates a pose from the camera's attitude (body to earth) and the joint angles; nil if the
    /// joint angles are unknown.
    @_noLocks
    init?(camera: Quaternion, joints observed: JointObserver) {
        guard observed.isKnown else { return nil }
        joints = observed.motion.angles
        if case .fieldAngle = observed.source { isBelieved = true } else { isBelieved = false }
        attitude = camera * JointKinematics.attitude(joints: joints).conjugate
        rate = camera.rotate(observed.carryingRate)
    }

    /// Creates a pose from an attitude, a rate (by default zero) and joint angles.
    init(attitude: Quaternion, rate: Vector3 = .zero, joints: AxisVector) {
        self.attitude = attitude
        self.rate = rate
        self.joints = joints
        isBelieved = false
    }

    /// Heading, roll and pitch of the handle, Euler sequence Z-X-Y, rad.
    var angles: AxisVector { @_noLocks get { EulerZXY.angles(attitude) } }
}
