import GimbalCore
import Simulation

/// How still servos and open-loop brushless motors keep the camera, on the default plant with the default tuning.
///
/// The figures are those of `PointingBench`.
enum ActuatorBench {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Runs everything; each figure is the worst of the seeds.
    ///
    /// - Parameters:
    ///   - options: Not used: nothing here depends on the machine.
    ///   - report: Receives the figures, angles in thousandths of a degree.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note("1 kHz, default plant and tuning, worst of seeds 1, 2, 3")
        walking(.field, "field", roll: 100, pitch: 100, &report)
        walking(.servo, "servo", roll: 200, pitch: 350, &report)
    }

    private static func walking(
        _ type: MotorType, _ name: String, roll: Double, pitch: Double,
        _ report: inout BenchReport
    ) {
        let outcomes = seeds.map { seed in
            var run = PointingRun()
            run.parameters.motor = type
            run.tuning.motorType = type
            run.seed = seed
            return run.run()
        }
        report.check(
            "\(name) walking, shake roll", worst(outcomes) { $0.roll.shake * 1000 }, atMost: roll,
            "mdeg")
        report.check(
            "\(name) walking, shake pitch", worst(outcomes) { $0.pitch.shake * 1000 },
            atMost: pitch, "mdeg")
    }

    /// The largest figure; not a number when a run has none, for instance because it never started.
    private static func worst(
        _ outcomes: [PointingRun.Outcome], _ figure: (PointingRun.Outcome) -> Double
    ) -> Double {
        let values = outcomes.map(figure)
        return values.contains { $0.isNaN } ? .nan : values.max() ?? .nan
    }
}
