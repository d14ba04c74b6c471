/// Where the handle is, as far as the joints show it.
struct HandlePose: Sendable, BitwiseCopyable {
    /// Handle to earth.
    let attitude: Quaternion
    /// Angular rate of the handle, earth frame, rad/s, 0.1 s late.
    let rate: Vector3
    /// Joint angles, rad.
    let joints: AxisVector
    /// Whether the joints are those of rotors believed in their fields: off by the load, and wrong
    /// when one slips.
    let isBelieved: Bool

    /// From the camera's attitude (body to earth) and what the joints say; nil where nobody knows
    /// the joints.
    @_noLocks
    init?(camera: Quaternion, joints observed: JointObserver) {
        guard observed.isKnown else { return nil }
        joints = observed.motion.angles
        if case .fieldAngle = observed.source { isBelieved = true } else { isBelieved = false }
        attitude = camera * JointKinematics.attitude(joints: joints).conjugate
        rate = camera.rotate(observed.carryingRate)
    }

    /// At this attitude, standing still, with the joints at these angles.
    init(attitude: Quaternion, rate: Vector3 = .zero, joints: AxisVector) {
        self.attitude = attitude
        self.rate = rate
        self.joints = joints
        isBelieved = false
    }

    /// Heading, roll and pitch of the handle, Z-X-Y, rad.
    var angles: AxisVector { @_noLocks get { EulerZXY.angles(attitude) } }
}
