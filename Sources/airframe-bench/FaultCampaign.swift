import GimbalCore
import Port
import Realtime
import Simulation

/// Every fault in every mode from every source, with a seed of its own each.
struct FaultCampaign {
    /// The worst of one fault.
    struct Row {
        var fault: FaultRun.Fault
        var runs = 0
        var slowest = 0.0
        var largest = 0.0
        var largestUntilSafe = 0.0
        /// The run of `largest`: mode and seed.
        var worst = ""
        /// Runs that never became safe.
        var unsafe = 0
        /// Runs whose outputs were on at the end although they may not come back.
        var returned = 0
    }

    /// Modes in which motors are on.
    var modes: [Mode] = [.locked, .panFollow, .fpv, .tracking, .neutral]
    /// The faults.
    var faults = FaultRun.Fault.allCases.filter { !FaultRun.Fault.sensorLies.contains($0) }
    /// The links that command.
    var links = CommandSource.Link.allCases

    /// The gimbal that the faults meet, and how it is carried.
    var gimbal = FaultGimbal.standard
    var motion = BaseMotion.Kind.walking

    /// - Parameter seeds: Of each combination.
    /// - Returns: A row for each fault.
    func rows(seeds: Int) -> [Row] {
        faults.map { fault in
            var row = Row(fault: fault)
            for mode in modes {
                for link in links {
                    for seed in 0..<seeds {
                        let number = UInt64(row.runs) &* 7919 &+ UInt64(seed) &+ 1
                        let run = FaultRun(
                            fault: fault, mode: mode, source: link, seed: number,
                            gimbal: gimbal, motion: motion)
                        Self.count(run.run(), of: run, in: &row)
                    }
                }
            }
            return row
        }
    }

    private static func count(_ outcome: FaultRun.Outcome, of run: FaultRun, in row: inout Row) {
        row.runs += 1
        row.largestUntilSafe = max(row.largestUntilSafe, outcome.untilSafe)
        if outcome.unintended > row.largest {
            row.largest = outcome.unintended
            row.worst = "\(run.mode.name), seed \(run.seed)"
        }
        if outcome.secondsToSafe.isNaN {
            if row.fault.kind != .lie { row.unsafe += 1 }
        } else {
            row.slowest = max(row.slowest, outcome.secondsToSafe)
        }
        if row.fault.kind != .command, row.fault.kind != .lie, outcome.isOn { row.returned += 1 }
    }
}
