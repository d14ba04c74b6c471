/// The complete control of a gimbal: estimator, supervisor, set-point and controller. Inputs are
/// samples and commands; outputs are motor commands. The stabilizer does not access a clock, a bus
/// or a thread, so the same inputs give bit-identical outputs.
///
/// Runs on the loop thread only. In each tick, call `apply` for every command, `integrate` for
/// every sample, and then `step`.
public struct Stabilizer: Sendable, BitwiseCopyable {
    /// The present parameters.
    public private(set) var parameters: Parameters
    /// Snapshot of the state after the last `step`.
    public internal(set) var snapshot = StabilizerSnapshot()

    var screen: SampleScreen
    private(set) var witness = GyroWitness()
    private var effect = MotorEffect()
    /// Monitor of the braking before the outputs are switched off.
    private var brake = BrakeWatch()
    /// Output to the motors in the last tick.
    private var lastOutput = MotorOutput.off
    /// Rate (camera frame, bias included, rad/s) and time of the newest sample, used or rejected.
    private var newestRate = Vector3.zero
    private var newestTime = Instant(nanoseconds: 0)
    /// True if a sample has arrived since the last step.
    private var hasNewSample = false
    private(set) var estimator: AttitudeEstimator
    /// The camera's attitude at this step, body to earth.
    private(set) var attitude = Quaternion.identity
    private(set) var tiltDoubt = TiltDoubt()
    private(set) var vibration = VibrationLevel()
    private(set) var joints = JointObserver()
    var pointing: Pointing
    var drive: MotorDrive
    /// Detection of a hand that turns the camera.
    var push = HandPush()
    private var rateFilter: RateFilter
    private var sampleAge = SampleAge()
    private(set) var pace = SamplePace()
    var supply = SupplyReaction()
    /// Limits of the set-point's motion that supply and motors permit.
    var motion = MotionLimits()
    /// Switch of the drives' supply.
    var motorSupply = MotorSupply()
    /// Output of the rate filters, body frame, rad/s.
    private var filteredRate = Vector3.zero
    private(set) var exciter = Exciter()
    private var motorSwing = MotorSwing()
    private(set) var supervisor = Supervisor.State()
    /// Attitude to hold until the controller can follow a set-point, body to earth.
    private var held = Quaternion.identity
    private(set) var wasReady = false
    /// Magnitude of the camera's rate minus magnitude of the set-point's rate in the last period,
    /// rad/s; 0 for motors with encoders and for servos, which cannot lose their rotors.
    private var deviation = 0.0
    private(set) var isStopped = false
    private(set) var isShuttingDown = false
    private(set) var external: Conditions = .none
    private(set) var sample: IMUSample?
    private(set) var batch = GyroBatch()
    private var lastStep: Instant?
    private var gaps = GapWatch()
    private var seenRefutations: UInt64 = 0
    private(set) var isGravityLost = false
    /// True if the estimator has converged at this step.
    private(set) var isConverged = false
    private(set) var faults = FaultLatch()

    /// Largest squared rotation between two equal mountings, due to rounding, rad².
    private static var sameMounting: Double { @_noLocks get { 1e-18 } }

    /// Creates a stabilizer without samples; the outputs are off.
    public init(parameters: Parameters) {
        self.parameters = parameters
        screen = SampleScreen(parameters: parameters.screen)
        estimator = AttitudeEstimator(parameters: parameters.calibratedEstimator(at: .nan))
        pointing = Pointing(
            mode: parameters.bootMode, parameters: parameters.setpoint, modes: parameters.modes)
        drive = MotorDrive(parameters)
        rateFilter = RateFilter(parameters: parameters.rateFilter)
        snapshot.mode = parameters.bootMode
    }

    /// Changes the parameters between two ticks. Estimate, set-point and integrators do not change.
    @_noLocks
    public mutating func apply(_ new: Parameters) {
        let old = parameters.correction
        parameters = new
        screen.parameters = new.screen
        estimator.parameters = new.calibratedEstimator(at: snapshot.temperature)
        drive.apply(new)
        limitMotion()
        // If the inertia has become unknown, the camera is held at its present attitude.
        if wasReady, !drive.state.isReady { held = attitude }
        rateFilter.apply(new.rateFilter)
        recalibrate(from: old, to: new.correction)
    }

    /// Adapts the estimate to a changed mounting, and to a changed matrix or bias of the gyroscope.
    @_noLocks
    private mutating func recalibrate(from old: SensorCorrection, to new: SensorCorrection) {
        let turn = new.mounting * old.mounting.conjugate
        let isTurned = Vector3(turn.x, turn.y, turn.z).squaredNorm > Self.sameMounting
        if isTurned || !(new.gyro == old.gyro) {
            estimator.turnBodyFrame(by: turn, bias: new.rate(old.rawRate(estimator.bias)))
            attitude = estimator.attitude
            if supervisor.isEnabled { takeOver(isRunning: true) }
        }
        if new.gyroBias.isKnown, !(new.gyroBias == old.gyroBias) {
            estimator.assume(
                bias: new.rate(new.gyroBias.bias),
                sigma: new.gyroBias.sigma(at: snapshot.temperature))
        }
    }

    /// Executes one command. `validUntil` is the end of the dead-man time, if the command expires.
    @_noLocks
    public mutating func apply(
        _ command: Command, validUntil: Instant = Instant(nanoseconds: 0), now: Instant
    ) {
        exciter.stop(.command)
        endPush()
        guard !motorSwing.start(command, until: validUntil, now: now) else {
            return forgetAngle(of: motorSwing.axis)
        }
        motorSwing.stop()
        switch command {
        case .testMotor, .findEnd: break
        case .excite(let excitation): exciter.start(excitation)
        case .mode(let wanted): pointing.change(to: wanted, now: now)
        case .point(let point): pointing.point(point, isEnabled: supervisor.isEnabled)
        case .rate(let rate): pointing.turn(at: rate, validUntil: validUntil)
        case .track(let pan, let tilt):
            pointing.track(pan: pan, tilt: tilt, validUntil: validUntil)
        case .aim(let aim): pointing.aim(aim, validUntil: validUntil)
        case .lookAside(let yaw, let rate, let lead):
            pointing.lookAside(yaw: yaw, rate: rate, lead: lead, validUntil: validUntil)
        case .resetIntegrals: drive.clearIntegrals()
        case .emergencyStop:
            isStopped = true
            pointing.change(to: .inactive, now: now)
        case .resetEmergencyStop:
            isStopped = false
            faults.reset()
        case .shutdown:
            isShuttingDown = true
        }
    }

    /// Sets the conditions that only other parts of the daemon can detect, for example bus errors
    /// and overruns. The conditions remain set until the next call of `report`.
    @_noLocks
    public mutating func report(_ conditions: Conditions) { external = conditions }

    /// Checks one raw sample, and passes the corrected sample to the estimator if it is accepted.
    /// The check for faults uses the raw reading.
    @_noLocks
    public mutating func integrate(_ new: IMUSample) {
        pace.note()
        let corrected = parameters.correction.apply(new)
        let isBelieved = isBelieved(new, rate: corrected.gyro)
        guard case .use(let dt) = screen.judge(new, isBelieved: isBelieved) else { return }
        noteTemperature(of: new)
        estimator.update(gyro: corrected.gyro, accel: corrected.accel, dt: dt)
        tiltDoubt.follow(estimator)
        if corrected.contents.contains(.magneticField) {
            let age = snapshot.sinceMagneticField(at: new.time) ?? dt
            estimator.update(magneticField: corrected.magneticField, dt: age)
            (snapshot.rawMagneticField, snapshot.magneticTime) = (new.magneticField, new.time)
        }
        vibration.update(gyro: corrected.gyro, accel: corrected.accel, dt: dt)
        sample = corrected
        batch.append(corrected.gyro)
        (snapshot.rawGyro, snapshot.rawAccel) = (new.gyro, new.accel)
    }

    /// True if the sample agrees with the camera's known motion. `rate` is the sample's rate,
    /// camera frame, rad/s.
    private mutating func isBelieved(_ new: IMUSample, rate: Vector3) -> Bool {
        let dt = new.time.seconds(since: newestTime)
        guard dt > 0, new.gyro.isFinite else { return true }
        (newestTime, newestRate) = (new.time, rate)
        hasNewSample = true
        let (unbiased, isRepeated) = (rate - estimator.bias, screen.repeatsGyro(new))
        guard parameters.screen.witnessesGyro else {
            let isValid = !isRepeated && screen.isPlausible(new)
            witness.trust(isValid ? unbiased : nil, motors: effect.motors, dt: dt)
            return true
        }
        return witness.accepts(
            rate: unbiased, joints: new.contents.contains(.joints) ? new.joints : nil,
            isRepeated: isRepeated, motors: effect.motors,
            sensorDelay: estimator.parameters.sensorDelay, dt: dt)
    }

    /// Stores a plausible temperature; the first sets the uncertainty of the calibrated bias.
    private mutating func noteTemperature(of new: IMUSample) {
        guard new.hasPossibleTemperature else { return }
        let isFirst = snapshot.temperature.isNaN
        snapshot.temperature = new.temperature
        if isFirst { estimator.parameters = parameters.calibratedEstimator(at: new.temperature) }
    }

    /// Runs supervisor and controller, once per period, after the samples of the period.
    ///
    /// - Parameter now: The time of the present tick, which is later than the previous tick.
    /// - Returns: The motors' outputs until the next tick.
    @_noLocks
    public mutating func step(now: Instant) -> MotorOutput {
        let past = lastStep.map { now.seconds(since: $0) } ?? 0
        let dt = min(max(past, 0), TimeLimit.longestPeriod)
        lastStep = now
        if gaps.step(hasSample: hasNewSample, dt: dt) { witness.forgetResponse() }
        if !hasNewSample, let motors = effect.motors { witness.wait(motors, dt: dt) }
        hasNewSample = false
        pace.step(dt: dt, age: now.seconds(since: sample?.time ?? now))
        drive.sampleWait = pace.wait
        drive.note(sampleAge: pace.age, isOff: !supervisor.isEnabled)
        filteredRate = rateFilter.step(
            witness.isDoubtful ? witness.bridged : estimator.rate, dt: dt)
        attitude = estimator.attitude
        observeJoints(dt: dt)
        watchGravity()
        reactToSupply(dt: dt)
        if sample != nil, motorSupply.areDrivesStarted {
            pointing.judgeBootMode(showsJoints: showsJoints)
        }
        pointing.endTracking(now: now)
        watchFaults(dt: dt)
        let conditions = conditions(now: now, dt: dt)
        let wasEnabled = supervisor.isEnabled
        supervisor = Supervisor.next(
            after: supervisor, conditions: conditions, dt: dt, parameters: parameters.supervisor)
        exciter.supervise(
            authority: supervisor.authority, conditions: conditions, error: snapshot.attitudeError,
            dt: dt)
        superviseBrake(dt: dt)
        if supervisor.isEnabled, !wasEnabled { takeOver() }
        if wasEnabled, !supervisor.isEnabled { pointing.letGo() }
        followHand(conditions: conditions, dt: dt)
        var output = control(now: now, dt: dt)
        if !supervisor.isEnabled, MotorSwing.isPermitted(by: conditions) {
            output = motorSwing.output(
                now: now, rate: newestRate - estimator.bias, joints: joints, parameters: parameters)
        }
        if !output.isSound(torqueLimit: parameters.controller.torqueLimit) {
            faults.noteUnsoundOutput()
            output = .off
        }
        output.isSupplied = motorSupply.isOn
        observeMotors(output, dt: dt)
        record(output, conditions: conditions)
        batch.removeAll()
        snapshot.pointing = pointing.snapshot(now: now)
        return output
    }

    /// Predicts the motors' effect on the camera until the next samples.
    private mutating func observeMotors(_ output: MotorOutput, dt: Double) {
        lastOutput = output
        guard output.enabled, drive.state.isReady, dt > 0 else { return effect.rest() }
        let kinematics = joints.motion.kinematics
        switch parameters.motorType {
        case .servo:
            effect.turn(
                jolts: supervisor.authority < 1
                    ? parameters.servo.maxRate * 2 : drive.state.jolts,
                kinematics: kinematics, dt: dt)
        case .field:
            effect.exert(
                torques: drive.state.asked, push: drive.state.push, delay: drive.loopDelay,
                limit: parameters.field.peakTorque * parameters.field.maxPower,
                inertia: drive.state.inertia, kinematics: kinematics, dt: dt)
        case .torque:
            effect.exert(
                torques: output.torque, push: drive.state.push, delay: drive.loopDelay,
                limit: parameters.controller.torqueLimit, inertia: drive.state.inertia,
                kinematics: kinematics, dt: dt)
        }
    }

    /// Updates the joints, and passes their motion to the estimator.
    private mutating func observeJoints(dt: Double) {
        joints.update(
            sample: sample, range: encoderRange, modelled: drive.state.modelledJoints,
            isEnabled: supervisor.isEnabled, modelSource: drive.modelSource, attitude: attitude,
            isAttitudeKnown: isConverged, rate: estimator.rate, isAtRest: estimator.isAtRest,
            largestBias: parameters.largestHandleBias, dt: dt)
        // If the motors hold the camera still, only the joints show whether the handle moves.
        estimator.relativeMotion = joints.relativeMotion(
            drive: !supervisor.isEnabled
                ? .unknown : wasReady && pointing.isMoving ? .commanded : .held)
        estimator.restIsPlausible = joints.tellsRest || !supervisor.isEnabled
    }

    /// Marks the camera's attitude as unknown when the estimator restarts because gravity
    /// contradicted the estimate. The attitude is known again when the estimate has converged.
    private mutating func watchGravity() {
        isConverged = estimator.isConverged
        let isRestarted = estimator.refutations != seenRefutations
        seenRefutations = estimator.refutations
        isGravityLost = isRestarted || isGravityLost && !isConverged
        // The restarted estimator has the calibrated bias; the sensor's temperature can have changed.
        guard isRestarted else { return }
        estimator.parameters = parameters.calibratedEstimator(at: snapshot.temperature)
    }

    /// Passes this tick's observations to the fault detectors.
    private mutating func watchFaults(dt: Double) {
        // In modes that follow the handle, `JointPolarity` is ignored: the handle can turn twice as
        // fast as the camera, and this motion looks like a reversed motor.
        var reversed = drive.state.reversed
        if !pointing.mode.needsJoints { reversed.insert(drive.state.opposed) }
        var cameraAxes = drive.state.reversedCameraAxes
        if isClosed { cameraAxes.insert(witness.reversed) }
        reversed.insert(joints.motion.kinematics.joints(nearest: cameraAxes))
        // An oscillation with a phase lag of 180° looks like a wrong sign.
        if drive.state.isShaking { reversed = .none }
        faults.step(
            FaultLatch.Evidence(
                isEnabled: isClosed, reversed: reversed,
                saturated: parameters.motorType.exertsTorque ? drive.state.saturated : .none,
                rate: estimator.rate.norm, deviation: deviation, error: snapshot.attitudeError.norm,
                external: external),
            dt: dt)
    }

    /// Ends the braking if the camera accelerates, because a motor has failed.
    private mutating func superviseBrake(dt: Double) {
        guard supervisor.isEnabled, !isClosed else { return brake.rest(rate: newestRate.norm) }
        guard brake.step(rate: newestRate.norm, delay: drive.loopDelay, dt: dt) else { return }
        (supervisor.phase, supervisor.authority) = (.off, 0)
    }

    /// Resets controller and set-point at a start, or in a new frame while the outputs are on.
    private mutating func takeOver(isRunning: Bool = false) {
        drive.reset(joints: joints.atStart(parameters.motorType, drive.state), isRunning: isRunning)
        pointing.takeOver(from: attitude, handlePose, parameters.jointRange)
        (held, wasReady) = (attitude, drive.state.isReady)
    }

    private mutating func nextSetpoint(now: Instant, dt: Double) -> Setpoint {
        let (handle, range) = (handlePose, parameters.jointRange)
        guard wasReady else { return pointing.hold(held, dt: dt, handle: handle, range: range) }
        return pointing.step(now: now, dt: dt, handle: handle, range: range)
    }

    private mutating func control(now: Instant, dt: Double) -> MotorOutput {
        let late = sampleAge.excess(age: sample.map { now.seconds(since: $0.time) } ?? 0, dt: dt)
        guard supervisor.isEnabled else {
            pointing.idle(at: attitude, handlePose, parameters.jointRange)
            (snapshot.setpoint, snapshot.attitudeError) = (attitude, .zero)
            drive.rest(dt: dt)
            return .off
        }
        guard isClosed else {
            snapshot.attitudeError = .zero
            return drive.step(
                MotorDrive.Brake(
                    rate: brakingRate(gyro: newestRate - estimator.bias),
                    attitude: attitude, joints: joints.motion.angles,
                    areJointsMeasured: joints.isMeasured, authority: supervisor.authority, dt: dt),
                after: lastOutput)
        }
        if drive.state.isReady, !wasReady { pointing.resume(from: attitude, rate: estimator.rate) }
        wasReady = drive.state.isReady
        let setpoint = nextSetpoint(now: now, dt: dt)
        if case .field = parameters.motorType {
            deviation = estimator.rate.norm - setpoint.rate.norm
        }
        snapshot.setpoint = setpoint.attitude
        snapshot.attitudeError = attitude.error(to: setpoint.attitude)
        let belief = drive.state.inertia.sigmas
        let excitation = exciter.state.isActive ? exciter.step(parameters.motorType) : .zero
        var output = drive.step(
            ControlInput(
                attitude: attitude, attitudeLead: estimator.parameters.sensorDelay,
                rate: filteredRate, setpoint: setpoint.earlier(by: late),
                joints: joints.motion.angles,
                kinematics: joints.motion.kinematics, areJointsMeasured: joints.isMeasured,
                handleRate: joints.handleRate, specificForce: sample?.accel ?? .zero,
                excitation: excitation, authority: supervisor.authority, dt: dt),
            isAfterGap: gaps.isGap)
        // After a change of the gains, the controller holds the present attitude. Increased gains
        // must not suddenly act on the residual error of the smaller gains. An oscillation or the
        // loss of a rotor has turned the camera away from its intended attitude.
        let isChanged = !(belief == drive.state.inertia.sigmas)
        if isChanged, drive.state.oscillating.isEmpty {
            held = attitude
        } else if wasReady, isChanged || !drive.state.isReady {
            held = setpoint.attitude
        }
        if exciter.state.isActive, case .torque = parameters.motorType {
            let torque = output.torque + joints.motion.kinematics.torques(moment: excitation)
            output.torque = torque.clamped(to: parameters.controller.torqueLimit)
        }
        return output
    }
}
