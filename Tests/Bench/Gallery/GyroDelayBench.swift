import GimbalCore
import Glibc
import Identification
import PlainText
import Simulation

/// Benchmark of the autotune's identification of the gyroscope's delay, on random gimbals with
/// encoders.
///
/// The sensor's filter has a random group delay of 0.2 to 5 ms. The handle is at rest.
enum GyroDelayBench {
    static func run(_ report: inout BenchReport) {
        var errors: [Double] = []
        var unknown = 0
        var ended = 0
        for seed in UInt64(0)..<60 {
            let drawn = DrawnGimbal(seed: seed, motor: .torque)
            guard drawn.parameters.encoderCounts > 0 else { continue }
            var random = RandomSource(seed: seed, stream: 0x6D61)
            let delay = 0.2 + 4.8 * random.uniform()
            guard let run = autotune(drawn, delay: delay), case .done = run.outcome else {
                ended += 1
                continue
            }
            guard let found = run.gyroDelay else {
                unknown += 1
                continue
            }
            errors.append(abs(found.seconds * 1e3 - delay))
        }
        errors.sort()
        report.note(
            "gyroscope's delay, random gimbals: \(errors.count) found, \(unknown) uncertain,"
                + " \(ended) without a complete autotune")
        guard !errors.isEmpty else { return report.fail("gyroscope's delay: none found") }
        func rank(_ share: Double) -> Double {
            errors[min(Int(share * Double(errors.count)), errors.count - 1)]
        }
        report.check("gyroscope's delay: error, median", rank(0.5), atMost: 0.1, "ms")
        report.check("gyroscope's delay: error, p90", rank(0.9), atMost: 0.2, "ms")
        report.check("gyroscope's delay: error, worst", rank(1), atMost: 0.5, "ms")
    }

    /// Runs an autotune of all axes; nil if the tuning of the gimbal cannot be computed.
    private static func autotune(_ drawn: DrawnGimbal, delay: Double) -> AutotuneRun? {
        var parameters = drawn.parameters
        parameters.imu.gyroBandwidthHz = 2.0.squareRoot() / (2 * .pi * delay * 1e-3)
        guard let tuning = try? drawn.tuning(loopHz: drawn.loopHz) else { return nil }
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(.still, seed: drawn.seed),
                seed: drawn.seed), tuning, rateHz: drawn.loopHz)
        var run = AutotuneRun(
            axes: GimbalAxis.allCases, present: tuning, tickRate: Double(drawn.loopHz))
        loop.run(seconds: 9)
        run.finish(in: &loop)
        return run
    }
}
