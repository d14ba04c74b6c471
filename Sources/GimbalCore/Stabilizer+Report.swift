/// Conditions and snapshot of the stabilizer.
extension Stabilizer {
    /// All conditions that hold now, apart from those that the state of the drives' supply explains.
    /// The method also updates the supply, and stores the axes of the conditions in the snapshot.
    mutating func conditions(now: Instant, dt: Double) -> Conditions {
        motorSupply.step(
            present(now: now), areOutputsOff: !supervisor.isEnabled, dt: dt,
            parameters: parameters.motorSupply)
    }

    private mutating func present(now: Instant) -> Conditions {
        var result = screen.conditions(now: now) | external
        if case .inactive = pointing.mode { result.insert(.inactiveMode) }
        if estimator.isGravityDoubtful || tiltDoubt.isDoubtful { result.insert(.attitudeDoubtful) }
        if witness.isContradicted { result.insert(.gyroContradicted) }
        if !isConverged { result.insert(.estimateNotConverged) }
        if isGravityLost { result.insert(.gravityMismatch) }
        if parameters.isCalibrating { result.insert(.calibrating) }
        if exciter.state.isActive { result.insert(.autotuning) }
        if isStopped { result.insert(.emergencyStop) }
        if isShuttingDown { result.insert(.shutdown) }
        if let until = pointing.rateValidUntil, !(now < until) { result.insert(.commandExpired) }
        if supervisor.isEnabled, !drive.state.isReady, drive.state.abandoned.isEmpty {
            result.insert(.inertiaUnknown)
        }
        if pace.wait > 0 { result.insert(.samplesSlow) }
        if pointing.isBootModeMissing { result.insert(.bootModeUnavailable) }
        if supervisor.isEnabled, pointing.isBlind { result.insert(.jointsUnknown) }
        if pointing.isRetracted,
            parameters.modes.isOffWhenRetracted || external.intersects(.supplyEmpty)
        {
            result.insert(.retracted)
        }
        snapshot.conditionAxes = axes()
        return result | faults.conditions | snapshot.conditionAxes.conditions
    }

    /// Affected axes of each condition that concerns a motor, a joint or a camera axis.
    @inline(always)
    private func axes() -> ConditionAxes {
        let angles = joints.motion.angles
        var axes = ConditionAxes()
        axes.hot = drive.hot
        axes.atLimit = parameters.jointRange.outside(angles)
        axes.reversed = faults.reversed
        axes.stalled = faults.stalled
        if supervisor.isEnabled {
            axes.atLimit.insert(pointing.atLimit)
            axes.saturated = drive.state.saturated
            axes.slipped = drive.state.slipping
            axes.oscillating = drive.state.oscillating
            axes.abandoned = drive.state.abandoned
            axes.stale = drive.state.stale
            axes.pushed = push.pushed
        } else {
            axes.outOfReach = drive.outOfReach(angles)
        }
        return axes
    }

    /// True if the loop is closed: the outputs are on and do not brake.
    var isClosed: Bool {
        @inline(always) get {
            if case .braking = supervisor.phase { false } else { supervisor.isEnabled }
        }
    }

    /// Camera's rate while the motors brake, camera frame, rad/s. If a sign is wrong, the rate is
    /// computed from the gyroscope's rate minus its bias (`gyro`, rad/s) and from the signs.
    @inline(always)
    func brakingRate(gyro: Vector3) -> Vector3 {
        guard !faults.reversed.isEmpty else { return witness.rate }
        let axes = joints.motion.kinematics.joints(nearest: faults.reversed)
        return witness.signedRate(gyro: gyro, reversed: axes)
    }

    /// Range of joints whose encoders measure angles within one turn. The angles of position servos
    /// already are those within the servo's travel.
    var encoderRange: JointRange? {
        @inline(always) get { parameters.motorType.exertsTorque ? parameters.jointRange : nil }
    }

    /// Pose of the handle; nil if the joint angles are unknown.
    var handlePose: HandlePose? {
        @inline(always) get { HandlePose(camera: attitude, joints: joints) }
    }

    /// True if a source of joint angles exists, or will exist when the outputs are switched on.
    var showsJoints: Bool {
        // Inlined, like `axes()`: a call would copy the whole stabilizer, about 47 kB.
        @inline(always) get {
            if joints.isKnown { return true }
            if case .some = drive.state.modelledJoints { return true }
            return false
        }
    }

    /// Copies this tick's values into the snapshot.
    mutating func record(_ output: MotorOutput, conditions: Conditions) {
        snapshot.mode = pointing.mode
        snapshot.motion = motion
        snapshot.phase = supervisor.phase
        snapshot.authority = supervisor.authority
        snapshot.conditions = conditions
        recordEstimate()
        snapshot.joints = joints.motion.angles
        snapshot.jointSource = joints.source
        snapshot.inertia = drive.state.inertia.values
        snapshot.inertiaSigma = drive.state.inertia.sigmas
        snapshot.loopDelay = drive.assumedDelay
        snapshot.bandwidth = drive.state.bandwidth
        snapshot.sampleWait = pace.wait
        snapshot.friction = drive.state.friction
        snapshot.imbalance = drive.state.imbalance
        snapshot.hand = push.torques
        let hum = drive.state.hum
        snapshot.hum = hum.rms
        snapshot.softening = hum.softening
        snapshot.followed =
            parameters.motorType == .servo
            ? drive.state.followed : AxisVector(repeating: .nan)
        snapshot.restPower = drive.state.restPower
        snapshot.exerted = drive.state.exerted
        snapshot.showsJoints = showsJoints
        snapshot.modeRequests = pointing.modeRequests
        snapshot.output = output
        snapshot.excitation = exciter.state
        snapshot.samples = screen.counters
        snapshot.gyro = batch
        if let sample {
            snapshot.accel = sample.accel
            snapshot.sampleTime = sample.time
        }
    }

    private mutating func recordEstimate() {
        snapshot.attitude = attitude
        snapshot.rate = estimator.rate
        snapshot.bias = estimator.bias
        snapshot.biasSigma = estimator.biasSigma
        snapshot.gyroScale = estimator.scale
        snapshot.lever = estimator.lever
        snapshot.inclinationSigma = estimator.inclinationSigma
        snapshot.headingSigma = estimator.headingSigma
        snapshot.accelerationWeight = estimator.accelerationWeight
        snapshot.innovation = estimator.innovation
        snapshot.isAtRest = estimator.isAtRest
        snapshot.isGyroSaturated = estimator.isSaturated
        snapshot.accelVibration = vibration.accelRMS
        snapshot.gyroVibration = vibration.gyroRMS
    }
}
