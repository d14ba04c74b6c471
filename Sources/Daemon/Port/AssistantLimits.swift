import Configuration
import GimbalCore
import PlainText
import Port

/// Limits of an assistant's requests: `mcp.max_rate_dps`, `mcp.max_travel_deg` and
/// `mcp.max_drive`.
struct AssistantLimits: Sendable {
    private let settings: Settings.MCP
    /// Limits of the set-point's motion.
    private let motion: SetpointGenerator.Parameters

    init(_ settings: Settings) {
        self.settings = settings.mcp
        motion = settings.stabilizerParameters.setpoint
    }

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
        for rate in request.turnRates { try check(rate: rate) }
        switch request.effect {
        case .camera(.point(let point)):
            if let snapshot {
                try check(travelTo: point.target, from: EulerZXY.angles(snapshot.attitude))
                try check(travelTo: point.target, from: snapshot.pointing)
            }
            let fastest = Angle.degrees(settings.maxRateDps).radians
            return .point(
                point.target, duration: point.duration, rate: point.rate > 0 ? point.rate : fastest)
        case .wheels(let left, let right):
            guard max(abs(left), abs(right)) <= settings.maxDrive else {
                throw Refusal(
                    .outOfRange,
                    "An assistant can drive the wheels at no more than \(Format.plain(settings.maxDrive)) of full speed (mcp.max_drive).",
                    field: abs(left) > settings.maxDrive ? "left" : "right")
            }
        case .camera, .stepper, .take, .release: break
        }
        return request
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
        func arc(_ angle: Double, _ wanted: Double) -> Double {
            Angle(radians: angle).shortestArc(to: .radians(wanted)).radians
        }
        let travel = AxisVector(
            yaw: arc(present.yaw, target.yaw), roll: arc(present.roll, target.roll),
            pitch: arc(present.pitch, target.pitch))
        try check(travel: travel)
    }

    /// Checks the turn of the set-point, which can be longer than the shortest way: a range can
    /// require the opposite direction.
    private func check(
        travelTo target: AxisVector, from present: PointingSnapshot
    ) throws(Refusal) {
        var generator = SetpointGenerator(parameters: motion, at: present)
        let goal = generator.point(target: target, duration: 0).goal
        try check(
            travel: goal - present.angles,
            because: ", because motion.range_deg or joints.range_deg prevents a shorter way")
    }

    private func check(travel: AxisVector, because reason: String = "") throws(Refusal) {
        for axis in GimbalAxis.allCases {
            let degrees = abs(Angle(radians: travel[axis]).degrees)
            guard degrees > settings.maxTravelDeg else { continue }
            throw Refusal(
                .outOfRange,
                "The requested rotation of \(axis.name) is \(Int(degrees.rounded())) degrees\(reason); an assistant can turn the camera by at most \(Format.plain(settings.maxTravelDeg)) degrees in one request (mcp.max_travel_deg).",
                field: axis.name)
        }
    }
}
