package import Calibration
package import Configuration
package import GimbalCore
import Port

extension Settings {
    /// Initial parameters of the loop. The parameters are the settings, but calibration results
    /// replace the settings of the sensor.
    package func stabilizerParameters(calibrated book: ActiveCalibrations) -> Stabilizer.Parameters
    {
        var parameters = stabilizerParameters
        // In lockstep, the age of a calibration is ignored, because the wall clock must not affect
        // results.
        let now =
            hardware.backend == .lockstep
            ? book.record(.gyro)?.date ?? 0 : WallClock.seconds
        parameters.correction = book.correction(
            configured: parameters.correction, now: now)
        return parameters
    }

    /// Name and place of the configured sensor, as text for people. The calibrations belong to this
    /// sensor.
    package var sensorName: String {
        guard hardware.backend == .linux else { return hardware.backend.rawValue }
        let linux = hardware.linux
        guard let chip = linux.imu else {
            return "iio \(hardware.iio.gyroscope), \(hardware.iio.accelerometer)"
        }
        return switch linux.imuInterface {
        case .i2c:
            "\(chip.rawValue) on \(linux.bus), address 0x\(String(linux.imuAddress, radix: 16))"
        case .spi: "\(chip.rawValue) on \(linux.imuSpi)"
        }
    }

    /// Largest offset of the configured gyroscope on each axis if it is healthy, rad/s. With a kernel
    /// driver, only the name in `hardware.iio.gyroscope` can tell that the chip is an MPU-6050. A
    /// larger limit than necessary would accept a steady turn as an offset. A simulated sensor is
    /// like a BMI088.
    package var largestGyroOffset: Double {
        var chip = SensorChip.bmi088
        if hardware.backend == .linux {
            let named = SensorChip(rawValue: hardware.iio.gyroscope)
            chip = hardware.linux.imu ?? (named == .mpu6050 ? .mpu6050 : .mpu6500)
        }
        return chip.largestGyroOffset * .pi / 180
    }

    /// Kinds of calibrations that the configured sensor uses.
    package var calibrationKinds: [CalibrationKind] {
        let isMagnetic =
            hardware.backend != .linux
            || hardware.linux.imu?.hasMagnetometer
                ?? (hardware.iio.magnetometer != Settings.IIO.none)
        return CalibrationKind.allCases.filter { $0 != .magnetometer || isMagnetic }
    }

    /// Times and limits of the `Commander`, from the settings.
    package var commanderRules: Commander.Rules {
        var rules = Commander.Rules()
        rules.deadManSeconds = commander.deadManS
        rules.releaseAfterSeconds = commander.releaseAfterS
        rules.trackingSeconds = tracking.timeoutS
        rules.drivingSeconds = drive.deadManS
        rules.fallbackSeconds = commander.fallbackS
        rules.fallbackMode = commander.fallbackMode
        rules.offSeconds = commander.offS
        rules.barred = commander.barredLinks
        rules.keyed = keyedLinks
        rules.steppingSeconds = robot.deadManS
        return rules
    }

    /// Links that require a key.
    private var keyedLinks: Set<CommandSource.Link> {
        var keyed: Set<CommandSource.Link> = []
        if bluetooth.security == .encrypted { keyed.formUnion([.airos, .rbl]) }
        if mavlink.requireSignature { keyed.insert(.mavlink) }
        if rider.requireSignature { keyed.insert(.udp) }
        return keyed
    }
}

extension Settings.CommanderSettings {
    /// Links that cannot take control.
    fileprivate var barredLinks: Set<CommandSource.Link> {
        var barred: Set<CommandSource.Link> = []
        if !allowAiros { barred.insert(.airos) }
        if !allowRbl { barred.insert(.rbl) }
        if !allowUdp { barred.insert(.udp) }
        if !allowMavlink { barred.insert(.mavlink) }
        return barred
    }
}
