import GimbalCore
import Port
import Realtime
import Simulation

/// Campaign of simulation runs: all combinations of fault, mode and link, each with several seeds.
struct FaultCampaign {
    /// Outcome of one run of the campaign, with the name that identifies the run.
    struct Result {
        /// Mode and seed of the run, and its gimbal if the campaign has several gimbals.
        var name: String
        var outcome: FaultRun.Outcome
    }

    /// Results of all runs with one fault.
    struct Row {
        var fault: FaultRun.Fault
        var results: [Result] = []

        var runs: Int { results.count }
        /// Longest time from the fault until the gimbal is safe, s.
        var slowest: Double {
            results.map(\.outcome.secondsToSafe).filter { !$0.isNaN }.max() ?? 0
        }
        /// Largest unintended motion of the camera in any run, degrees.
        var largest: Double { worst?.outcome.unintended ?? 0 }
        var largestUntilSafe: Double { results.map(\.outcome.untilSafe).max() ?? 0 }
        /// Run in which the camera had the largest unintended motion.
        var worst: Result? {
            results.max { $0.outcome.unintended < $1.outcome.unintended }
        }
        /// Number of runs in which the gimbal never became safe.
        var unsafe: Int {
            guard fault.kind != .lie, fault.kind != .plant else { return 0 }
            return results.count { $0.outcome.secondsToSafe.isNaN }
        }
        /// Number of runs whose outputs were on at the end, although the fault requires them to
        /// remain off.
        var returned: Int {
            switch fault.kind {
            case .command, .lie, .plant: 0
            case .sensor, .order, .response: results.count { $0.outcome.isOn }
            }
        }

        /// Quantile of the unintended motion over all runs, degrees; `share` is its level, 0...1.
        func unintended(share: Double) -> Double {
            let sorted = results.map(\.outcome.unintended).sorted()
            guard !sorted.isEmpty else { return .nan }
            return sorted[Int((share * Double(sorted.count - 1)).rounded())]
        }
    }

    /// Modes in which motors are on.
    var modes: [Mode] = [.locked, .panFollow, .fpv, .tracking, .neutral]
    /// The faults of the campaign.
    var faults = FaultRun.Fault.allCases.filter {
        !FaultRun.Fault.sensorLies.contains($0) && $0.kind != .plant
    }
    /// The links that send commands in the campaign.
    var links = CommandSource.Link.allCases

    /// The gimbals of the campaign, and the motion of their handles.
    var gimbals = [FaultGimbal.standard]
    var motion = HandleMotion.walking

    /// Runs the campaign.
    ///
    /// - Parameter seeds: Number of seeds for each combination of fault, mode and link.
    /// - Returns: One row of results for each fault that applies to one of the gimbals.
    func rows(seeds: Int) -> [Row] {
        var rows = faults.map { Row(fault: $0) }
        var number = 0
        for gimbal in gimbals {
            for mode in modes {
                for link in links {
                    for seed in 0..<seeds {
                        let first = FaultRun(
                            fault: .dropOut, mode: mode, source: link,
                            seed: UInt64(number) &* 7919 &+ UInt64(seed) &+ 1,
                            gimbal: gimbal, motion: motion)
                        number += 1
                        run(all: first, into: &rows)
                    }
                }
            }
        }
        return rows.filter { !$0.results.isEmpty }
    }

    /// Runs every fault with the gimbal, motion, mode, link and seed of `first`.
    private func run(all first: FaultRun, into rows: inout [Row]) {
        var twins = Twins(seconds: faults.map(\.after).max() ?? 0)
        for index in rows.indices
        where rows[index].fault.concerns(first.gimbal.simulated.motor) {
            var run = first
            run.fault = rows[index].fault
            let name =
                "\(run.mode.name), seed \(run.seed)"
                + (gimbals.count > 1 ? ", \(run.gimbal.name)" : "")
            rows[index].results.append(Result(name: name, outcome: run.run(beside: &twins)))
        }
    }
}
