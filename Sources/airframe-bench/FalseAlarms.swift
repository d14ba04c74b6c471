import GimbalCore
import Simulation

/// Starts of the motors in the hand of a person who walks, runs or stands, with nothing wrong: no fault may be named.
enum FalseAlarms {
    /// Conditions that name a fault.
    private static var alarms: Conditions {
        .responseReversed | .gyroContradicted | .imuFrozen | .imuImplausible | .gravityMismatch
    }

    /// Switched on in motion, with nothing wrong.
    static func run(_ report: inout BenchReport) {
        for type in [MotorType.torque, .field, .servo] {
            var alarms = 0
            var starts = 0
            for motion in [BaseMotion.Kind.walking, .running, .handheld] {
                for factor in [1 / 17.0, 1, 4] {
                    for seed in UInt64(1)...75 {
                        var run = PointingRun.inMotion(motion, seed: seed, seconds: 4)
                        run.use(type)
                        run.parameters.plant.inertia = run.parameters.plant.inertia * factor
                        if run.run().conditions.intersects(Self.alarms) { alarms += 1 }
                        starts += 1
                    }
                }
            }
            report.check(
                "\(starts) starts in motion, \(type): false alarms", Double(alarms),
                atMost: 0, "")
        }
    }
}
