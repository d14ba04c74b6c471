extension AxisVector {
    /// Copy of this vector with each value limited to `most`.
    @_noLocks
    func capped(_ most: Double) -> AxisVector {
        AxisVector(yaw: min(yaw, most), roll: min(roll, most), pitch: min(pitch, most))
    }

    /// `moment`, N·m, divided by this vector, moments of inertia about the camera's axes, kg·m².
    ///
    /// - Returns: Angular acceleration, camera frame, rad/s².
    @_noLocks
    func dividing(_ moment: Vector3) -> Vector3 {
        Vector3(moment.x / roll, moment.y / pitch, moment.z / yaw)
    }

    /// These torques, N·m, as fractions of the torques `peak`, N·m; 0 for a motor without torque.
    @_noLocks
    func shares(of peak: AxisVector) -> AxisVector {
        AxisVector(
            yaw: peak.yaw > 0 ? yaw / peak.yaw : 0, roll: peak.roll > 0 ? roll / peak.roll : 0,
            pitch: peak.pitch > 0 ? pitch / peak.pitch : 0)
    }
}
