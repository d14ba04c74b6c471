import GimbalCore
import Simulation

/// The same controller, untouched, on other gimbals and from other starts.
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
        // 0.5 kg 5 mm off its axes, seen from any side.
        Case(name: "5 mm off balance") {
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
        for motion in [BaseMotion.Kind.still, .walking] {
            for one in cases { start(one, motion, loopHz: 1000, &report) }
            start(Case(name: "500 Hz loop") { _ in }, motion, loopHz: 500, &report)
        }
        coldStart(&report)
    }

    /// Found inertia, no tremor, and how far the search turns the camera.
    private static func start(
        _ one: Case, _ motion: BaseMotion.Kind, loopHz: Int, _ report: inout BenchReport
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
            "    inertia found/true \(text(outcome.inertiaRatio)), search turned it"
                + " \(text(outcome.searchAngle)) deg, shake \(text(shake)) mdeg,"
                + " level after \(text(outcome.level)) s")
    }

    /// Switched on in mid-stride.
    private static func coldStart(_ report: inout BenchReport) {
        let seeds = UInt64(64)
        report.check(
            "switched on while walking: within 1 deg for good", worstLevel(seeds) { _ in },
            atMost: 2, "s")
        report.show(
            "strides 3 % uneven", worstLevel(seeds) { $0.unevenness = 0.03 }, "s")
        report.show(
            "a gyroscope twice as far off, 1 deg/s RMS",
            worstLevel(seeds) { $0.parameters.imu.gyroBias *= 2 }, "s")
        report.note("    the worst of \(seeds) walkers and sensors each")
    }

    /// Seconds until the camera was level for good, in the worst of some runs.
    private static func worstLevel(
        _ seeds: UInt64, change: (inout PointingRun) -> Void
    ) -> Double {
        var worst = 0.0
        for seed in 1...seeds {
            var run = PointingRun()
            run.seed = seed
            run.stillSeconds = 0
            run.rampSeconds = 0
            run.isCalibrated = true
            run.seconds = 12
            change(&run)
            worst = max(worst, run.run().level)
        }
        return worst
    }

    private static func text(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        return "\((value * 100).rounded() / 100)"
    }
}
