import GimbalCore
import Simulation

/// Stillness of the camera with servos and with open-loop brushless motors, with and without a
/// second IMU on the handle. The benchmark uses the default plant and the default tuning.
///
/// The results are defined as in `PointingBench`. The limits for servos come from the measured
/// errors of another program's controller. With the true delay of the servos, the other program's
/// controller has errors of 0.26° in roll and 0.45° in pitch.
enum ActuatorBench {
    /// Runs all cases; each result is the worst of all seeds.
    ///
    /// - Parameters:
    ///   - options: Options of the command line; this benchmark does not use them, because its
    ///     results do not depend on the machine.
    ///   - report: Report to which the results are added; angles are in thousandths of a degree.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note(
            "1 kHz, default plant and tuning, worst of seeds 1, 2, 3; perfect: the same run by a")
        report.note(
            "controller with the true state: exact torques, or the future motion for servos")
        field(&report)
        variants(&report)
        report.note("servo walking, reference: roll 260, pitch 450 mdeg")
        servo(&report)
    }

    private static func field(_ report: inout BenchReport) {
        shake("field walking", PointingBench.Pair(run(.field)), roll: 100, pitch: 100, &report)
        var equipped = run(.field)
        equipped.parameters.hasHandleGyro = true
        shake(
            "field walking, handle IMU", PointingBench.Pair(equipped), roll: 60, pitch: 60, &report)
        shake(
            "field hand-held", PointingBench.Pair(run(.field, .handheld)), roll: 40, pitch: 40,
            &report)
        shake("field still", PointingBench.Pair(run(.field, .still)), roll: 10, pitch: 10, &report)
        step("field", .field, &report)
    }

    private static func servo(_ report: inout BenchReport) {
        shake("servo walking", PointingBench.Pair(run(.servo)), roll: 200, pitch: 350, &report)
        var equipped = run(.servo)
        equipped.parameters.hasHandleGyro = true
        shake(
            "servo walking, handle IMU", PointingBench.Pair(equipped), roll: 100, pitch: 100,
            &report)
        shake(
            "servo hand-held", PointingBench.Pair(run(.servo, .handheld)), roll: 150, pitch: 150,
            &report)
        shake("servo still", PointingBench.Pair(run(.servo, .still)), roll: 50, pitch: 50, &report)
        for factor in [0.75, 0.9, 1.1, 1.25] {
            var other = run(.servo)
            other.parameters.servo.totalDelay *= factor
            shake(
                "servo walking, delay x \(factor)", PointingBench.Pair(other), roll: 250,
                pitch: 350, &report)
        }
        var sluggish = run(.servo)
        sluggish.parameters.servo.lag *= 2
        shake(
            "servo walking, more lag", PointingBench.Pair(sluggish), roll: 250, pitch: 350,
            &report)
        var slow = run(.servo)
        slow.parameters.servo.frameRate = 50
        shake(
            "servo walking, 50 pulses per second", PointingBench.Pair(slow), roll: 250, pitch: 350,
            &report)
        step("servo", .servo, &report)
    }

    /// Measures the stillness of cameras with another inertia, friction or imbalance, but with
    /// unchanged tuning.
    private static func variants(_ report: inout BenchReport) {
        for (name, inertia, friction, imbalance) in [
            ("inertia x 4", 4.0, 1.0, 5e-3), ("inertia x 1/4", 0.25, 1, 5e-3),
            ("friction x 3", 1, 3, 5e-3), ("imbalance of 5 mm", 1, 1, 25e-3),
        ] {
            var other = run(.field)
            other.seconds = 35
            other.parameters.plant.inertia = other.parameters.plant.inertia * inertia
            other.parameters.plant.friction.coulomb *= friction
            other.parameters.plant.friction.stiction *= friction
            other.parameters.plant.imbalance =
                Vector3(imbalance, imbalance, imbalance) * (1 / 9.81)
            shake(
                "field walking, \(name)", PointingBench.Pair(other), roll: 300, pitch: 300, &report)
        }
    }

    private static func step(
        _ name: String, _ type: MotorType, _ report: inout BenchReport
    ) {
        var turn = run(type, .still)
        turn.seconds = 14
        turn.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: 30 * .pi / 180), at: 12)
        let pair = PointingBench.Pair(turn)
        report.check(
            "\(name) 30 deg pitch step, settled within 2 %", pair.worst { $0.step(30).settling },
            atMost: 0.3, "s", perfect: pair.perfectWorst { $0.step(30).settling })
        report.check(
            "\(name) 30 deg pitch step, overshoot", pair.worst { $0.step(30).overshoot },
            atMost: 3, "%", perfect: pair.perfectWorst { $0.step(30).overshoot })
    }

    private static func run(
        _ type: MotorType, _ motion: HandleMotion = .walking
    ) -> PointingRun {
        var run = PointingRun()
        run.use(type)
        run.motion = motion
        return run
    }

    private static func shake(
        _ name: String, _ pair: PointingBench.Pair, roll: Double, pitch: Double,
        _ report: inout BenchReport
    ) {
        pair.check("\(name), shake roll", atMost: roll, &report) { $0.roll.shake }
        pair.check("\(name), shake pitch", atMost: pitch, &report) { $0.pitch.shake }
    }
}
