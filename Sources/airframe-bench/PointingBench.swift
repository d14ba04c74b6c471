import GimbalCore
import Simulation

/// How still the camera stays and how well it goes where it is told, on the default plant with the default tuning.
///
/// Angles are true camera angles. Jitter: RMS about the mean of each 10 s. Shake: RMS above 1 Hz. Hold error: RMS of
/// the controller's own error. Horizon: the mean, which an uncalibrated accelerometer decides.
enum PointingBench {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Runs everything; each figure is the worst of the seeds.
    ///
    /// - Parameters:
    ///   - options: Not used: nothing here depends on the machine.
    ///   - report: Receives the figures, angles in thousandths of a degree.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note("1 kHz, default plant and tuning, worst of seeds 1, 2, 3")
        walking(&report)
        handheld(&report)
        step(&report)
        push(&report)
        servos(&report)
        margins(&report)
        repeatability(&report)
    }

    private static func walking(_ report: inout BenchReport) {
        let outcomes = outcomes(of: PointingRun())
        report.check(
            "walking, jitter roll", worst(outcomes) { $0.roll.jitter * 1000 }, atMost: 60, "mdeg")
        report.check(
            "walking, jitter pitch", worst(outcomes) { $0.pitch.jitter * 1000 }, atMost: 60, "mdeg")
        report.show("walking, shake roll", worst(outcomes) { $0.roll.shake * 1000 }, "mdeg")
        report.show("walking, shake pitch", worst(outcomes) { $0.pitch.shake * 1000 }, "mdeg")
        report.show("walking, hold error roll", worst(outcomes) { $0.holdRoll.rms * 1000 }, "mdeg")
        report.show(
            "walking, hold error pitch", worst(outcomes) { $0.holdPitch.rms * 1000 }, "mdeg")
        report.show("walking, horizon roll", worst(outcomes) { abs($0.roll.mean) * 1000 }, "mdeg")
        report.show("walking, horizon pitch", worst(outcomes) { abs($0.pitch.mean) * 1000 }, "mdeg")
        report.show("switched on at rest to full authority", worst(outcomes) { $0.start }, "s")
    }

    private static func handheld(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .handheld
        let outcomes = outcomes(of: run)
        report.show("hand-held, shake roll", worst(outcomes) { $0.roll.shake * 1000 }, "mdeg")
        report.show("hand-held, shake pitch", worst(outcomes) { $0.pitch.shake * 1000 }, "mdeg")
    }

    private static func step(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .still
        run.seconds = 14
        run.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: 30 * .pi / 180), at: 12)
        let outcomes = outcomes(of: run)
        report.check(
            "30 deg pitch step, settled within 2 %", worst(outcomes) { $0.step(30).settling },
            atMost: 0.5, "s")
        report.check(
            "30 deg pitch step, overshoot", worst(outcomes) { $0.step(30).overshoot }, atMost: 5,
            "%")
    }

    private static func push(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .still
        run.seconds = 14
        run.event = .push(0.020, at: 12)
        let outcomes = outcomes(of: run)
        report.show("20 mN·m push, peak", worst(outcomes) { $0.displacement().peak * 1000 }, "mdeg")
        report.show(
            "20 mN·m push, 0.15 s later", worst(outcomes) { $0.displacement().late * 1000 }, "mdeg")
    }

    private static func servos(_ report: inout BenchReport) {
        var run = PointingRun()
        run.parameters.motor = .servo
        run.tuning.motorType = .servo
        let outcomes = outcomes(of: run)
        report.show("servos walking, shake roll", worst(outcomes) { $0.roll.shake * 1000 }, "mdeg")
        report.show(
            "servos walking, shake pitch", worst(outcomes) { $0.pitch.shake * 1000 }, "mdeg")
    }

    private static func margins(_ report: inout BenchReport) {
        let margins = LoopMargins(
            of: AttitudeController.Parameters(), axis: .pitch, inertia: 2.5e-3, delay: 0.0035)
        report.show("crossover", margins.crossover / (2 * .pi), "Hz")
        report.check("gain margin upwards", margins.increaseDecibels, atLeast: 6, "dB")
        report.check("gain margin downwards", margins.decreaseDecibels, atLeast: 6, "dB")
        report.check("phase margin", margins.phaseDegrees, atLeast: 45, "deg")
    }

    private static func repeatability(_ report: inout BenchReport) {
        var run = PointingRun()
        run.seconds = 20
        let isSame = run.run().digest == run.run().digest
        report.check(
            "second runs of a seed that differ from the first", isSame ? 0 : 1, atMost: 0, "")
    }

    private static func outcomes(of run: PointingRun) -> [PointingRun.Outcome] {
        seeds.map { seed in
            var run = run
            run.seed = seed
            return run.run()
        }
    }

    /// The largest figure; not a number when a run has none, for instance because it never started.
    private static func worst(
        _ outcomes: [PointingRun.Outcome], _ figure: (PointingRun.Outcome) -> Double
    ) -> Double {
        let values = outcomes.map(figure)
        return values.contains { $0.isNaN } ? .nan : values.max() ?? .nan
    }
}
