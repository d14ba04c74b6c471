import Configuration
import GimbalCore
import Testing

@Suite("Conversion of settings to parameters of the core")
struct StabilizerParametersTests {
    @Test(
        "imu.mounting_deg, in the order yaw, roll, pitch, sets the mounting in the sample correction"
    )
    func mounting() {
        var settings = Settings()
        settings.imu.mountingDeg = AxisVector(yaw: 90, roll: 180, pitch: 0)
        let mounting = settings.stabilizerParameters.correction.mounting
        let forward = mounting.rotate(Vector3(1, 0, 0))
        let down = mounting.rotate(Vector3(0, 0, 1))
        #expect((forward - Vector3(0, 1, 0)).norm < 1e-12)
        #expect((down - Vector3(0, 0, -1)).norm < 1e-12)
        #expect(Settings().stabilizerParameters.correction == SensorCorrection())
    }

    @Test(
        "the default delay of a loop too slow for the lag compensator contains an assumed wait of the samples",
        arguments: [
            ("loop.rate_hz = 200", 0.002), ("loop.rate_hz = 250", 0.0015),
            ("loop.rate_hz = 400", 0), ("loop.rate_hz = 1000", 0),
            ("loop.rate_hz = 200\ncontrol.loop_delay_ms = 7", 0),
        ])
    func assumedWait(text: String, wait: Double) throws {
        let settings = try Settings.reading(text).settings
        #expect(abs(settings.stabilizerParameters.controller.assumedWait - wait) < 1e-12)
    }

    @Test("the default settings convert to the default parameters of the core")
    func defaults() {
        let mapped = Settings().stabilizerParameters
        let core = Stabilizer.Parameters()
        #expect(mapped.supervisor == core.supervisor)
        #expect(mapped.screen.frozenSeconds == core.screen.frozenSeconds)
        #expect(mapped.screen.staleSeconds == core.screen.staleSeconds)
        expectNear(mapped.jointRange.minimum, core.jointRange.minimum)
        expectNear(mapped.jointRange.maximum, core.jointRange.maximum)
        expectNear(mapped.controller.attitudeGain, core.controller.attitudeGain)
        expectNear(mapped.controller.rateGain, core.controller.rateGain)
        expectNear(mapped.controller.rateIntegralGain, core.controller.rateIntegralGain)
        expectNear(mapped.controller.rateDerivativeGain, core.controller.rateDerivativeGain)
        expectNear(mapped.controller.inertia, core.controller.inertia)
        expectNear(mapped.controller.torqueLimit, core.controller.torqueLimit)
        expectNear(mapped.setpoint.maxRate, core.setpoint.maxRate)
        expectNear(mapped.setpoint.maxAcceleration, core.setpoint.maxAcceleration)
        let pairs = [
            (mapped.controller.derivativeCutoffHz, core.controller.derivativeCutoffHz),
            (mapped.controller.maxRate, core.controller.maxRate),
            (mapped.controller.loopDelay, core.controller.loopDelay),
            (mapped.controller.frictionLearningRate, core.controller.frictionLearningRate),
            (mapped.controller.frictionLimit, core.controller.frictionLimit),
            (mapped.controller.noiseLimit, core.controller.noiseLimit),
            (mapped.estimator.gyroNoiseDensity, core.estimator.gyroNoiseDensity),
            (mapped.estimator.initialBiasSigma, core.estimator.initialBiasSigma),
            (mapped.estimator.biasWalk, core.estimator.biasWalk),
            (mapped.estimator.velocityNoiseDensity, core.estimator.velocityNoiseDensity),
            (mapped.estimator.restRateThreshold, core.estimator.restRateThreshold),
            (mapped.estimator.restForceThreshold, core.estimator.restForceThreshold),
            (mapped.estimator.restTime, core.estimator.restTime),
            (mapped.estimator.sensorDelay, core.estimator.sensorDelay),
            (mapped.estimator.gyroRange, core.estimator.gyroRange),
            (
                mapped.estimator.convergedInclinationSigma,
                core.estimator.convergedInclinationSigma
            ),
        ]
        for (index, pair) in pairs.enumerated() {
            #expect(abs(pair.0 - pair.1) <= 1e-3 * abs(pair.1), "pair \(index): \(pair)")
        }
    }

    @Test("the default cutoff of the derivative decreases with the loop rate")
    func slowLoop() throws {
        let files = ConfigurationFiles.memory(["/etc/airframe/airframed.toml": "loop.rate_hz = 100"]
        )
        let loaded = try ConfigurationLoader.load(ConfigurationSource(), files: files)
        #expect(loaded.settings.stabilizerParameters.controller.derivativeCutoffHz < 50)
    }

    @Test(
        "an app's Kalman values scale the noise variances by their ratio to the defaults, within 0.1...10"
    )
    func kalmanTriple() {
        let factory = Settings().stabilizerParameters.estimator
        var settings = Settings()
        settings.estimator.kalmanQAngle = 0.004
        settings.estimator.kalmanQBias = 0.003 / 4
        settings.estimator.kalmanRMeasure = 3
        let tuned = settings.stabilizerParameters.estimator
        func expectRatio(_ a: Double, _ b: Double, _ ratio: Double) {
            #expect(abs(a / b - ratio) < 1e-9)
        }
        expectRatio(tuned.gyroNoiseDensity, factory.gyroNoiseDensity, 2)
        expectRatio(tuned.rotationNoise, factory.rotationNoise, 2)
        expectRatio(tuned.biasWalk, factory.biasWalk, 0.5)
        expectRatio(tuned.velocityNoiseDensity, factory.velocityNoiseDensity, 10.0.squareRoot())
    }

    @Test("degrees and milliseconds are converted to radians and seconds")
    func units() {
        var settings = Settings()
        settings.motion.maxRateDps = AxisVector(repeating: 180)
        settings.imu.timeoutMs = 30
        let mapped = settings.stabilizerParameters
        expectNear(mapped.setpoint.maxRate, AxisVector(repeating: .pi))
        #expect(mapped.screen.staleSeconds == 0.03)
    }

    @Test(
        "a sensor fault is reported for imu.fault_hold_ms after its end", arguments: [0.0, 50, 800])
    func faultHold(milliseconds: Double) {
        var settings = Settings()
        settings.imu.faultHoldMs = milliseconds
        let held = settings.stabilizerParameters.screen.holdSeconds
        #expect(abs(held - milliseconds / 1000) < 1e-9, "\(held) s")
    }

    @Test(
        "the range of a joint ends at the shortest and the longest pulse of its servo",
        arguments: [MotorChip.pca9685, .pwm])
    func servoReach(chip: MotorChip) {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = chip
        settings.motors.type = .servo
        // The servo of yaw turns by 0.09° per µs, so a trim of 100 µs moves its ends by 9°.
        settings.servo.trimUs.yaw = 100
        settings.servo.direction.yaw = -1
        settings.servo.travelDeg.pitch = 180
        let parameters = settings.stabilizerParameters
        let degree = Double.pi / 180
        let lower = AxisVector(yaw: -36, roll: -45, pitch: -90) * degree
        let upper = AxisVector(yaw: 54, roll: 45, pitch: 90) * degree
        expectNear(parameters.servo.minimum, lower)
        expectNear(parameters.servo.maximum, upper)
        expectNear(parameters.jointRange.minimum, lower)
        expectNear(parameters.jointRange.maximum, upper)
        settings.servo.travelDeg.pitch = 90
        #expect(abs(settings.modeParameters.retractJoints.pitch + 45 * degree) < 1e-9)
    }

    @Test("motors without servo pulses use the whole configured range of the joints")
    func wholeRange() {
        var settings = Settings()
        settings.motors.type = .servo
        #expect(settings.reachableJointsDeg == settings.joints.rangeDeg)
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = .busServo
        #expect(settings.reachableJointsDeg == settings.joints.rangeDeg)
    }

    private func expectNear(_ a: AxisVector, _ b: AxisVector) {
        for (x, y) in [(a.yaw, b.yaw), (a.roll, b.roll), (a.pitch, b.pitch)] {
            #expect(abs(x - y) <= 0.05 * abs(y), "\(a) is not \(b)")
        }
    }
}
