import GimbalCore
import PlainText
import Simulation

/// Plants that are not as believed, on gimbals drawn at random that stand still: how far the true camera turns, and whether anything
/// trembles when it is over.
enum PlantFaultBench {
    /// Farther than this a camera that stands may not turn, degrees.
    private static let farthest = 3.0

    static func run(_ options: Options, _ report: inout BenchReport) throws {
        for fault in PlantFault.allCases {
            report.note("")
            report.note(fault.rawValue)
            for motor in [MotorType.torque, .field, .servo] where fault.concerns(motor) {
                try row(fault, motor, options, &report)
            }
        }
    }

    private static func row(
        _ fault: PlantFault, _ motor: MotorType, _ options: Options, _ report: inout BenchReport
    ) throws {
        var turns: [Double] = []
        var lines: [String] = []
        var (trembling, off, far) = (0, 0, 0)
        for seed in options.seeds.first(options.count) {
            let gimbal = DrawnGimbal(seed: seed, motor: motor)
            var run = GalleryRun(gimbal: gimbal, motion: .still)
            run.fault = fault
            let outcome = try run.run()
            turns.append(outcome.turned)
            // What oscillates at the end: the fault itself may shake the camera until it is recognised.
            if outcome.isTrembling { trembling += 1 }
            if outcome.isShutOff { off += 1 }
            let isFar = outcome.turned > farthest
            if isFar { far += 1 }
            if isFar || outcome.isTrembling || outcome.isShutOff {
                lines.append(
                    "    seed \(seed): turned \(Format.fixed(outcome.turned, 1))°, at the end"
                        + " \(Format.fixed(outcome.turnedLast, 1))°, tremor"
                        + " \(Format.fixed(outcome.lastTremor, 1)) deg/s \(outcome.faults.names)"
                        + " [\(gimbal.summary)]")
            }
        }
        let sorted = turns.sorted()
        let most = sorted.count - 1
        report.note(
            "\(motor): \(turns.count) gimbals turned by"
                + " \(Format.fixed(sorted[most / 2], 2)), \(Format.fixed(sorted[most * 9 / 10], 2)),"
                + " \(Format.fixed(sorted[most], 1))° (median, p90, worst)")
        report.check("\(fault), \(motor): beyond 3°", Double(far), atMost: 0, "")
        report.check("\(fault), \(motor): trembling at the end", Double(trembling), atMost: 0, "")
        report.check("\(fault), \(motor): shut off", Double(off), atMost: 0, "")
        for line in lines { report.note(line) }
    }
}
