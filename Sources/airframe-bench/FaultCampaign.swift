import GimbalCore
import Realtime
import Simulation

/// What can go wrong, who is in control meanwhile, and in which mode: one run of the campaign.
///
/// Commands go through the real `Commander` and the real loop, sensor faults through the simulated sensor. The unintended
/// motion is the angle to the same run, same seed, without the fault, from the fault until the outputs are off; after
/// that an unpowered camera falls, and nobody is to blame.
struct FaultRun {
    /// What goes wrong, at `onset`.
    enum Fault: String, CaseIterable {
        case dropOut = "IMU: no sample"
        case frozen = "IMU: frozen"
        case notANumber = "IMU: not a number"
        case infinite = "IMU: infinite"
        case timeBack = "IMU: time runs back"
        case busError = "bus: transfers fail"
        case emergencyStop = "emergency stop"
        case shutdown = "the service ends"
        case silence = "commands: silence"
        case disconnection = "commands: disconnection"
        case garbage = "commands: nonsense"
        case flood = "commands: flood of somebody else"
        case yawReversed = "yaw motor reversed"
        case rollReversed = "roll motor reversed"
        case pitchReversed = "pitch motor reversed"

        /// What it belongs to, and with it the bars.
        var kind: Kind {
            switch self {
            case .dropOut, .frozen, .notANumber, .infinite, .timeBack, .busError: .sensor
            case .emergencyStop, .shutdown: .order
            case .silence, .disconnection, .garbage, .flood: .command
            case .yawReversed, .rollReversed, .pitchReversed: .response
            }
        }
    }

    /// What a fault belongs to.
    enum Kind {
        /// The outputs must go off.
        case sensor
        /// The outputs must go off, because somebody said so.
        case order
        /// The camera must stand still, and be held.
        case command
        /// The outputs must go off, and stay off.
        case response
    }

    /// What came out.
    struct Outcome {
        /// From the fault until outputs off or, for commands, set-point still; s. NaN: never.
        var secondsToSafe = Double.nan
        /// Largest difference from the same run without the fault while the outputs are on, degrees.
        var unintended = 0.0
        /// Whether the outputs are on at the end.
        var isOn = false
        /// Everything that held after the fault.
        var conditions: Conditions = .none
    }

    var fault: Fault
    var mode = Mode.locked
    var source = CommandSource.Link.diagnostics
    var seed: UInt64 = 1

    /// When it goes wrong, s: bias, inertia and friction are known by then.
    static let onset = 5.0
    /// How long is looked at it, s.
    static let after = 1.6

    func run() -> Outcome {
        let intended = trace(isFaulty: false)
        let faulty = trace(isFaulty: true)
        var outcome = Outcome()
        for (index, point) in faulty.enumerated() {
            outcome.conditions.insert(point.conditions)
            outcome.isOn = point.isEnabled
            let time = Double(index) * 1e-3
            if outcome.secondsToSafe.isNaN {
                outcome.unintended = max(
                    outcome.unintended, deviation(point, intended[index], time))
                if isSafe(point) { outcome.secondsToSafe = time + silenceBefore }
            }
        }
        return outcome
    }

    /// What the fault has done to the camera, degrees. A camera that stops because nobody commands it any more differs
    /// from one that goes on by what was commanded: there the attitude's error counts, it is held.
    private func deviation(_ point: Point, _ intended: Point, _ time: Double) -> Double {
        if fault.kind == .command { return point.error }
        return intended.attitude.error(to: point.attitude).norm * 180 / .pi
    }

    private func isSafe(_ point: Point) -> Bool {
        switch fault.kind {
        case .sensor, .order, .response: !point.isEnabled
        // In a mode that moves by itself nobody's command was turning the camera.
        case .command:
            fault == .garbage || fault == .flood || mode == .fpv || mode == .neutral
                || point.isStill
        }
    }

    /// A dead-man counts from the last request, which came a while before the onset.
    private var silenceBefore: Double { fault == .silence ? 0.05 : 0 }

    private struct Point {
        var attitude: Quaternion
        var isEnabled: Bool
        /// Whether the set-point stands.
        var isStill: Bool
        /// From attitude to set-point, degrees.
        var error: Double
        var conditions: Conditions
    }

    /// The run, from the onset on, a point for every millisecond.
    private func trace(isFaulty: Bool) -> [Point] {
        var gimbal = SimulatedGimbal(
            parameters: SimulatedGimbal.Parameters(),
            motion: BaseMotion(.walking, seed: seed, stillDuration: 2), seed: seed)
        var assembly = LockstepEngine.assemble(parameters: Stabilizer.Parameters())
        let commander = Commander(
            ring: assembly.commands, bootMode: .locked, rules: Commander.Rules())
        let holder = CommandSource(link: source, connection: 1)
        var points: [Point] = []
        for tick in 1...Int((Self.onset + Self.after) * 1000) {
            let time = Double(tick) * 1e-3
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            let isWrong = isFaulty && time >= Self.onset
            if isWrong { inject(&gimbal, commander, holder, tick: tick, now: now) }
            command(commander, holder, tick: tick, now: now, isWrong: isWrong)
            commander.advance(now: now)
            var fresh: IMUSample?
            gimbal.advance(to: now) { fresh = $0 }
            let isLost = isWrong && fault == .busError
            let conditions: Conditions = isLost ? .busError : .none
            // Without a sample the loop runs on its deadline.
            let output = assembly.engine.tick(
                isLost ? nil : fresh, at: now, conditions: conditions)
            gimbal.apply(output, at: now)
            while assembly.telemetry.pop() != nil {}
            guard time >= Self.onset else { continue }
            let snapshot = assembly.engine.snapshot
            points.append(
                Point(
                    attitude: gimbal.attitude, isEnabled: output.enabled,
                    isStill: isStill(snapshot.pointing.rates),
                    error: snapshot.attitudeError.norm * 180 / .pi,
                    conditions: snapshot.conditions))
        }
        return points
    }

    /// Whether nothing of what was commanded still turns, rad/s: axes that the mode itself moves do not count.
    private func isStill(_ rates: AxisVector) -> Bool {
        let yaw = mode == .panFollow ? 0 : rates.yaw
        return max(abs(yaw), abs(rates.roll), abs(rates.pitch)) < 0.02
    }

    /// Somebody who holds the camera in his mode, turning it where the mode lets him.
    private func command(
        _ commander: Commander, _ holder: CommandSource, tick: Int, now: Instant, isWrong: Bool
    ) {
        if tick == 3000 { try? commander.request(.mode(mode), from: holder, now: now) }
        let isSilent = isWrong && (fault == .silence || fault == .disconnection)
        guard tick > 3500, tick % 50 == 0, !isSilent else { return }
        switch mode {
        case .tracking:
            try? commander.request(.track(pan: 0.3, tilt: 0.1), from: holder, now: now)
        case .locked:
            try? commander.request(
                .rate(AxisVector(yaw: 0.3, roll: 0, pitch: 0.1)), from: holder, now: now)
        case .panFollow:
            try? commander.request(
                .rate(AxisVector(yaw: 0, roll: 0, pitch: 0.1)), from: holder, now: now)
        case .inactive, .fpv, .neutral, .retract: break
        }
    }

    private func inject(
        _ gimbal: inout SimulatedGimbal, _ commander: Commander, _ holder: CommandSource,
        tick: Int, now: Instant
    ) {
        let isFirst = tick == Int(Self.onset * 1000)
        switch fault {
        case .dropOut: gimbal.fault = .dropOut
        case .frozen: gimbal.fault = .frozen
        case .notANumber: gimbal.fault = .notANumber
        case .infinite: gimbal.fault = .infinite
        case .timeBack: gimbal.fault = .timeShift(seconds: -0.5)
        case .emergencyStop: try? commander.request(.emergencyStop, from: holder, now: now)
        case .shutdown: if isFirst { commander.shutDown() }
        case .disconnection: if isFirst { commander.disconnected(holder, now: now) }
        case .garbage:
            let wild = AxisVector(yaw: .nan, roll: 1e9, pitch: -.infinity)
            try? commander.request(.rate(wild), from: holder, now: now)
            try? commander.request(.point(wild, duration: -1), from: holder, now: now)
            try? commander.request(.track(pan: .infinity, tilt: 0), from: holder, now: now)
        case .flood:
            let other = CommandSource(link: source == .rbl ? .airos : .rbl, connection: 9)
            for _ in 0..<50 {
                try? commander.request(
                    .point(AxisVector(repeating: 1), duration: 0), from: other, now: now)
            }
        case .yawReversed: gimbal.motorDirection.yaw = -1
        case .rollReversed: gimbal.motorDirection.roll = -1
        case .pitchReversed: gimbal.motorDirection.pitch = -1
        case .busError, .silence: break
        }
    }
}

/// Every fault in every mode from every source, with a seed of its own each.
struct FaultCampaign {
    /// The worst of one fault.
    struct Row {
        var fault: FaultRun.Fault
        var runs = 0
        var slowest = 0.0
        var largest = 0.0
        /// The run of `largest`: mode and seed.
        var worst = ""
        /// Runs that never became safe.
        var unsafe = 0
        /// Runs whose outputs were on at the end although they may not come back.
        var returned = 0
    }

    /// Modes in which motors are on.
    static let modes: [Mode] = [.locked, .panFollow, .fpv, .tracking, .neutral]

    /// - Parameters:
    ///   - seeds: Of each combination.
    ///   - links: Who commands.
    /// - Returns: A row for each fault.
    func rows(seeds: Int, links: [CommandSource.Link] = CommandSource.Link.allCases) -> [Row] {
        FaultRun.Fault.allCases.map { fault in
            var row = Row(fault: fault)
            for mode in Self.modes {
                for link in links {
                    for seed in 0..<seeds {
                        let number = UInt64(row.runs) &* 7919 &+ UInt64(seed) &+ 1
                        let run = FaultRun(fault: fault, mode: mode, source: link, seed: number)
                        Self.count(run.run(), of: run, in: &row)
                    }
                }
            }
            return row
        }
    }

    private static func count(_ outcome: FaultRun.Outcome, of run: FaultRun, in row: inout Row) {
        row.runs += 1
        if outcome.unintended > row.largest {
            row.largest = outcome.unintended
            row.worst = "\(run.mode.name), seed \(run.seed)"
        }
        if outcome.secondsToSafe.isNaN {
            row.unsafe += 1
        } else {
            row.slowest = max(row.slowest, outcome.secondsToSafe)
        }
        if row.fault.kind != .command, outcome.isOn { row.returned += 1 }
    }
}
