import Configuration
import GimbalCore
import Logging
public import Port
import Wire

// Execution of the motion requests and setting changes that apps send.
extension AirOSService {
    /// Settings that an app can change and save: the PID and Kalman values that the app shows, and
    /// the mode for the next start.
    private static let keys = [
        "airos.pid.pitch", "airos.pid.roll", "airos.pid.yaw", "estimator.kalman_q_angle",
        "estimator.kalman_q_bias", "estimator.kalman_r_measure", "mode.boot",
    ]

    func enter(_ mode: AirOSMode, _ central: Central, _ now: Instant) throws(Refusal) {
        toldThatNothingTurns.remove(central)
        switch mode {
        case .inactive: try rest(central, now)
        case .locked: try ask(.mode(.locked), central, now)
        case .panFollow: try ask(.mode(.panFollow), central, now)
        case .fpv: try ask(.mode(.fpv), central, now)
        case .personTracking: try ask(.mode(.tracking), central, now)
        }
    }

    /// Executes a request for the mode `inactive`; the setting `airos.inactive` defines the effect
    /// of the request. If `neutral` is configured but not possible, the outputs are switched off.
    private func rest(_ central: Central, _ now: Instant) throws(Refusal) {
        do {
            try ask(.mode(port.settings.airos.inactive.mode), central, now)
        } catch  where [.sensorMissing, .sensorSilent].contains(error.code) {
            log.warning(
                "airos.inactive is neutral, but the joint angles are unknown, so airframed turns the motors off."
            )
            try ask(.mode(.inactive), central, now)
        }
    }

    func carryOut(
        _ command: AirOSCommand, _ central: Central, _ now: Instant, later: GATTLater
    ) throws(Refusal) {
        let sign = port.settings.airos.sign.factors
        switch command {
        case .trackPan(let speed):
            try track(pan: Self.radians(sign.yaw * speed), tilt: .nan, central, now)
        case .trackTilt(let speed):
            try track(pan: .nan, tilt: Self.radians(sign.pitch * speed), central, now)
        case .calibrate:
            try port.calibrateGyro(for: CommandSource(central), now: now)
            log.notice("\(central) has started a calibration of the gyroscope.")
        case .save: try save(central, later)
        case .defaults: try restoreDefaults(central, now, later)
        case .emergencyStop: try ask(.emergencyStop, central, now)
        case .resetEmergencyStop: try ask(.resetEmergencyStop, central, now)
        case .resetPID: try ask(.resetIntegrals, central, now)
        case .resetYaw: turnHeading(share: 1, central)
        case .forceDecay: turnHeading(share: 0.1, central)
        case .yawStatus: tellHeading(central)
        }
    }

    private func ask(
        _ request: MotionRequest, _ central: Central, _ now: Instant
    ) throws(Refusal) {
        try port.request(request, from: CommandSource(central), now: now)
    }

    /// A tracking speed from an app, degrees per second, in rad/s and limited to the permitted range.
    private static func radians(_ speed: Double) -> Double {
        let range = MotionRequest.trackingRates
        return Angle.degrees(min(max(speed, range.lowerBound), range.upperBound)).radians
    }

    /// Requests the pan or tilt speed that an app has sent. Apps send speeds many times per second
    /// and in every mode. Speeds have an effect only in mode `tracking`.
    private func track(
        pan: Double, tilt: Double, _ central: Central, _ now: Instant
    ) throws(Refusal) {
        let mode = port.control.mode
        if mode == .tracking { return try ask(.track(pan: pan, tilt: tilt), central, now) }
        if toldThatNothingTurns.insert(central).inserted {
            log.info("\(central) sends tracking rates in mode \(mode.name), which ignores them.")
        }
    }

    /// Saves the settings that an app can change, including the present mode.
    private func save(_ central: Central, _ later: GATTLater) throws(Refusal) {
        let source = CommandSource(central)
        var updates: [SettingUpdate] = []
        if let mode = modeToKeep, mode != port.settings.mode.boot {
            updates = [SettingUpdate(\.mode.boot, mode)]
        }
        let note = (central.description, "saved the mode, the PID values and the Kalman values")
        try port.tuning.save(Self.keys, with: updates, from: source, note, later())
    }

    /// The mode that is saved for the next start; nil if the present mode must not be saved. Mode
    /// `tracking` is not saved, because it needs a client that sends rates. After an emergency
    /// stop, the mode is not saved.
    private var modeToKeep: Mode? {
        let control = port.control
        if control.isStopped { return nil }
        return control.mode == .tracking ? .locked : control.mode
    }

    /// Restores the default settings and the default mode. The settings are reset before the mode
    /// is set. If the settings cannot be saved, the mode therefore does not change.
    private func restoreDefaults(
        _ central: Central, _ now: Instant, _ later: GATTLater
    ) throws(Refusal) {
        try ask(.take, central, now)
        let (port, source, answer) = (port, CommandSource(central), later())
        let before = port.control
        let note = (
            central.description,
            "reset the mode, the PID values and the Kalman values to their defaults"
        )
        let updates = Self.keys.map(SettingUpdate.init(toDefault:))
        try port.tuning.save(Self.keys, with: updates, from: source, note) { result in
            // If an app requests the default settings, a latched emergency stop remains in force. A
            // write to a slow disk must not start motors that have been switched off meanwhile, for
            // example by a stop that has been reset, and must not act for an app that has left.
            let control = port.control
            guard case .success = result, !control.isStopped, control.mode == before.mode,
                control.holder == before.holder
            else { return answer(result) }
            answer(
                Result { () throws(Refusal) in
                    try port.request(.mode(.locked), from: source, now: port.now)
                })
        }
    }

    /// Moves the reported heading towards zero. Only the reported heading changes; the camera does
    /// not turn. The change is permitted because a heading without a compass has an arbitrary zero.
    private func turnHeading(share: Double, _ central: Central) {
        guard let snapshot = port.snapshot else { return }
        zero.turn(share: share, snapshot)
        tellHeading(central)
    }

    private func tellHeading(_ central: Central) {
        guard let snapshot = port.snapshot else { return }
        func degrees(_ radians: Double) -> String {
            "\((Angle.radians(radians).degrees * 100).rounded() / 100)°"
        }
        let yaw = EulerZXY.angles(snapshot.attitude).yaw
        log.notice(
            "The heading that \(central) receives is \(degrees(zero.heading(snapshot))), the estimated heading is \(degrees(yaw)), and the gyroscope's bias about the z axis is \(degrees(snapshot.bias.z))/s ± \(degrees(snapshot.biasSigma.z))/s."
        )
    }
}

/// Zero point of the heading that is reported to apps.
struct HeadingZero {
    /// Zero point of the reported heading, in the loop's frame, rad.
    private var zero = 0.0
    /// Number of the estimator's samples when `zero` was set. If the number of samples has
    /// decreased, the estimator has restarted; the heading then has a new zero.
    private var samples: UInt64 = 0

    /// Heading that is reported to apps, rad.
    mutating func heading(_ snapshot: StabilizerSnapshot) -> Double {
        if snapshot.samples.accepted < samples { zero = 0 }
        return (EulerZXY.angles(snapshot.attitude).yaw - zero).remainder(dividingBy: 2 * .pi)
    }

    /// Moves the reported heading towards zero by a fraction `share` of its value, 0...1.
    mutating func turn(share: Double, _ snapshot: StabilizerSnapshot) {
        zero += share * heading(snapshot)
        samples = snapshot.samples.accepted
    }
}

extension KalmanTriple {
    /// Creates the app's three Kalman values from the settings in force.
    init(_ estimator: Settings.Estimator) {
        self.init(
            qAngle: estimator.kalmanQAngle, qBias: estimator.kalmanQBias,
            rMeasure: estimator.kalmanRMeasure)
    }

    /// Changes of the settings `estimator.kalman_*` to the three Kalman values from the app.
    var updates: [SettingUpdate] {
        [
            SettingUpdate(\.estimator.kalmanQAngle, qAngle),
            SettingUpdate(\.estimator.kalmanQBias, qBias),
            SettingUpdate(\.estimator.kalmanRMeasure, rMeasure),
        ]
    }
}

extension CommandSource {
    /// Creates the command source for a phone with an AirOS app.
    public init(_ central: Central) {
        self.init(link: .airos, connection: UInt64(central.connection))
    }
}
