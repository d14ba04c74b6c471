extension Stabilizer {
    /// Conditions that do not affect the detection of a hand.
    private static var harmless: Conditions {
        @_noLocks get {
            .cameraPushed | .motorSaturated | .motorHot | .jointLimit | .commandExpired
                | .bootModeUnavailable | .magnetometerMissing | .handleIMUMissing | .supplyLow
                | .samplesSlow | .tuningStale | .loopOverrun | .canErrors | .motorBytesDamaged
        }
    }

    /// Ends a push when a command arrives.
    @_noLocks
    mutating func endPush() {
        push.pause()
        pointing.guide(.zero, axes: .none, dt: 0)
    }

    /// Detects a hand that turns the camera, and turns the set-point with the hand.
    ///
    /// - Parameters:
    ///   - conditions: Conditions of this tick.
    ///   - dt: Seconds since the previous tick.
    @_noLocks
    mutating func followHand(conditions: Conditions, dt: Double) {
        guard parameters.push.isEnabled, canFeelHand(conditions) else {
            push.reset()
            drive.learnsLoads = true
            return pointing.guide(.zero, axes: .none, dt: dt)
        }
        let (kinematics, joints) = (joints.motion.kinematics, joints.motion.angles)
        let deviation = kinematics.jointRates(relativeRate: snapshot.attitudeError * -1)
        push.step(
            HandPush.Evidence(
                unexplained: drive.state.unexplained, limit: drive.torque.limit,
                friction: drive.torque.friction.sizes, joints: joints, deviation: deviation,
                pushable: pointing.pushable.subtracting(endsAtLimit(joints))),
            parameters: parameters.push, dt: dt)
        drive.learnsLoads = push.suspected.isEmpty
        let turn = kinematics.relativeRate(jointRates: push.rates)
        let camera = JointKinematics(joints: EulerZXY.angles(attitude))
        pointing.guide(camera.jointRates(relativeRate: turn), axes: push.pushed, dt: dt)
    }

    /// The joints at the ends of their ranges, without joints that a hand is turning back. At the
    /// end of a range, the torque of a mechanical stop resembles the torque of a hand.
    private func endsAtLimit(_ joints: AxisVector) -> AxisSet {
        let ends = snapshot.conditionAxes.atLimit
        var back = AxisSet.none
        let (range, rates) = (parameters.jointRange, push.rates)
        if rates.yaw * (joints.yaw - (range.minimum.yaw + range.maximum.yaw) / 2) < 0 {
            back.insert(AxisSet(.yaw))
        }
        if rates.pitch * (joints.pitch - (range.minimum.pitch + range.maximum.pitch) / 2) < 0 {
            back.insert(AxisSet(.pitch))
        }
        return ends.subtracting(back)
    }

    /// True if a hand can be detected from the motors' torque. The detection needs motors of type
    /// `torque` with encoders and full output, and a known inertia; no probe, excitation or fault
    /// may be active.
    private func canFeelHand(_ conditions: Conditions) -> Bool {
        guard case .torque = parameters.motorType, case .active = supervisor.phase else {
            return false
        }
        return joints.isMeasured && drive.state.isReady && wasReady && !drive.state.isProbing
            && !exciter.state.isActive && conditions.subtracting(Self.harmless).isEmpty
    }
}
