import GimbalCore
import Glibc
import Policy
import Port
import Realtime
import Simulation

/// One run of the campaign: a fault, the gimbal that it meets, the mode, and the link that is in control.
///
/// Commands go through the real `Commander` and the real loop, sensor faults through the simulated sensor. The unintended
/// motion is the camera's true motion: until the outputs are off its angle to the same run, same seed, without the fault;
/// for half a second after that its angle to a run in which an emergency stop turned healthy outputs off at that moment. So a
/// camera that coasts counts, and one that falls because it is unpowered does not.
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
        case gyroBurst = "gyroscope: 500 °/s for 100 ms"
        case gyroStuck = "gyroscope: stuck at 50 °/s"
        case gyroZero = "gyroscope: stuck at zero"
        case gyroFrozen = "gyroscope: stuck at its last value"
        case gyroSpike = "gyroscope: one sample of 30 rad/s"
        case gyroSpikes = "gyroscope: ten of them, 20 ms apart"
        case gyroReversed = "gyroscope: sign flips"
        case accelFrozen = "accelerometer: stuck at its last value"
        case accelSideways = "accelerometer: sideways for 5 s"

        /// Those in which a sensor that goes on delivering is wrong.
        static let sensorLies: [Fault] = [
            .gyroBurst, .gyroStuck, .gyroZero, .gyroFrozen, .gyroSpike, .gyroSpikes,
            .gyroReversed, .accelFrozen, .accelSideways,
        ]

        /// What it belongs to, and with it the bars.
        var kind: Kind {
            switch self {
            case .dropOut, .frozen, .notANumber, .infinite, .timeBack, .busError, .gyroStuck,
                .gyroZero, .gyroFrozen, .accelFrozen:
                .sensor
            case .gyroBurst, .gyroSpike, .gyroSpikes, .gyroReversed, .accelSideways: .lie
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
        /// A sensor says for a moment what is not so: the outputs may go off or stay on.
        case lie
    }

    /// What came out.
    struct Outcome {
        /// From the fault until outputs off or, for commands, set-point still; s. NaN: never.
        var secondsToSafe = Double.nan
        /// Largest unintended motion of the true camera, degrees.
        var unintended = 0.0
        /// The same until the outputs are off or, for commands, until the set-point is still.
        var untilSafe = 0.0
        /// Whether the outputs are on at the end.
        var isOn = false
        /// Everything that held after the fault.
        var conditions: Conditions = .none
    }

    var fault: Fault
    var mode = Mode.locked
    var source = CommandSource.Link.diagnostics
    var seed: UInt64 = 1
    var gimbal = FaultGimbal.standard
    var motion = BaseMotion.Kind.walking

    /// When it goes wrong, s: bias, inertia and friction are known by then.
    static let onset = 5.0
    /// How long is looked at it, s.
    var after: Double { fault == .accelSideways ? 6 : fault == .gyroBurst ? 3 : 1.6 }
    /// How long a camera may coast that its motors have let go, s.
    static let coast = 0.5

    func run() -> Outcome {
        let intended = trace(isFaulty: false)
        let faulty = trace(isFaulty: true)
        var outcome = Outcome()
        for (index, point) in faulty.enumerated() {
            outcome.conditions.insert(point.conditions)
            outcome.isOn = point.isEnabled
            if outcome.secondsToSafe.isNaN, isSafe(point) {
                outcome.secondsToSafe = Double(index) * 1e-3 + silenceBefore
            }
        }
        let off = faulty.firstIndex { !$0.isEnabled } ?? faulty.count
        let safe =
            fault.kind == .command
            ? Int((outcome.secondsToSafe.isNaN ? after : outcome.secondsToSafe) * 1e3) : off
        for (point, healthy) in zip(faulty, intended).prefix(safe + 1) {
            outcome.unintended = max(outcome.unintended, deviation(point, healthy))
        }
        outcome.untilSafe = outcome.unintended
        guard fault.kind != .command, off < faulty.count else { return outcome }
        let released = trace(isFaulty: false, stop: Self.onset + Double(off) * 1e-3)
        for (point, healthy) in zip(faulty, released).dropFirst(off).prefix(Int(Self.coast * 1e3)) {
            outcome.unintended = max(outcome.unintended, deviation(point, healthy))
        }
        // Once the outputs have come back, the horizon must be what it was; the heading is free, and two modes keep none.
        guard mode != .fpv, mode != .neutral,
            let on = faulty.indices.first(where: { $0 > off && faulty[$0].isEnabled })
        else {
            return outcome
        }
        for (point, healthy) in zip(faulty, intended).dropFirst(on + 1000) where point.isEnabled {
            outcome.unintended = max(outcome.unintended, point.tilt(from: healthy))
        }
        return outcome
    }

    /// What the fault has done to the camera, degrees. A camera that stops because nobody commands it any more differs
    /// from one that goes on by what was commanded: there the attitude's error counts, it is held.
    private func deviation(_ point: Point, _ intended: Point) -> Double {
        if fault.kind == .command { return point.error }
        return intended.attitude.error(to: point.attitude).norm * 180 / .pi
    }

    private func isSafe(_ point: Point) -> Bool {
        switch fault.kind {
        case .sensor, .order, .response, .lie: !point.isEnabled
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

        /// Angle between the vertical as this camera and as another one sees it, degrees.
        func tilt(from other: Point) -> Double {
            let down = Vector3(0, 0, 1)
            let mine = attitude.inverseRotate(down)
            let theirs = other.attitude.inverseRotate(down)
            return atan2(mine.cross(theirs).norm, mine.dot(theirs)) * 180 / .pi
        }
    }

    /// The run, from the onset on, a point for every millisecond, with an emergency stop at `stop`, s.
    private func trace(isFaulty: Bool, stop: Double? = nil) -> [Point] {
        var gimbal = SimulatedGimbal(
            parameters: gimbal.simulated,
            motion: BaseMotion(motion, seed: seed, stillDuration: 2), seed: seed)
        var assembly = LockstepEngine.assemble(parameters: self.gimbal.stabilizer)
        let commander = Commander(
            ring: assembly.commands, bootMode: .locked, rules: Commander.Rules())
        let holder = CommandSource(link: source, connection: 1)
        var points: [Point] = []
        for tick in 1...Int((Self.onset + after) * 1000) {
            let time = Double(tick) * 1e-3
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            let isWrong = isFaulty && time >= Self.onset
            if isWrong { inject(&gimbal, commander, holder, tick: tick, now: now) }
            command(commander, holder, tick: tick, now: now, isWrong: isWrong)
            if let stop, time >= stop {
                try? commander.request(.emergencyStop, from: holder, now: now)
            }
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
        // A camera that is let go in a turn would coast without any fault.
        let isTurning = fault.kind == .command || fault.kind == .order
        guard tick > 3500, tick % 50 == 0, !isSilent, isTurning else { return }
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
        case .gyroBurst:
            let lasts = tick < Int(Self.onset * 1000) + 100
            gimbal.fault = lasts ? .gyroOffset(direction * (500 * .pi / 180)) : nil
        case .gyroStuck: gimbal.fault = .gyroStuck(direction * (50 * .pi / 180))
        case .gyroZero: gimbal.fault = .gyroStuck(.zero)
        case .gyroFrozen: gimbal.fault = .gyroFrozen
        case .gyroSpike: gimbal.fault = isFirst ? .gyroOffset(direction * 30) : nil
        case .gyroSpikes:
            let since = tick - Int(Self.onset * 1000)
            let isSpike = since % 20 == 0 && since < 200
            gimbal.fault = isSpike ? .gyroOffset(direction * 30) : nil
        case .gyroReversed: gimbal.fault = .gyroReversed
        case .accelFrozen: gimbal.fault = .accelFrozen
        case .accelSideways:
            let lasts = tick < Int(Self.onset * 1000) + 5000
            let about = seed % 2 == 0 ? Vector3(.pi / 2, 0, 0) : Vector3(0, .pi / 2, 0)
            gimbal.fault = lasts ? .accelTurned(Quaternion(rotationVector: about)) : nil
        case .busError, .silence: break
        }
    }

    /// About which axis a gyroscope lies: x, y, z or all, by the seed.
    private var direction: Vector3 {
        switch seed % 4 {
        case 0: Vector3(1, 0, 0)
        case 1: Vector3(0, -1, 0)
        case 2: Vector3(0, 0, 1)
        default: Vector3(0.577, -0.577, 0.577)
        }
    }
}
