import PlainText
import Realtime

/// The campaign of faults: how long until it is safe, and how far the camera goes meanwhile.
enum FaultBench {
    static func run(_ options: Options, _ report: inout BenchReport) {
        let rows = FaultCampaign().rows(seeds: options.faultSeeds)
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
        report.check(
            "\(name): safe after", row.slowest * 1e3, atMost: bars.seconds * 1e3, "ms")
        report.check("\(name): unintended", row.largest, atMost: bars.degrees, "°")
        report.check(
            "\(name): never safe, or on again", Double(row.unsafe + row.returned), atMost: 0, "")
    }
}

extension FaultRun.Fault {
    /// Longest time until safe, s, and largest unintended motion, degrees.
    var bars: (seconds: Double, degrees: Double) {
        switch kind {
        case .order: (0.02, 3)
        case .response: (0.1, 3)
        case .command: (Commander.Rules().deadManSeconds + 0.02, 1)
        case .sensor: (0.05, 3)
        }
    }
}
