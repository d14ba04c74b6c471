import GimbalCore
import PlainText
import Simulation
import Wire

/// Starts of the motors in the hand of a person who walks, runs or stands, with nothing wrong: no
/// fault may be named.
enum FalseAlarms {
    /// Conditions that name a fault.
    private static var alarms: Conditions {
        .responseReversed | .gyroContradicted | .imuFrozen | .imuImplausible | .gravityMismatch
    }

    /// The faults among what held, by name; empty: none.
    static func names(in held: Conditions) -> String {
        Conditions.catalogue.filter {
            $0.condition.intersects(alarms) && held.intersects($0.condition)
        }.map(\.name).joined(separator: " ")
    }

    /// Switched on in motion, with nothing wrong.
    static func run(_ report: inout BenchReport, only: [String]) {
        for type in [MotorType.torque, .field, .servo]
        where only.allSatisfy({ "starts, \(type)".contains($0) }) {
            var alarms = 0
            var flung = 0
            var starts = 0
            for motion in [HandleMotion.walking, .running, .handheld] {
                for factor in [1 / 17.0, 1, 4] {
                    for seed in UInt64(1)...75 {
                        var run = PointingRun.inMotion(motion, seed: seed, seconds: 4)
                        run.use(type)
                        run.parameters.plant.inertia = run.parameters.plant.inertia * factor
                        let held = run.run().conditions
                        starts += 1
                        // The camera was really flung: that is told apart from faults that there
                        // are not.
                        if held.intersects(.rotorLost) { flung += 1 }
                        let names = Self.names(in: held)
                        guard !names.isEmpty else { continue }
                        alarms += 1
                        report.note(
                            "    \(names): \(type), \(motion), seed \(seed),"
                                + " \(Format.fixed(factor, 2)) x inertia")
                    }
                }
            }
            report.check(
                "\(starts) starts in motion, \(type): false alarms", Double(alarms),
                atMost: 0, "")
            report.check(
                "\(starts) starts in motion, \(type): cameras flung", Double(flung), atMost: 0, "")
        }
    }
}
