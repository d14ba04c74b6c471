import GimbalCore
import Glibc
import PlainText
import Policy
import Port
import Realtime
import Simulation

/// Fault campaign: measures the time from a fault until the gimbal is safe, and the motion of the
/// camera until then.
enum FaultBench {
    static func run(_ options: Options, _ report: inout BenchReport) {
        run(FaultCampaign(), seeds: options.faultSeeds, &report)
    }

    /// Runs the campaigns with faulty sensor values, and with gimbals that differ from the
    /// controller's model. Each campaign tests gimbals with every kind of motor, both at rest and
    /// carried by a walking person.
    static func runSensors(_ options: Options, _ report: inout BenchReport) throws {
        FalseAlarms.run(&report, only: options.only)
        for group in try groups(options) {
            for motion in [HandleMotion.still, .walking] {
                let name = "\(group.name), \(motion.rawValue)"
                var campaign = FaultCampaign()
                campaign.faults = (FaultRun.Fault.sensorLies + FaultRun.Fault.plantFaults).filter {
                    fault in
                    options.only.allSatisfy { "\(name), \(fault.rawValue)".contains($0) }
                }
                guard !campaign.faults.isEmpty else { continue }
                report.note(name)
                campaign.gimbals = group.gimbals
                campaign.motion = motion
                campaign.links = [.diagnostics]
                let seeds = group.isDrawn ? 1 : min(options.faultSeeds, 2)
                run(campaign, seeds: seeds, group: group.isDrawn ? name : nil, &report)
            }
        }
    }

    /// Gimbals whose runs are reported in one row.
    private struct Group {
        var name: String
        var gimbals: [FaultGimbal]
        var isDrawn = false
    }

    private static func groups(_ options: Options) throws -> [Group] {
        let single: [FaultGimbal] = [
            .standard, .phone, .blindPhone, .driven(by: .servo), .driven(by: .field),
        ]
        return try single.map { Group(name: $0.name, gimbals: [$0]) }
            + [MotorType.torque, .field, .servo].map { motor in
                Group(
                    name: "random, \(motor)",
                    gimbals: try (options.seeds ?? .even).first(options.count ?? 4).map {
                        try FaultGimbal.drawn(seed: $0, motor: motor)
                    }, isDrawn: true)
            }
    }

    /// Runs a campaign. `group` names the random gimbals and their motion. If `group` is nil, the
    /// limits in `FaultRun.Fault` apply to the gimbal.
    private static func run(
        _ campaign: FaultCampaign, seeds: Int, group: String? = nil, _ report: inout BenchReport
    ) {
        let rows = campaign.rows(seeds: seeds)
        report.note(
            Format.left("fault", 44) + Format.right("runs", 6) + Format.right("safe after", 12)
                + Format.right("median", 9) + Format.right("p90", 9) + Format.right("worst", 9))
        for row in rows {
            let shares = [0.5, 0.9, 1].map { row.unintended(share: $0) }
            report.note(
                Format.left(row.fault.rawValue, 44) + Format.right("\(row.runs)", 6)
                    + Format.right("\(Format.fixed(row.slowest * 1e3, 0)) ms", 12)
                    + shares.map { Format.right("\(Format.fixed($0, 2))°", 9) }.joined()
                    + "   \(row.worst?.name ?? "")")
            if row.fault.kind == .plant { tellPlant(row, report) }
        }
        report.note("")
        for row in rows {
            if let group {
                checkDrawn(row, group: group, &report)
            } else {
                check(row, &report)
            }
            if row.fault.kind == .plant { checkPlant(row, isDrawn: group != nil, &report) }
        }
    }

    /// Checks the results of random gimbals against `DrawnBars`, and reports the number of gimbals
    /// that exceed the limits in `FaultRun.Fault`.
    private static func checkDrawn(
        _ row: FaultCampaign.Row, group: String, _ report: inout BenchReport
    ) {
        let name = row.fault.rawValue
        let bar = row.fault.bars.coasting
        let beyond = row.results.count { $0.outcome.unintended > bar }
        if beyond > 0 {
            report.note(
                "\(name): \(beyond) of \(row.runs) runs miss the limit of"
                    + " \(Format.fixed(bar, 1))° for a phone-sized camera")
        }
        guard let bars = DrawnBars.bars(group: group, fault: row.fault) else { return }
        report.check("\(name): p90", row.unintended(share: 0.9), atMost: bars.p90, "°")
        report.check("\(name): worst", row.largest, atMost: bars.worst, "°")
    }

    private static func checkPlant(
        _ row: FaultCampaign.Row, isDrawn: Bool, _ report: inout BenchReport
    ) {
        let name = row.fault.rawValue
        let all = row.results.compactMap(\.outcome.plant)
        report.check(
            "\(name): unreported tremor", all.map(\.unnamed).max() ?? 0,
            atMost: PlantBars.unnamed, "s")
        guard !isDrawn else { return }
        report.check(
            "\(name): at the start", all.map(\.start).max() ?? 0, atMost: row.fault.bars.degrees,
            "°")
        report.check(
            "\(name): motors off, or oscillating at the end",
            Double(all.count { $0.isShutOff || $0.isTrembling }), atMost: 0, "")
    }

    private static func tellPlant(_ row: FaultCampaign.Row, _ report: BenchReport) {
        let all = row.results.compactMap { result in
            result.outcome.plant.map { (name: result.name, plant: $0, outcome: result.outcome) }
        }
        func worst(_ value: (FaultRun.PlantOutcome) -> Double) -> String {
            let most = all.max { value($0.plant) < value($1.plant) }
            guard let most else { return "" }
            return "\(Format.fixed(value(most.plant), 2)) (\(most.name))"
        }
        report.note("    start \(worst { $0.start })°, unreported \(worst { $0.unnamed }) s")
        let off = all.filter { $0.plant.isShutOff && !$0.plant.isTwinShutOff }
        report.note(
            "    beyond 3°: \(all.count { $0.outcome.unintended > 3 }), oscillated"
                + " \(all.count { $0.plant.hasOscillated }), reported"
                + " \(all.count { !$0.plant.named.isNaN }), trembling at the end"
                + " \(all.count { $0.plant.isTrembling }), off \(off.count), healthy run off"
                + " \(all.count { $0.plant.isTwinShutOff }), inertia wrong by a third"
                + " \(all.count { abs(log($0.plant.inertiaRatio)) > 0.3 })")
        for one in all
        where one.outcome.unintended > 3 || one.plant.isTrembling
            || one.plant.unnamed > PlantBars.unnamed
            || one.plant.isShutOff
        {
            report.note(
                "      \(one.name): \(Format.fixed(one.outcome.unintended, 1))°, start"
                    + " \(Format.fixed(one.plant.start, 1))°, trembled"
                    + " \(Format.fixed(one.plant.trembling, 2)) s, unreported"
                    + " \(Format.fixed(one.plant.unnamed, 2)) s, reported after"
                    + " \(Format.fixed(one.plant.named, 2)) s, at the end"
                    + " \(Format.fixed(one.plant.lastTremor, 1)) deg/s, inertia x"
                    + " \(Format.fixed(one.plant.inertiaRatio, 2))"
                    + (one.plant.isShutOff ? ", off" : "")
                    + (one.plant.isTwinShutOff ? ", healthy run off" : "")
                    + " \(one.outcome.conditions.names)")
        }
    }

    private static func check(_ row: FaultCampaign.Row, _ report: inout BenchReport) {
        let name = row.fault.rawValue
        let bars = row.fault.bars
        if row.fault.kind != .lie, row.fault.kind != .plant {
            report.check(
                "\(name): safe after", row.slowest * 1e3, atMost: bars.seconds * 1e3, "ms")
        }
        report.check(
            "\(name): unintended until safe", row.largestUntilSafe, atMost: bars.degrees, "°")
        report.check(
            "\(name): unintended with coasting", row.largest, atMost: bars.coasting, "°")
        report.check(
            "\(name): never safe, or motors on again", Double(row.unsafe + row.returned), atMost: 0,
            "")
    }
}

extension FaultRun.Fault {
    /// Largest permitted unintended motion after a sensor has delivered wrong values, degrees.
    private var largestLie: Double {
        switch self {
        case .gyroSpike: 0.1
        case .gyroSpikes: 1
        case .gyroReversed: 10
        case .accelSideways: 5
        default: 3
        }
    }

    /// Limits of one kind of fault. `seconds` is the longest time from the fault until the gimbal
    /// is safe, `degrees` the largest unintended motion until then. `coasting` is the largest
    /// unintended motion, including the coasting after the outputs are switched off.
    var bars: (seconds: Double, degrees: Double, coasting: Double) {
        switch kind {
        case .order: (0.02, 3, 3)
        case .response: (0.1, 3, 4)
        case .command: (Commander.Rules().deadManSeconds + 0.02, 1, 1)
        case .sensor: (0.05, 3, 4)
        case .lie: (.infinity, largestLie, largestLie)
        case .plant: (.infinity, 3, 3)
        }
    }
}
