import GimbalCore
import PlainText
import Simulation
import Wire

/// Test for false alarms in runs without any fault: the motors start while a simulated person who
/// holds the gimbal walks, runs or stands still. Each fault that the controller reports is
/// therefore a false alarm.
enum FalseAlarms {
    /// Conditions that report a fault.
    private static var alarms: Conditions {
        .responseReversed | .gyroContradicted | .imuFrozen | .imuImplausible | .gravityMismatch
    }

    /// Names of the faults in a set of conditions; empty if the set contains no fault.
    static func names(in held: Conditions) -> String {
        Conditions.catalogue.filter {
            $0.condition.intersects(alarms) && held.intersects($0.condition)
        }.map(\.name).joined(separator: " ")
    }

    /// Simulates starts in motion without any fault, and reports the false alarms.
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
                        // If the condition `rotor_lost` is active, the rotors have really lost step
                        // in this run. The condition is then not a false alarm.
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
                "\(starts) starts in motion, \(type): rotors lost", Double(flung), atMost: 0, "")
        }
    }
}
