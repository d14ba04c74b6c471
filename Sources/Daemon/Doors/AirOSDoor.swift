import Calibration
import Configuration
import GimbalCore
import Links
import Logging
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// AirOS apps' way to the gimbal: motion goes to the Commander, parameters to `Tuning`, the rest is looked at here.
///
/// Any ordinary thread; times are the loop's clock, so that dead-men run in simulated time as well.
final class AirOSDoor: AirOSBackend {
    private struct State {
        /// Heading that counts as zero, rad.
        var heading = 0.0
        /// Samples that had come when it was chosen: fewer since then mean another estimate with a zero of its own.
        var samples: UInt64 = 0
        /// Who has been told that its tracking moves nothing.
        var toldThatNothingTurns: Set<Central> = []
    }

    /// How long the status says that a phone's calibration has failed, s: twenty notifications.
    private static let failureSeconds = 2.0

    private let commander: Commander
    private let tuning: Tuning
    private let hub: TelemetryHub
    private let calibration: CalibrationService
    private let clock: LoopClock
    private let log: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - commander: Decides who is in control.
    ///   - tuning: Keeps PID, Kalman and mode.
    ///   - hub: Where the camera looks.
    ///   - calibration: Finds the gyroscope's zero.
    ///   - clock: The loop's.
    ///   - log: Who did what.
    init(
        commander: Commander, tuning: Tuning, hub: TelemetryHub, calibration: CalibrationService,
        clock: LoopClock, log: Logger
    ) {
        self.commander = commander
        self.tuning = tuning
        self.hub = hub
        self.calibration = calibration
        self.clock = clock
        self.log = log
    }

    var notifyHz: Double { tuning.settings.airos.notifyHz }

    var angles: AirOSAngles? {
        guard let seen else { return nil }
        return AirOSAngles(
            AxisVector(yaw: seen.heading, roll: seen.angles.roll, pitch: seen.angles.pitch),
            sign: tuning.settings.airos.sign.factors)
    }

    /// The newest estimate: earth frame, Z-X-Y, rad, and the heading that is reported; nil before the first sample.
    private var seen: (angles: AxisVector, heading: Double, snapshot: StabilizerSnapshot)? {
        guard let snapshot = hub.view?.record.snapshot, snapshot.samples.accepted > 0 else {
            return nil
        }
        let angles = EulerZXY.angles(snapshot.attitude)
        let zero = state.withLock { state in
            if snapshot.samples.accepted < state.samples { state.heading = 0 }
            return state.heading
        }
        return (angles, (angles.yaw - zero).remainder(dividingBy: 2 * .pi), snapshot)
    }

    var mode: AirOSMode { AirOSMode(commander.view(now: clock.now).mode) }

    var status: AirOSStatus {
        if calibration.isRunning { return .calibrating }
        return calibration.hasFailed(since: clock.now.advanced(bySeconds: -Self.failureSeconds))
            ? .calibrationFailed : AirOSStatus(mode)
    }

    func pid(_ axis: GimbalAxis) -> PIDTriple { tuning.settings.airos.pid.ofAxis(axis).present }

    var kalman: KalmanTriple {
        let estimator = tuning.settings.estimator
        return KalmanTriple(
            qAngle: estimator.kalmanQAngle, qBias: estimator.kalmanQBias,
            rMeasure: estimator.kalmanRMeasure)
    }

    func setMode(_ mode: AirOSMode, by central: Central, now: Instant) throws(Refusal) {
        _ = state.withLock { $0.toldThatNothingTurns.remove(central) }
        switch mode {
        case .inactive: try rest(central, now)
        case .locked: try ask(.mode(.locked), central, now)
        case .panFollow: try ask(.mode(.panFollow), central, now)
        case .fpv: try ask(.mode(.fpv), central, now)
        case .personTracking: try ask(.mode(.tracking), central, now)
        }
    }

    /// Who asks for rest gets it: where `neutral` cannot be had, the outputs go off.
    private func rest(_ central: Central, _ now: Instant) throws(Refusal) {
        let wanted = tuning.settings.airos.inactive.mode
        do {
            try commander.request(.mode(wanted), from: CommandSource(central), now: now)
        } catch  where [.sensorMissing, .sensorSilent].contains(error.code) {
            log.warning(
                "airos.inactive is neutral, and nothing shows the joints: the outputs go off instead."
            )
            try ask(.mode(.inactive), central, now)
        }
    }

    func setPID(
        _ pid: PIDTriple, of axis: GimbalAxis, by central: Central, now: Instant
    ) throws(Refusal) {
        try admit(central, now)
        try tuning.change([.pid(pid, of: axis)], by: central.description)
    }

    func setKalman(
        _ kalman: KalmanTriple, by central: Central, now: Instant
    ) throws(Refusal) {
        try admit(central, now)
        try tuning.change(
            [
                SettingUpdate(\.estimator.kalmanQAngle, kalman.qAngle),
                SettingUpdate(\.estimator.kalmanQBias, kalman.qBias),
                SettingUpdate(\.estimator.kalmanRMeasure, kalman.rMeasure),
            ], by: central.description)
    }

    func carryOut(
        _ command: AirOSCommand, by central: Central, now: Instant, later: GATTLater
    ) throws(Refusal) {
        switch command {
        case .trackPan(let speed):
            let sign = tuning.settings.airos.sign.factors.yaw
            try track(pan: Angle.degrees(sign * speed).radians, tilt: .nan, central, now)
        case .trackTilt(let speed):
            let sign = tuning.settings.airos.sign.factors.pitch
            try track(pan: .nan, tilt: Angle.degrees(sign * speed).radians, central, now)
        case .calibrate: try calibrate(central, now)
        case .save:
            try admit(central, now)
            let answer = later()
            tuning.save(mode: modeToKeep(now), by: central.description, answer)
        case .defaults: try restoreDefaults(central, now, later)
        case .emergencyStop: try ask(.emergencyStop, central, now)
        case .resetEmergencyStop: try ask(.resetEmergencyStop, central, now)
        case .resetPID: try ask(.resetIntegrals, central, now)
        case .resetYaw: turnHeading(share: 1, central)
        case .forceDecay: turnHeading(share: 0.1, central)
        case .yawStatus: tellHeading(central)
        }
    }

    func disconnected(_ central: Central, now: Instant) {
        let source = CommandSource(central)
        commander.disconnected(source, now: now)
        calibration.disconnected(source)
        _ = state.withLock { $0.toldThatNothingTurns.remove(central) }
    }

    // MARK: What commands do

    /// Apps send speeds in every mode, many times a second; only in mode tracking something turns.
    private func track(pan: Double, tilt: Double, _ central: Central, _ now: Instant)
        throws(Refusal)
    {
        let mode = commander.view(now: now).mode
        guard mode == .tracking else {
            let isNews = state.withLock { $0.toldThatNothingTurns.insert(central).inserted }
            if isNews {
                log.info("\(central) sends tracking speeds in mode \(mode.name): nothing turns.")
            }
            return
        }
        try ask(.track(pan: pan, tilt: tilt), central, now)
    }

    /// The outputs go off for it, so only who is in control may ask.
    private func calibrate(_ central: Central, _ now: Instant) throws(Refusal) {
        try ask(.take, central, now)
        _ = try calibration.start(.gyro, owner: CommandSource(central), now: now)
        log.notice("\(central) calibrates the gyroscope.")
    }

    /// Parameters first: when the disk refuses, the mode stays too.
    private func restoreDefaults(
        _ central: Central, _ now: Instant, _ later: GATTLater
    ) throws(Refusal) {
        try ask(.take, central, now)
        let answer = later()
        tuning.restoreAirOSDefaults(by: central.description) { result in
            let now = self.clock.now
            // A latched emergency stop outlasts it.
            guard case .success = result, !self.commander.view(now: now).isStopped else {
                return answer(result)
            }
            answer(Result { () throws(Refusal) in try self.ask(.mode(.locked), central, now) })
        }
    }

    /// What to start in next time: nobody sends speeds then, and a stop is no wish for rest.
    private func modeToKeep(_ now: Instant) -> Mode? {
        let view = commander.view(now: now)
        if view.isStopped { return nil }
        return view.mode == .tracking ? .locked : view.mode
    }

    /// Takes the reported heading nearer to zero. Nothing turns: a heading without compass has no zero of its own.
    private func turnHeading(share: Double, _ central: Central) {
        guard let seen else { return }
        state.withLock { state in
            state.heading += share * seen.heading
            state.samples = seen.snapshot.samples.accepted
        }
        tellHeading(central)
    }

    private func tellHeading(_ central: Central) {
        guard let seen else { return }
        func degrees(_ radians: Double) -> String {
            "\((Angle.radians(radians).degrees * 100).rounded() / 100)°"
        }
        log.notice(
            "\(central) sees heading \(degrees(seen.heading)), the estimate is \(degrees(seen.angles.yaw)); the gyroscope's offset about the vertical is \(degrees(seen.snapshot.bias.z))/s ± \(degrees(seen.snapshot.biasSigma.z))/s."
        )
    }

    // MARK: Doors

    private func ask(_ request: MotionRequest, _ central: Central, _ now: Instant)
        throws(Refusal)
    {
        try commander.request(request, from: CommandSource(central), now: now)
    }

    /// What changes how the camera behaves under somebody's control is his to change.
    private func admit(_ central: Central, _ now: Instant) throws(Refusal) {
        try commander.admit(CommandSource(central), now: now)
    }
}

extension CommandSource {
    /// A phone with an AirOS app.
    init(_ central: Central) {
        self.init(link: .airos, connection: UInt64(central.connection))
    }
}
