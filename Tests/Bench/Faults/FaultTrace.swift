import GimbalCore
import Glibc
import Policy
import Port
import Realtime
import Simulation

/// Motion and conditions in each tick of a run.
struct FaultTrace {
    /// Motion and conditions in one tick.
    struct Point {
        /// True attitude of the camera, rotation from camera to earth.
        var attitude: Quaternion
        /// True rates of the camera and of the handle, rad/s.
        var rate: Vector3
        var handleRate: Vector3
        /// True if the outputs are on.
        var isEnabled: Bool
        /// True if the set-point is still.
        var isStill: Bool
        /// Angle from the estimated attitude to the set-point, degrees.
        var error: Double
        /// All conditions that are active in the tick.
        var conditions: Conditions

        /// Angle between the vertical in this camera's frame and the vertical in another camera's
        /// frame, degrees.
        func tilt(from other: Point) -> Double {
            let down = Vector3(0, 0, 1)
            let mine = attitude.inverseRotate(down)
            let theirs = other.attitude.inverseRotate(down)
            return atan2(mine.cross(theirs).norm, mine.dot(theirs)) * 180 / .pi
        }
    }

    /// Period of a tick, s.
    let dt: Double
    /// Number of the first tick with the fault; the first tick of the run is 1.
    let onset: Int
    /// All ticks.
    var points: [Point] = []
    /// Ratio of the assumed to the true inertia at the end of the run, on the axis with the largest
    /// error.
    var inertiaRatio = Double.nan

    /// All ticks of the run from the onset of the fault.
    var sinceOnset: ArraySlice<Point> { points[(onset - 1)...] }

    /// Rotation about the vertical from another run's camera to this run's camera, at the onset.
    func turn(from other: FaultTrace) -> Quaternion {
        let between =
            points[onset - 1].attitude * other.points[onset - 1].attitude.conjugate
        let heading = 2 * atan2(between.z, between.w)
        return Quaternion(rotationVector: Vector3(0, 0, heading))
    }
}

/// Runs without a fault (healthy runs). One healthy run is used for all faults with one combination
/// of gimbal, motion, mode, link and seed.
struct Twins {
    private struct Key: Hashable {
        var isTurning: Bool
        var isAtFullRate: Bool
    }

    /// Longest time after the onset for which a run is observed, s.
    let seconds: Double
    private var traces: [Key: FaultTrace] = [:]

    init(seconds: Double) { self.seconds = seconds }

    /// Returns the healthy run with the gimbal, motion, mode, link and seed of `run`.
    mutating func twin(of run: FaultRun) -> FaultTrace {
        let key = Key(isTurning: run.isTurning, isAtFullRate: run.fault.isAtFullRate)
        if let known = traces[key] { return known }
        let trace = run.trace(isFaulty: false, seconds: seconds)
        traces[key] = trace
        return trace
    }
}

extension FaultRun {
    /// True if commands turn the camera. If the motors are switched off during a turn, the camera
    /// coasts even without a fault.
    var isTurning: Bool { fault.kind == .command || fault.kind == .order }

    /// Executes the simulation with the injected fault, or the healthy run, tick by tick.
    ///
    /// - Parameters:
    ///   - isFaulty: False for the healthy run.
    ///   - seconds: Time from the onset of the fault until the end of the run, s.
    ///   - stop: Number of the tick in which an emergency stop is requested; nil if there is none.
    /// - Returns: The trace of the run.
    func trace(isFaulty: Bool, seconds: Double, stop: Int? = nil) -> FaultTrace {
        var fitted = fault.isAtFullRate ? gimbal.atFullRate : gimbal
        if isFaulty { fault.change(&fitted) }
        let rate = fitted.loopHz
        var gimbal = SimulatedGimbal(
            parameters: fitted.simulated,
            motion: BaseMotion(motion, seed: seed, stillDuration: 2), seed: seed)
        var assembly = LockstepEngine.assemble(parameters: fitted.stabilizer)
        let commander = Commander(
            ring: assembly.commands, bootMode: .locked, rules: Commander.Rules())
        let holder = CommandSource(link: source, connection: 1)
        let onset = Int((fitted.onset * Double(rate)).rounded(.up))
        var trace = FaultTrace(dt: 1 / Double(rate), onset: onset)
        var fresh: [IMUSample] = []
        for tick in 1...(onset + Int(seconds * Double(rate))) {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000_000 / Int64(rate))
            let since = isFaulty ? tick - onset : -1
            if since >= 0 {
                inject(&gimbal, commander, holder, since: since, rate: rate, now: now)
            }
            command(
                commander, holder, tick: tick, onset: onset, rate: rate, now: now,
                isWrong: since >= 0)
            if let stop, tick >= stop {
                try? commander.request(.emergencyStop, from: holder, now: now)
            }
            commander.advance(now: now)
            let isLost = since >= 0 && fault == .busError
            // If no sample arrives, the loop executes a tick at the deadline.
            fresh.removeAll(keepingCapacity: true)
            gimbal.advance(to: now) { fresh.append($0) }
            for sample in fresh where !isLost { assembly.engine.deliver(sample, at: now) }
            let output = assembly.engine.tick(at: now, conditions: isLost ? .busError : .none)
            gimbal.apply(output, at: now)
            while assembly.telemetry.pop() != nil {}
            let snapshot = assembly.engine.snapshot
            trace.points.append(
                FaultTrace.Point(
                    attitude: gimbal.attitude, rate: gimbal.rate, handleRate: gimbal.base.rate,
                    isEnabled: output.enabled, isStill: isStill(snapshot.pointing.rates),
                    error: snapshot.attitudeError.norm * 180 / .pi,
                    conditions: snapshot.conditions))
        }
        trace.inertiaRatio = ratio(assembly.engine.snapshot.inertia, of: gimbal)
        return trace
    }

    /// Ratio of the assumed to the true inertia, on the axis with the largest error. If a motor is
    /// stronger than its model, the inertia appears smaller. The ratio is corrected for this
    /// effect.
    private func ratio(_ found: AxisVector, of gimbal: SimulatedGimbal) -> Double {
        var farthest = Double.nan
        for axis in GimbalAxis.allCases {
            let ratio =
                found[axis] * gimbal.parameters.motorConstant[axis] / gimbal.inertia[axis]
            if farthest.isNaN || abs(log(ratio)) > abs(log(farthest)) { farthest = ratio }
        }
        return farthest
    }

    /// True if all commanded rates are below 0.02 rad/s. In the mode `panFollow`, yaw follows the
    /// handle; the yaw rate is therefore ignored.
    private func isStill(_ rates: AxisVector) -> Bool {
        let yaw = mode == .panFollow ? 0 : rates.yaw
        return max(abs(yaw), abs(rates.roll), abs(rates.pitch)) < 0.02
    }

    /// Sends the requests of an operator: first the mode, then rates, if `isTurning` is true and
    /// the mode permits rates.
    private func command(
        _ commander: Commander, _ holder: CommandSource, tick: Int, onset: Int, rate: Int,
        now: Instant, isWrong: Bool
    ) {
        if tick == onset - 2 * rate { try? commander.request(.mode(mode), from: holder, now: now) }
        let isSilent = isWrong && (fault == .silence || fault == .disconnection)
        guard tick > onset - 3 * rate / 2, tick % (rate / 20) == 0, !isSilent, isTurning else {
            return
        }
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
        since: Int, rate: Int, now: Instant
    ) {
        let isFirst = since == 0
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
            let lasts = since < rate / 10
            gimbal.fault = lasts ? .gyroOffset(direction * (500 * .pi / 180)) : nil
        case .gyroStuck: gimbal.fault = .gyroStuck(direction * (50 * .pi / 180))
        case .gyroZero: gimbal.fault = .gyroStuck(.zero)
        case .gyroFrozen: gimbal.fault = .gyroFrozen
        case .gyroSpike: gimbal.fault = isFirst ? .gyroOffset(direction * 30) : nil
        case .gyroSpikes:
            let spacing = rate / 50
            let isSpike = since % spacing == 0 && since < 10 * spacing
            gimbal.fault = isSpike ? .gyroOffset(direction * 30) : nil
        case .gyroReversed: gimbal.fault = .gyroReversed
        case .accelFrozen: gimbal.fault = .accelFrozen
        case .accelSideways:
            let lasts = since < 5 * rate
            let about = seed % 2 == 0 ? Vector3(.pi / 2, 0, 0) : Vector3(0, .pi / 2, 0)
            gimbal.fault = lasts ? .accelTurned(Quaternion(rotationVector: about)) : nil
        case .plantLighter: if isFirst { gimbal.scaleInertia(by: 1 / 3.0) }
        case .plantHeavier: if isFirst { gimbal.scaleInertia(by: 3) }
        case .busError, .silence, .plantLater, .plantSooner, .plantSlow, .plantStaleHeavy,
            .plantStaleLight:
            break
        }
    }

    /// Direction of the fault in the gyroscope's frame: along x, y, z or a diagonal, depending on
    /// the seed.
    private var direction: Vector3 {
        switch seed % 4 {
        case 0: Vector3(1, 0, 0)
        case 1: Vector3(0, -1, 0)
        case 2: Vector3(0, 0, 1)
        default: Vector3(0.577, -0.577, 0.577)
        }
    }
}
