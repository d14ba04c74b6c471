import Calibration
import Configuration
import GimbalCore
import Links
import Logging
import Policy
import Port
import Realtime
import Wire

/// MAVLink peers' way to the gimbal: motion goes to the Commander, parameters to `Tuning`.
struct MAVLinkDoor: MAVLinkBackend {
    let commander: Commander
    let tuning: Tuning
    let hub: TelemetryHub
    let calibration: CalibrationService
    let clock: LoopClock
    let log: Logger

    var view: MAVLinkView? {
        guard let snapshot = hub.view?.record.snapshot, snapshot.samples.accepted > 0 else {
            return nil
        }
        let settings = tuning.settings
        let range = settings.motion.rangeDeg
        var view = MAVLinkView(
            snapshot: snapshot, lower: range.lower * (.pi / 180), upper: range.upper * (.pi / 180),
            holder: holder)
        view.followLag = settings.stabilizerParameters.modes.follow.smoothing.yaw
        view.jointLower = settings.joints.rangeDeg.lower * (.pi / 180)
        view.jointUpper = settings.joints.rangeDeg.upper * (.pi / 180)
        return view
    }

    private var holder: MAVLinkView.Holder {
        guard let source = commander.view(now: clock.now).holder else { return .nobody }
        guard source.link == .mavlink else { return .other("\(source)") }
        return .peer(MAVLinkAddress(source))
    }

    func ask(_ motion: MAVLinkMotion, for peer: MAVLinkAddress, now: Instant)
        throws(Refusal)
    {
        switch motion {
        case .take: try request(.take, peer, now)
        case .lock(let angles, let rate):
            try enter(.locked, peer, now)
            try request(.point(angles, duration: 0, rate: min(rate, 4 * .pi)), peer, now)
        case .follow(let angles, let rate):
            try enter(.panFollow, peer, now)
            let own = AxisVector(yaw: .nan, roll: angles.roll, pitch: angles.pitch)
            try request(.point(own, duration: 0, rate: min(rate, 4 * .pi)), peer, now)
            try request(.lookAside(yaw: angles.yaw, rate: 0), peer, now)
        case .turn(let rates, let isFollowing):
            guard isFollowing else {
                try enter(.locked, peer, now)
                return try request(.rate(rates), peer, now)
            }
            try enter(.panFollow, peer, now)
            let own = AxisVector(yaw: 0, roll: rates.roll, pitch: rates.pitch)
            try request(.rate(own), peer, now)
            try request(.lookAside(yaw: .nan, rate: rates.yaw), peer, now)
        case .retract: try enter(.retract, peer, now)
        case .neutral: try enter(.neutral, peer, now)
        case .arm: try request(.mode(.locked), peer, now)
        case .disarm: try request(.mode(.inactive), peer, now)
        case .emergencyStop: try request(.emergencyStop, peer, now)
        case .resetEmergencyStop: try request(.resetEmergencyStop, peer, now)
        }
    }

    /// Changes the mode unless it is in force; motors that somebody has switched off stay off.
    private func enter(_ mode: Mode, _ peer: MAVLinkAddress, _ now: Instant)
        throws(Refusal)
    {
        let present = commander.view(now: now).mode
        guard present != .inactive else { throw Refusal.inactive }
        if present != mode { try request(.mode(mode), peer, now) }
    }

    func disconnected(_ peer: MAVLinkAddress, now: Instant) {
        commander.disconnected(CommandSource(peer), now: now)
        calibration.disconnected(CommandSource(peer))
    }

    func calibrateGyro(for peer: MAVLinkAddress, now: Instant) throws(Refusal) {
        try request(.take, peer, now)
        _ = try calibration.start(.gyro, owner: CommandSource(peer), now: now)
    }

    private func request(_ request: MotionRequest, _ peer: MAVLinkAddress, _ now: Instant)
        throws(Refusal)
    {
        try commander.request(request, from: CommandSource(peer), now: now)
    }

    // MARK: Parameters

    var parameters: [MAVLinkParameter] {
        let settings = tuning.settings
        return MAVLinkParameterTable.entries.map { entry in
            MAVLinkParameter(entry.name, entry.read(settings))
        }
    }

    func set(_ name: String, to value: Double, by peer: MAVLinkAddress) throws(Refusal) {
        guard let entry = MAVLinkParameterTable.entries.first(where: { $0.name == name }) else {
            throw Refusal(.refused, "There is no parameter \(name).")
        }
        try tuning.set(entry.changed(tuning.settings, value), by: "mavlink \(peer)")
    }

    func saveParameters(by peer: MAVLinkAddress, _ done: @escaping Later<Void>) {
        tuning.save(
            MAVLinkParameterTable.keys.sorted(), by: "mavlink \(peer)", "saved its parameters", done
        )
    }
}

extension CommandSource {
    /// A MAVLink peer.
    init(_ peer: MAVLinkAddress) {
        self.init(
            link: .mavlink, connection: UInt64(peer.system) << 8 | UInt64(peer.component))
    }
}

extension MAVLinkAddress {
    /// Who stands behind a source on the link `mavlink`.
    init(_ source: CommandSource) {
        self.init(
            system: UInt8(truncatingIfNeeded: source.connection >> 8),
            component: UInt8(truncatingIfNeeded: source.connection))
    }
}
