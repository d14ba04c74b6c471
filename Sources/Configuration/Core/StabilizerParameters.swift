public import GimbalCore
import Port

extension Settings {
    /// The settings in GimbalCore's units: SI units and radians. Degrees in settings are converted
    /// only in this extension.
    public var stabilizerParameters: Stabilizer.Parameters {
        var parameters = Stabilizer.Parameters()
        parameters.screen = screenParameters
        parameters.estimator = estimatorParameters
        parameters.controller = controllerParameters
        parameters.field = fieldParameters
        parameters.motors.continuousTorque = motors.continuousTorqueNm
        parameters.motors.timeConstant = motors.thermalTimeS
        parameters.rateFilter = rateFilterParameters
        // The delay of a filter of the rate does not become shorter with newer samples.
        if parameters.rateFilter == RateFilter.Parameters() {
            parameters.controller.assumedWait = control.assumedWait(rateHz: loop.rateHz)
        }
        let jointRange = reachableJointsDeg
        parameters.jointRange.minimum = jointRange.lower.radians
        parameters.jointRange.maximum = jointRange.upper.radians
        if jointRange.isYawEndless {
            parameters.jointRange.minimum.yaw = -.infinity
            parameters.jointRange.maximum.yaw = .infinity
        }
        parameters.servo.minimum = jointRange.lower.radians
        parameters.servo.maximum = jointRange.upper.radians
        parameters.servo.delay = servo.delayMs / 1e3
        parameters.servo.lag = servo.lagMs / 1e3
        parameters.servo.frame = max(1 / servo.frameHz, 1 / Double(loop.rateHz))
        parameters.servo.maxRate = servo.maxRateDps.radians
        parameters.servo.deadBand = Angle.degrees(servo.deadBandDeg).radians
        parameters.servo.trackerBandwidth = servo.trackerBandwidth
        parameters.servo.leavesTremor = servo.leaveTremor
        parameters.servo.watchesOscillation = control.watchOscillation
        parameters.setpoint.maxRate = motion.maxRateDps.radians
        parameters.setpoint.maxAcceleration = motion.maxAccelerationDps2.radians
        parameters.setpoint.maxJerk = motion.maxJerkDps3.radians
        parameters.setpoint.minimum = motion.rangeDeg.lower.radians
        parameters.setpoint.maximum = motion.rangeDeg.upper.radians
        if motion.rangeDeg.isYawEndless {
            parameters.setpoint.minimum.yaw = -.infinity
            parameters.setpoint.maximum.yaw = .infinity
        }
        parameters.modes = modeParameters
        parameters.push = pushParameters
        parameters.supervisor.softStartSeconds = motors.softStartS
        parameters.supervisor.softStopSeconds = supervisor.softStopS
        parameters.supervisor.recoverySeconds = supervisor.recoveryS
        if let silence = DriveSilence(self) {
            parameters.supervisor.brakeSeconds = silence.brakeSeconds
        }
        parameters.motorSupply.isSwitched = switchesMotorSupply
        parameters.motorSupply.bootSeconds = hardware.linux.powerLineBootMs / 1e3
        parameters.correction.mounting = SensorCorrection.mounting(imu.mountingDeg.radians)
        parameters.correction.gyroBias.perKelvin =
            Angle.degrees(gyroscope.gyroOffsetPerKelvin).radians
        if hardware.backend == .linux, let chip = hardware.linux.handleImu {
            parameters.largestHandleBias = Angle.degrees(chip.largestGyroOffset).radians
        }
        parameters.motorType = motors.type
        parameters.bootMode = mode.boot
        AirOSScale.apply(airos.pid, to: &parameters)
        return parameters
    }

    /// True if a GPIO line switches the supply of drives that report their state.
    public var switchesMotorSupply: Bool {
        let linux = hardware.linux
        return hardware.backend == .linux && linux.powerLine >= 0 && linux.powerLineRole == .supply
            && linux.motors.haveEncoders
    }

    /// Chip of the camera's gyroscope. A simulated sensor is like a BMI088, and so is assumed to be a
    /// sensor with a kernel driver, unless `hardware.iio.gyroscope` names another chip.
    private var gyroscope: SensorChip {
        guard hardware.backend == .linux else { return .bmi088 }
        return hardware.linux.imu ?? SensorChip(rawValue: hardware.iio.gyroscope) ?? .bmi088
    }

    /// Full scale of the gyroscope, rad/s, and of the accelerometer, m/s². A real chip has only
    /// some ranges, so its full scale can differ from the settings. Readings between the two values
    /// are real, and a reading at the chip's full scale is saturated.
    private var fullScale: (gyro: Double, accel: Double) {
        let chip = hardware.backend == .linux ? hardware.linux.imu : nil
        let gyro = chip?.gyroRange(atLeast: imu.gyroRangeDps) ?? imu.gyroRangeDps
        let accel = chip?.accelRange(atLeast: imu.accelRangeG) ?? imu.accelRangeG
        return (Angle.degrees(gyro).radians, accel * 9.80665)
    }

    private var screenParameters: SampleScreen.Parameters {
        var screen = SampleScreen.Parameters()
        screen.gyroRange = fullScale.gyro
        screen.accelRange = fullScale.accel
        screen.witnessesGyro = imu.witnessGyro
        screen.frozenSeconds = imu.frozenMs / 1e3
        screen.staleSeconds = imu.timeoutMs / 1e3
        screen.gapSeconds = imu.timeoutMs / 1e3
        screen.holdSeconds = imu.faultHoldMs / 1e3
        if hardware.backend == .lockstep {
            screen.frozenNeedsNoise = true
            // In lockstep, an interval of more than 20 ms between two samples is a gap. The
            // threshold for a gap is 20 ms plus 1 µs, because large values of the simulator time
            // `t` have rounding errors.
            screen.gapSeconds = 0.020001
        }
        return screen
    }

    private var estimatorParameters: AttitudeEstimator.Parameters {
        var result = AttitudeEstimator.Parameters()
        result.gyroNoiseDensity = Angle.degrees(estimator.gyroNoiseDpsSqrthz).radians
        result.initialBiasSigma = Angle.degrees(estimator.biasSigmaInitialDps).radians
        result.uncalibratedBiasSigma = result.initialBiasSigma
        result.biasWalk = Angle.degrees(estimator.biasWalkDpsSqrts).radians
        result.velocityNoiseDensity = estimator.velocityNoiseMpsSqrts
        result.restRateThreshold = Angle.degrees(estimator.restRateDps).radians
        result.restForceThreshold = estimator.restAccelMps2
        result.restTime = estimator.restTimeS
        result.leverSigma = estimator.leverSigmaM
        result.convergedInclinationSigma = Angle.degrees(estimator.convergedInclinationDeg).radians
        result.sensorDelay = imu.filterDelayMs / 1e3
        result.gyroRange = fullScale.gyro
        // An app's three Kalman noise values belong to a filter with a different structure.
        // Therefore the estimator uses only the ratio of each value to its default (see `scaled`).
        let factory = Settings.Estimator()
        return result.scaled(
            angle: estimator.kalmanQAngle / factory.kalmanQAngle,
            bias: estimator.kalmanQBias / factory.kalmanQBias,
            measurement: estimator.kalmanRMeasure / factory.kalmanRMeasure)
    }

    private var fieldParameters: FieldController.Parameters {
        var field = FieldController.Parameters()
        field.polePairs = Double(motors.polePairs)
        field.power = motors.power
        field.maxPower = max(motors.powerMax, motors.power)
        field.probesInertia = control.findInertia
        field.watchesOscillation = control.watchOscillation
        field.peakTorque = motors.torqueLimitNm
        field.inertia = control.inertiaKgM2
        field.maxRate = Angle.degrees(control.maxRateDps).radians
        // The default gains apply to the default loop delay, so they are adapted to the configured
        // loop delay.
        field = field.stretched(to: control.loopDelayMs / 1e3)
        return field
    }

    private var rateFilterParameters: RateFilter.Parameters {
        func axis(_ notches: [Notch], _ lowPassHz: Double) -> RateFilter.Axis {
            RateFilter.Axis(
                notches: notches, lowPassHz: lowPassHz, order: filter.lowPassOrder,
                sampleRate: Double(loop.rateHz))
        }
        var result = RateFilter.Parameters()
        result.yaw = axis(filter.notchYaw, filter.lowPassHz.yaw)
        result.roll = axis(filter.notchRoll, filter.lowPassHz.roll)
        result.pitch = axis(filter.notchPitch, filter.lowPassHz.pitch)
        return result
    }

    private var controllerParameters: AttitudeController.Parameters {
        var controller = AttitudeController.Parameters()
        controller.attitudeGain = control.attitudeGain
        controller.rateGain = control.rateGain
        controller.rateIntegralGain = control.rateIntegralGain
        controller.rateDerivativeGain = control.rateDerivativeGain
        controller.derivativeCutoffHz = min(control.derivativeCutoffHz, Double(loop.rateHz) / 3)
        controller.inertia = control.inertiaKgM2
        controller.findsInertia = control.findInertia
        // At loop rates below 200 Hz, one excitation period has too few ticks for a reliable
        // comparison with the configured inertia.
        controller.checksInertia = loop.rateHz >= 200
        controller.watchesOscillation = control.watchOscillation
        controller.torqueLimit = motors.torqueLimitNm
        controller.maxRate = Angle.degrees(control.maxRateDps).radians
        controller.loopDelay = control.loopDelayMs / 1e3
        controller.feedForward = control.feedForward
        controller.frictionLearningRate = control.frictionLearningRate
        controller.frictionLimit = control.frictionLimitNm
        controller.noiseLimit = control.noiseLimitPercent / 100
        return controller
    }
}

extension AxisVector {
    /// The angles of the three axes, converted from degrees to radians.
    fileprivate var radians: AxisVector { self * (.pi / 180) }
}
