import GimbalCore
import PlainText
import Simulation

/// Seeds of the random gimbals. Developers choose the parameters with one half of the seeds, and
/// report the results of the other half.
enum GallerySeeds {
    case all
    case even
    case odd
    case only(UInt64)

    init?(_ text: String) {
        switch text {
        case "all": self = .all
        case "even": self = .even
        case "odd": self = .odd
        default:
            guard let seed = UInt64(text) else { return nil }
            self = .only(seed)
        }
    }

    /// The first `count` seeds.
    func first(_ count: Int) -> [UInt64] {
        switch self {
        case .all: (0..<count).map { UInt64($0) }
        case .even: (0..<count).map { UInt64(2 * $0) }
        case .odd: (0..<count).map { UInt64(2 * $0 + 1) }
        case .only(let seed): [seed]
        }
    }
}

/// Benchmark of random gimbals with each motion of the handle. The benchmark counts the gimbals
/// that start, hold the camera, do not oscillate, and are not switched off because of a false
/// alarm.
enum GalleryBench {
    private struct Row {
        var gimbal: DrawnGimbal
        var outcome: GalleryRun.Outcome
    }

    static func run(_ options: Options, _ report: inout BenchReport) throws {
        let gimbals = (options.seeds ?? .all).first(options.count ?? 200).map {
            DrawnGimbal(seed: $0)
        }
        let motions: [HandleMotion] =
            options.motion.map { [$0] } ?? [.still, .handheld, .walking, .running]
        for motion in motions {
            var rows: [Row] = []
            for gimbal in gimbals {
                var run = GalleryRun(gimbal: gimbal, motion: motion)
                if case .only = options.seeds { run.isTraced = true }
                rows.append(Row(gimbal: gimbal, outcome: try run.run()))
            }
            tell(motion, rows, &report)
        }
    }

    private static func tell(
        _ motion: HandleMotion, _ rows: [Row], _ report: inout BenchReport
    ) {
        report.note("")
        report.note("\(rows.count) gimbals, \(motion.rawValue)")
        let missed: [(String, (GalleryRun.Outcome) -> Bool)] = [
            ("not started within 8 s", { !($0.start < 8) }),
            ("not held within 5°", { !$0.isHeld }),
            ("oscillating", { $0.isOscillating }),
            ("shut off", { $0.isShutOff }),
            ("false alarm", { !$0.faults.isEmpty }),
        ]
        for (name, isMissed) in missed {
            report.check(
                "\(motion.rawValue): \(name)", Double(rows.count { isMissed($0.outcome) }),
                atMost: 0, "")
        }
        for type in [MotorType.torque, .field, .servo] {
            let all = rows.filter { $0.gimbal.parameters.motor == type }
            let some = all.filter { $0.outcome.isHeld }
            guard !some.isEmpty else { continue }
            let counts = missed.map { name, isMissed in
                "\(all.count { isMissed($0.outcome) }) \(name)"
            }
            report.note(
                "\(type): \(all.count), \(counts.joined(separator: ", ")); gimbals that were held: shake"
                    + " \(spread(some.map(\.outcome.shake)))°, hold"
                    + " \(spread(some.map(\.outcome.hold)))° (median, p90, worst)")
        }
        let wrong = rows.filter { row in missed.contains { $0.1(row.outcome) } }
        let worst = rows.sorted { $0.outcome.hold > $1.outcome.hold }.prefix(3)
        for row in wrong {
            report.note(describe(row, missed.filter { $0.1(row.outcome) }.map(\.0)))
        }
        for row in worst where !wrong.contains(where: { $0.gimbal.seed == row.gimbal.seed }) {
            report.note(describe(row, ["among the worst"]))
        }
    }

    private static func describe(_ row: Row, _ verdicts: [String]) -> String {
        let outcome = row.outcome
        return "seed \(row.gimbal.seed): \(verdicts.joined(separator: ", "));"
            + " \(outcome.faults.names); start \(Format.fixed(outcome.start, 1)) s, turned"
            + " \(Format.fixed(outcome.searchAngle, 1))°, shake \(Format.fixed(outcome.shake, 3))°,"
            + " hold \(Format.fixed(outcome.hold, 2))°, largest"
            + " \(Format.fixed(outcome.largest, 1))°, tremor \(Format.fixed(outcome.tremor, 1))"
            + " deg/s (\(Format.fixed(outcome.buzz, 3))°), inertia x \(Format.fixed(outcome.inertiaRatio, 2)) [\(row.gimbal.summary)]"
    }

    private static func spread(_ values: [Double]) -> String {
        let sorted = values.sorted()
        let most = sorted.count - 1
        return [0.5, 0.9, 1].map {
            Format.fixed(sorted[Int(($0 * Double(most)).rounded())], 3)
        }.joined(separator: ", ")
    }
}
