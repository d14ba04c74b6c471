import PlainText
import Wire

/// Checks of frames and signs, which detect wrong wiring or mounting.
extension StatusDoctor {
    static func accelerometer(_ status: Status) -> DoctorCheck? {
        let accel = status.imu.accelMS2
        guard let x = accel.x.known, let y = accel.y.known, let z = accel.z.known else {
            return nil
        }
        let norm = (x * x + y * y + z * z).squareRoot()
        let finding = "|accel| = \(Format.fixed(norm, 2)) m/s²"
        let deviation = (norm - gravity).magnitude
        switch (status.estimator.isAtRest, deviation) {
        case (_, 0..<0.5), (false, 0..<gravity): return DoctorCheck("accelerometer", .ok, finding)
        case (true, 0..<2):
            return DoctorCheck(
                "accelerometer", .warn, "\(finding) at rest; expected 9.81 m/s²",
                remedy: "Run `airframectl calibrate accelerometer`.")
        default:
            return DoctorCheck(
                "accelerometer", .fail, "\(finding); expected 9.81 m/s²",
                remedy:
                    "Set hardware.linux.imu to the fitted chip, and imu.accel_range_g to the range of this chip."
            )
        }
    }

    /// Check of readings at full scale; nil if no reading was at full scale.
    static func fullScale(_ first: Status, _ second: Status) -> DoctorCheck? {
        guard second.imu.isAtFullScale else { return nil }
        let (gyro, accel) = (second.imu.gyroSaturatedSamples, second.imu.accelClippedSamples)
        let isGrowing =
            gyro > first.imu.gyroSaturatedSamples || accel > first.imu.accelClippedSamples
        return DoctorCheck(
            "full scale", isGrowing ? .fail : .warn,
            "gyroscope \(Format.count(gyro)), accelerometer \(Format.count(accel)) samples at full scale"
                + (isGrowing ? "; these numbers grow" : ""),
            remedy:
                "Raise imu.gyro_range_dps or imu.accel_range_g if the value is smaller than the range of the chip."
        )
    }

    /// Check of vibration. Vibration of more than a few m/s² causes a constant error of the
    /// accelerometer, which tilts the horizon.
    static func vibration(_ status: Status) -> DoctorCheck? {
        let imu = status.imu
        guard let accel = imu.accelVibrationMS2.known, let gyro = imu.gyroVibrationDps.known else {
            return nil
        }
        let isCalm = accel < 5 && gyro < 20
        return DoctorCheck(
            "vibration", isCalm ? .ok : .warn,
            "\(Format.fixed(accel, 2)) m/s², \(Format.fixed(gyro, 2)) °/s RMS above 31 Hz",
            remedy: isCalm
                ? ""
                : "Fasten and balance the camera; if it hums at rest, lower control.rate_gain.")
    }

    /// Torque noise above which a motor is audible and becomes warm, as a fraction of the motor's
    /// largest torque.
    private static let loudHum = 0.1

    /// Check of the motors' torque noise; nil for motors without torque control.
    static func hum(_ status: Status) -> DoctorCheck? {
        let (hum, limit) = (status.motors.humNm, status.motors.torqueLimitNm)
        let shares = [(hum.yaw, limit.yaw), (hum.roll, limit.roll), (hum.pitch, limit.pitch)]
            .compactMap { pair in
                pair.0.known.flatMap { hum in pair.1.known.map { hum / max($0, 1e-6) } }
            }
        guard let most = shares.max() else { return nil }
        let isCalm = most < loudHum
        return DoctorCheck(
            "hum", isCalm ? .ok : .warn,
            "motor noise above 50 Hz is \(Format.fixed(most * 100, 1)) % of the torque limit",
            remedy: isCalm
                ? ""
                : "Fasten and balance the camera; lower control.noise_limit_percent or filter.low_pass_hz."
        )
    }

    /// Check of the robot's stepper motors; nil if there are no such motors.
    static func robot(_ status: Status) -> DoctorCheck? {
        status.robot.map { robot in
            DoctorCheck(
                "robot", robot.problem == nil ? .ok : .fail, robot.summary,
                remedy: robot.problem == nil
                    ? ""
                    : "Check that robot.gpio_chip, robot.first_line and robot.home_line name free lines (gpioinfo lists them), and that the user of airframed is in the group gpio."
            )
        }
    }

    /// Check of the sensor's mounting. At rest and level, the z axis (down) must read about -9.81
    /// m/s², because the specific force points up. `isCalibrated` is true if a calibration of the
    /// mounting is active.
    static func mounting(_ status: Status, isCalibrated: Bool) -> DoctorCheck? {
        let accel = status.imu.accelMS2
        guard status.estimator.isAtRest, let x = accel.x.known, let y = accel.y.known,
            let z = accel.z.known
        else { return nil }
        let reading = [x, y, z].map { Format.fixed($0, 2, signed: true) }.joined(separator: " ")
        let found = "the accelerometer at rest reads \(reading) m/s²"
        let rule = "a level camera reads 0 0 -9.81"
        let again =
            "run `airframectl calibrate mounting` again: the saved calibration of the mounting replaces imu.mounting_deg."
        if z < -0.87 * gravity {
            return DoctorCheck("level frame", .ok, "\(found); \(rule)")
        }
        if z > 0.5 * gravity {
            return DoctorCheck(
                "level frame", .warn, "\(found), so the sensor is upside down; \(rule)",
                remedy: "If the camera is upright, "
                    + (isCalibrated ? again : "add a rotation of 180° to imu.mounting_deg."))
        }
        return DoctorCheck(
            "level frame", .warn, "\(found), so the sensor is tilted; \(rule)",
            remedy: "If the camera is level, "
                + (isCalibrated
                    ? again : "run `airframectl calibrate mounting`, or correct imu.mounting_deg."))
    }

    static func attitude(_ status: Status) -> DoctorCheck {
        let norm = status.attitude.quaternion.map(\.value).reduce(0) { $0 + $1 * $1 }
        guard norm.isFinite else {
            return DoctorCheck(
                "attitude", .fail, "not known",
                remedy:
                    "The estimator has not received a usable sample; see the check \"imu samples\"."
            )
        }
        guard (norm - 1).magnitude < 1e-3 else {
            return DoctorCheck(
                "attitude", .fail,
                "the quaternion's length is \(Format.fixed(norm.squareRoot(), 4))",
                remedy:
                    "This is an error in airframed: please report this error with the output of `airframectl --json status`."
            )
        }
        let isSettled = status.estimator.isConverged
        return DoctorCheck(
            "attitude", isSettled ? .ok : .warn,
            isSettled ? "converged, " + bias(status.estimator) : "not converged yet",
            remedy: isSettled ? "" : "Hold the camera still for a few seconds.")
    }

    private static func bias(_ estimator: EstimatorStatus) -> String {
        let bias = estimator.gyroBiasDps
        let text = [bias.x, bias.y, bias.z].map { Format.fixed($0.value, 3, signed: true) }
        return "gyro bias \(text.joined(separator: " ")) °/s"
    }

    static func unsaved(_ status: Status) -> DoctorCheck? {
        let keys = status.configuration.unsaved
        guard !keys.isEmpty else { return nil }
        return DoctorCheck(
            "settings", .warn, "not saved: \(keys.joined(separator: ", "))",
            remedy:
                "`airframectl diff` shows the unsaved changes, and `airframectl save` keeps them.")
    }
}
