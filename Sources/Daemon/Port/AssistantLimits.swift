import Configuration
import GimbalCore
import PlainText
import Port

/// Limits of an assistant's requests: `mcp.max_rate_dps`, `mcp.max_travel_deg` and
/// `mcp.max_drive`.
struct AssistantLimits: Sendable {
    private let settings: Settings.MCP

    init(_ settings: Settings.MCP) { self.settings = settings }

    /// Checks a request against the assistant's limits, and limits the requested rate.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - snapshot: The loop's newest snapshot, which contains the current angles; nil if there is
    ///     no snapshot.
    /// - Returns: The checked request. If a pointing request contains no rate, the highest
    ///   permitted rate is added.
    /// - Throws: `Refusal` if the request exceeds a limit.
    func limited(
        _ request: MotionRequest, from snapshot: StabilizerSnapshot?
    ) throws(Refusal) -> MotionRequest {
        switch request.effect {
        case .camera(.point(let point)):
            try check(rate: point.rate)
            if let snapshot {
                try check(travelTo: point.target, from: EulerZXY.angles(snapshot.attitude))
            }
            let fastest = Angle.degrees(settings.maxRateDps).radians
            return .point(
                point.target, duration: point.duration, rate: point.rate > 0 ? point.rate : fastest)
        case .camera(let command):
            for rate in Self.rates(of: command) { try check(rate: rate) }
        case .wheels(let left, let right):
            guard max(abs(left), abs(right)) <= settings.maxDrive else {
                throw Refusal(
                    .outOfRange,
                    "An assistant can drive the wheels at no more than \(Format.plain(settings.maxDrive)) of full speed (mcp.max_drive).",
                    field: abs(left) > settings.maxDrive ? "left" : "right")
            }
        case .stepper, .take, .release: break
        }
        return request
    }

    /// The rates at which a command turns the camera, rad/s.
    private static func rates(of command: Command) -> [Double] {
        switch command {
        case .point(let point): [point.rate]
        case .rate(let rate): [rate.yaw, rate.roll, rate.pitch]
        case .track(let pan, let tilt): [pan, tilt]
        case .aim(let aim): [aim.rate.yaw, aim.rate.pitch]
        case .lookAside(_, let rate, _): [rate]
        case .mode, .excite, .testMotor, .findEnd, .resetIntegrals, .emergencyStop,
            .resetEmergencyStop, .shutdown:
            []
        }
    }

    private func check(rate: Double) throws(Refusal) {
        guard !rate.isNaN, Angle(radians: abs(rate)).degrees > settings.maxRateDps + 1e-9 else {
            return
        }
        throw Refusal(
            .outOfRange,
            "An assistant can turn the camera at no more than \(Format.plain(settings.maxRateDps)) degrees per second (mcp.max_rate_dps).",
            field: "rate")
    }

    private func check(
        travelTo target: AxisVector, from present: AxisVector
    ) throws(Refusal) {
        for (name, wanted, angle) in [
            ("yaw", target.yaw, present.yaw), ("roll", target.roll, present.roll),
            ("pitch", target.pitch, present.pitch),
        ] where !wanted.isNaN {
            let travel = Angle(radians: angle).shortestArc(to: .radians(wanted)).degrees
            guard abs(travel) > settings.maxTravelDeg else { continue }
            throw Refusal(
                .outOfRange,
                "The requested rotation of \(name) is \(Int(abs(travel).rounded())) degrees; an assistant can turn the camera by at most \(Format.plain(settings.maxTravelDeg)) degrees in one request (mcp.max_travel_deg).",
                field: name)
        }
    }
}
