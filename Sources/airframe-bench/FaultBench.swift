import GimbalCore
import PlainText
import Policy
import Port
import Realtime
import Simulation

/// The campaign of faults: how long until it is safe, and how far the camera goes meanwhile.
enum FaultBench {
    static func run(_ options: Options, _ report: inout BenchReport) {
        run(FaultCampaign(), seeds: options.faultSeeds, &report)
    }

    /// Lying sensors, on gimbals of every kind that stand still and that are carried. Thresholds were chosen on
    /// the drawn gimbals below 200; those above were drawn for the report.
    static func runSensors(_ options: Options, _ report: inout BenchReport) {
        FalseAlarms.run(&report, only: options.only)
        let gimbals =
            [.standard, .phone, .blindPhone, .driven(by: .servo), .driven(by: .field)]
            + (1...8).map { FaultGimbal.drawn(seed: $0) }
            + (201...208).map { FaultGimbal.drawn(seed: $0) }
        for gimbal in gimbals {
            for motion in [BaseMotion.Kind.still, .walking] {
                let name = "\(gimbal.name), \(motion.rawValue)"
                let faults = FaultRun.Fault.sensorLies.filter { fault in
                    options.only.allSatisfy { "\(name), \(fault.rawValue)".contains($0) }
                }
                guard !faults.isEmpty else { continue }
                report.note(name)
                var campaign = FaultCampaign()
                campaign.gimbal = gimbal
                campaign.motion = motion
                campaign.faults = faults
                campaign.links = [.diagnostics]
                run(campaign, seeds: options.faultSeeds, &report)
            }
        }
    }

    private static func run(
        _ campaign: FaultCampaign, seeds: Int, _ report: inout BenchReport
    ) {
        let rows = campaign.rows(seeds: seeds)
        report.note(
            Format.left("fault", 36) + Format.right("runs", 6) + Format.right("safe after", 14)
                + Format.right("unintended", 14))
        for row in rows {
            report.note(
                Format.left(row.fault.rawValue, 36) + Format.right("\(row.runs)", 6)
                    + Format.right("\(Format.fixed(row.slowest * 1e3, 0)) ms", 14)
                    + Format.right("\(Format.fixed(row.largest, 2))°", 14) + "   \(row.worst)")
        }
        report.note("")
        for row in rows { check(row, &report) }
    }

    private static func check(_ row: FaultCampaign.Row, _ report: inout BenchReport) {
        let name = row.fault.rawValue
        let bars = row.fault.bars
        if row.fault.kind != .lie {
            report.check(
                "\(name): safe after", row.slowest * 1e3, atMost: bars.seconds * 1e3, "ms")
        }
        report.check(
            "\(name): unintended until safe", row.largestUntilSafe, atMost: bars.degrees, "°")
        report.check(
            "\(name): unintended with coasting", row.largest, atMost: bars.coasting, "°")
        report.check(
            "\(name): never safe, or on again", Double(row.unsafe + row.returned), atMost: 0, "")
    }
}

extension FaultRun.Fault {
    /// Largest unintended motion under a lie, degrees.
    private var largestLie: Double {
        switch self {
        case .gyroSpike: 0.1
        case .gyroSpikes: 1
        case .gyroReversed: 10
        case .accelSideways: 5
        default: 3
        }
    }

    /// Longest time until safe, s, and largest unintended motion, degrees: until then, and with the coasting after it.
    var bars: (seconds: Double, degrees: Double, coasting: Double) {
        switch kind {
        case .order: (0.02, 3, 3)
        case .response: (0.1, 3, 4)
        case .command: (Commander.Rules().deadManSeconds + 0.02, 1, 1)
        case .sensor: (0.05, 3, 4)
        case .lie: (.infinity, largestLie, largestLie)
        }
    }
}
