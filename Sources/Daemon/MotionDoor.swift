import GimbalCore
import Links
import Policy
import Port
import Realtime
import Wire

/// The socket's way to the Commander: degrees become radians, refusals become sentences.
struct MotionDoor: Sendable {
    let commander: Commander
    /// The loop's.
    let clock: LoopClock
    /// The loop's newest snapshot, once there is one.
    let snapshot: @Sendable () -> StabilizerSnapshot?
    /// The limits of the set-point's motion that are in force.
    let limits: @Sendable () -> SetpointGenerator.Parameters

    func setMode(_ name: String, client: DiagnosticsClient) throws(Refusal) -> Acknowledgement {
        guard let mode = Mode(name: name) else {
            throw Refusal(.invalidParams, "there is no mode \(name)", field: "mode")
        }
        try ask(.mode(mode), client)
        return Acknowledgement(
            mode == .inactive
                ? "Going soft, then off." : "The mode is \(name) now: \(ModeWords.of(mode)).")
    }

    func point(_ request: PointRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        let angles = AxisVector(
            yaw: request.yaw.map { Angle.degrees($0).radians } ?? .nan,
            roll: request.roll.map { Angle.degrees($0).radians } ?? .nan,
            pitch: request.pitch.map { Angle.degrees($0).radians } ?? .nan)
        let rate = Angle.degrees(request.rate).radians
        // The loop may begin at once: what it will do is computed from where it stands before it is asked.
        let before = snapshot()
        try ask(.point(angles, duration: request.duration, rate: rate), client)
        guard let before else { return Acknowledgement("Turning.") }
        return PointForecast(snapshot: before, parameters: limits()).acknowledgement(
            angles, duration: request.duration, rate: rate, mode: before.mode)
    }

    func rate(_ request: RateRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        let rate = AxisVector(yaw: request.yaw, roll: request.roll, pitch: request.pitch)
        try ask(.rate(rate * (.pi / 180)), client)
        guard rate != .zero else { return Acknowledgement("Standing still.") }
        let limit = limits().maxRate * (180 / .pi)
        let isLimited = rate.clamped(to: limit) != rate
        return Acknowledgement(
            "Turning until the next request or the dead-man."
                + (isLimited ? " motion.max_rate_dps makes it slower than asked for." : ""),
            limitedBy: isLimited ? ["rate"] : [])
    }

    func track(_ request: TrackRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        let pan = request.pan.map { Angle.degrees($0).radians } ?? .nan
        let tilt = request.tilt.map { Angle.degrees($0).radians } ?? .nan
        try ask(.track(pan: pan, tilt: tilt), client)
        return Acknowledgement("Turning until the next request or the dead-man of tracking.")
    }

    func testMotor(_ axis: String, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        guard let axis = GimbalAxis.allCases.first(where: { $0.name == axis }) else {
            throw Refusal(.invalidParams, "there is no axis \(axis)", field: "axis")
        }
        try ask(.testMotor(axis), client)
        return Acknowledgement(
            "The motor of \(axis.name) moves for half a second, unless it is asked for again.")
    }

    func drive(_ request: DriveRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        try ask(.drive(left: request.left, right: request.right), client)
        return Acknowledgement("Driving until the next request or the dead-man of driving.")
    }

    func step(_ request: StepRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        let wish: StepWish
        let sentence: String
        if request.isHome {
            wish = .home
            sentence = "Looking for the switch of \(request.axis.rawValue)."
        } else if let position = request.position {
            wish = .position(position)
            sentence =
                "\(request.axis.rawValue) goes to \(position) steps from home, or to its limit."
        } else {
            wish = .hold
            sentence = "\(request.axis.rawValue) stands."
        }
        try ask(.step(axis: request.axis.index, wish), client)
        return Acknowledgement(sentence)
    }

    func stop(client: DiagnosticsClient) -> Acknowledgement {
        do {
            try ask(.emergencyStop, client)
            return Acknowledgement("Emergency stop. Outputs stay off until it is reset.")
        } catch {
            // Room is kept for a stop: only a loop that hangs does not take it, and the bus thread has noticed that.
            return Acknowledgement(
                "The loop takes no stop: \(error.message). If the camera moves, cut its power.")
        }
    }

    func resetStop(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement {
        try ask(.resetEmergencyStop, client)
        return Acknowledgement("Emergency stop reset. The mode is inactive until you ask for one.")
    }

    func take(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement {
        try ask(.take, client)
        return Acknowledgement("You are in control.")
    }

    func release(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement {
        try ask(.release, client)
        return Acknowledgement("Control is free.")
    }

    func disconnected(_ client: DiagnosticsClient) {
        commander.disconnected(CommandSource(client), now: clock.now)
    }

    private func ask(_ request: MotionRequest, _ client: DiagnosticsClient) throws(Refusal) {
        try commander.request(request, from: CommandSource(client), now: clock.now)
    }
}

extension CommandSource {
    /// A connection to the socket.
    init(_ client: DiagnosticsClient) {
        self.init(link: .diagnostics, connection: UInt64(client.id))
    }
}
