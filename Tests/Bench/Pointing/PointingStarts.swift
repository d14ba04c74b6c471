import GimbalCore
import Simulation

/// Runs with the default tuning, but with other gimbals and other starts.
enum PointingStarts {
    private struct Case: Sendable {
        var name: String
        var change: @Sendable (inout SimulatedGimbal.Parameters) -> Void
    }

    private static let cases = [
        Case(name: "default gimbal") { _ in },
        Case(name: "1/17 of the inertia") { $0.plant.inertia = AxisVector(repeating: 2.5e-3 / 17) },
        Case(name: "4 x the inertia") { $0.plant.inertia = AxisVector(repeating: 1e-2) },
        Case(name: "3 x the friction") {
            $0.plant.friction.coulomb *= 3
            $0.plant.friction.stiction *= 3
        },
        // The centre of mass of a camera of 0.5 kg is 5 mm off the axes, on a diagonal.
        Case(name: "imbalance of 5 mm") {
            let moment = 0.5 * 0.005 / 3.0.squareRoot()
            $0.plant.imbalance = Vector3(moment, moment, moment)
        },
        Case(name: "2 ms of delay") { $0.transportDelay = 0.00002 },
        Case(name: "6 ms of delay") { $0.transportDelay = 0.00402 },
        Case(name: "friction without creep") { $0.plant.friction.breakawayAngle = 2e-5 },
        Case(name: "no encoders") { $0.encoderCounts = 0 },
        Case(name: "twice the noise") {
            $0.imu.gyroNoiseDensity *= 2
            $0.imu.accelNoiseDensity = $0.imu.accelNoiseDensity * 2
        },
    ]

    static func run(_ report: inout BenchReport) {
        for motion in [HandleMotion.still, .walking] {
            for one in cases { start(one, motion, loopHz: 1000, &report) }
            start(Case(name: "500 Hz loop") { _ in }, motion, loopHz: 500, &report)
        }
        coldStart(&report)
    }

    /// Checks the identified inertia, the absence of tremor, and the camera's turn during the
    /// identification.
    private static func start(
        _ one: Case, _ motion: HandleMotion, loopHz: Int, _ report: inout BenchReport
    ) {
        var run = PointingRun()
        run.motion = motion
        run.loopHz = loopHz
        run.seconds = 16
        run.settled = 8
        run.isCalibrated = true
        run.stillSeconds = 1
        one.change(&run.parameters)
        let outcome = run.run()
        let name = "\(motion.rawValue), \(one.name)"
        let shake = max(outcome.roll.shake, outcome.pitch.shake) * 1000
        report.check("\(name): rate above 15 Hz, RMS", outcome.tremor.rms, atMost: 3, "deg/s")
        report.note(
            "    inertia found/true \(text(outcome.inertiaRatio)), turn in the identification"
                + " \(text(outcome.searchAngle)) deg, shake \(text(shake)) mdeg,"
                + " level after \(text(outcome.level)) s")
    }

    /// Measures 64 starts of the motors while a person walks. Each start has a different walker and
    /// a different sensor.
    private static func coldStart(_ report: inout BenchReport) {
        let levels = levels { _ in }
        report.check(
            "switched on while walking: time to 1 deg", levels.max() ?? .nan, atMost: 2,
            "s")
        let others: [(String, (inout PointingRun) -> Void)] = [
            ("gyroscope bias of 1 deg/s RMS", { $0.parameters.imu.gyroBias *= 2 }),
            ("with servos", { $0.use(.servo) }), ("without encoders", { $0.use(.field) }),
        ]
        for (name, change) in others {
            let levels = Self.levels(change: change)
            report.note(
                "    \(name): \(levels.count { $0 <= 2 }) of \(levels.count) within 2 s, the last"
                    + " after \(text(levels.max() ?? .nan)) s")
        }
    }

    /// Time after which the camera always remained within 1° of level, s, in each run.
    private static func levels(change: (inout PointingRun) -> Void) -> [Double] {
        (UInt64(1)...64).map { seed in
            var run = PointingRun.inMotion(.walking, seed: seed, seconds: 12)
            change(&run)
            return run.run().level
        }
    }

    private static func text(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        return "\((value * 100).rounded() / 100)"
    }
}
