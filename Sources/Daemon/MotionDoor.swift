import GimbalCore
import Links
import Realtime
import Wire

/// The socket's way to the Commander: degrees become radians, refusals become sentences.
struct MotionDoor: Sendable {
    let commander: Commander
    /// The loop's.
    let clock: LoopClock

    func setMode(_ name: String, client: DiagnosticsClient) throws(RequestError) -> Acknowledgement
    {
        guard let mode = Mode.allCases.first(where: { $0.name == name }) else {
            throw RequestError(.invalidParams, "there is no mode \(name)", field: "mode")
        }
        try ask(.mode(mode), client)
        return Acknowledgement(
            mode == .inactive ? "Going soft, then off." : "The mode is \(name) now.")
    }

    func point(_ request: PointRequest, client: DiagnosticsClient) throws(RequestError)
        -> Acknowledgement
    {
        let angles = AxisVector(
            yaw: request.yaw.map { Angle.degrees($0).radians } ?? .nan,
            roll: request.roll.map { Angle.degrees($0).radians } ?? .nan,
            pitch: request.pitch.map { Angle.degrees($0).radians } ?? .nan)
        try ask(.point(angles, duration: request.duration), client)
        return Acknowledgement("Turning.")
    }

    func rate(_ request: RateRequest, client: DiagnosticsClient) throws(RequestError)
        -> Acknowledgement
    {
        let rate = AxisVector(yaw: request.yaw, roll: request.roll, pitch: request.pitch)
        try ask(.rate(rate * (.pi / 180)), client)
        return Acknowledgement(
            rate == .zero ? "Standing still." : "Turning until the next request or the dead-man.")
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

    func resetStop(client: DiagnosticsClient) throws(RequestError) -> Acknowledgement {
        try ask(.resetEmergencyStop, client)
        return Acknowledgement("Emergency stop reset. The mode is inactive until you ask for one.")
    }

    func take(client: DiagnosticsClient) throws(RequestError) -> Acknowledgement {
        try ask(.take, client)
        return Acknowledgement("You are in control.")
    }

    func release(client: DiagnosticsClient) throws(RequestError) -> Acknowledgement {
        try ask(.release, client)
        return Acknowledgement("Control is free.")
    }

    func disconnected(_ client: DiagnosticsClient) {
        commander.disconnected(Self.source(client), now: clock.now)
    }

    private static func source(_ client: DiagnosticsClient) -> CommandSource {
        CommandSource(link: .diagnostics, connection: UInt64(client.id))
    }

    private func ask(_ request: MotionRequest, _ client: DiagnosticsClient) throws(RequestError) {
        do {
            try commander.request(request, from: Self.source(client), now: clock.now)
        } catch {
            throw Self.sentence(error)
        }
    }

    private static func sentence(_ refusal: MotionRefusal) -> RequestError {
        switch refusal {
        case .held(let holder, let age):
            RequestError(
                .notInControl,
                "\(StatusReport.words(holder)) is in control, last heard of \(Int(age)) s ago")
        case .emergencyStopped:
            RequestError(
                .refused, "an emergency stop is latched; reset it first: airframectl stop --reset")
        case .inactive:
            RequestError(
                .refused, "the mode is inactive, nothing would move: airframectl mode locked")
        case .outOfRange(let field, let allowed):
            RequestError(.outOfRange, "\(field) is outside \(allowed)", field: field)
        case .busy:
            RequestError(.refused, "the loop has not taken earlier requests yet; try again")
        case .shuttingDown:
            RequestError(.refused, "airframed is stopping")
        }
    }
}
