import PlainText
import Port
import Wire

/// The methods that move the machine.
extension RequestHandler {
    func move(_ method: Method, _ request: Request, _ client: DiagnosticsClient)
        throws(Refusal) -> [UInt8]
    {
        switch method {
        case .mode:
            let name = try Parameters(request, ["mode"]).requiredString("mode")
            let names = backend.modeNames
            guard names.contains(name) else {
                throw Refusal(
                    .invalidParams,
                    "There is no mode \"\(name.prefix(64))\"; there are \(names.joined(separator: ", "))."
                        + Suggestion.sentence(for: name, in: names),
                    field: "mode")
            }
            return try encode(try backend.setMode(name, client: client))
        case .point:
            return try encode(try backend.point(try pointRequest(request), client: client))
        case .rate:
            return try encode(try backend.rate(try rateRequest(request), client: client))
        case .track:
            return try encode(try backend.track(try trackRequest(request), client: client))
        case .motorTest:
            let axis = try Parameters(request, ["axis"]).requiredString("axis")
            let names = ["yaw", "roll", "pitch"]
            guard names.contains(axis) else {
                throw Refusal(
                    .invalidParams, "axis is one of \(names.joined(separator: ", ")).",
                    field: "axis")
            }
            return try encode(try backend.testMotor(axis, client: client))
        case .drive:
            let parameters = try Parameters(request, ["left", "right"])
            let left = try parameters.number("left", in: -1...1, unit: "of full speed")
            let right = try parameters.number("right", in: -1...1, unit: "of full speed")
            return try encode(
                try backend.drive(
                    DriveRequest(left: left ?? 0, right: right ?? 0), client: client))
        case .step:
            return try encode(try backend.step(try stepRequest(request), client: client))
        case .stop:
            // Nothing that can be wrong about the parameters is a reason not to stop.
            return try encode(backend.stop(client: client))
        case .resetStop:
            _ = try Parameters(request)
            return try encode(try backend.resetStop(client: client))
        case .take:
            _ = try Parameters(request)
            return try encode(try backend.take(client: client))
        default:
            _ = try Parameters(request)
            return try encode(try backend.release(client: client))
        }
    }

    private func pointRequest(_ request: Request) throws(Refusal) -> PointRequest {
        let parameters = try Parameters(request, ["yaw", "roll", "pitch", "duration", "rate"])
        let duration = try parameters.number("duration", in: 0...600, unit: "seconds")
        let rate = try parameters.number("rate", in: 0.01...720, unit: "degrees per second")
        guard duration == nil || rate == nil else {
            throw Refusal(
                .invalidParams,
                "Give duration or rate, not both: each says how long the turn takes.",
                field: "rate")
        }
        let point = PointRequest(
            yaw: try parameters.number("yaw", in: -180...180, unit: "degrees"),
            roll: try parameters.number("roll", in: -180...180, unit: "degrees"),
            pitch: try parameters.number("pitch", in: -180...180, unit: "degrees"),
            duration: duration ?? 0, rate: rate ?? 0)
        guard point.yaw != nil || point.roll != nil || point.pitch != nil else {
            throw Refusal(
                .invalidParams, "point needs at least one of yaw, roll and pitch.", field: "pitch")
        }
        return point
    }

    private func rateRequest(_ request: Request) throws(Refusal) -> RateRequest {
        let parameters = try Parameters(request, ["yaw", "roll", "pitch"])
        let range = -1000.0...1000.0
        let yaw = try parameters.number("yaw", in: range, unit: "degrees per second")
        let roll = try parameters.number("roll", in: range, unit: "degrees per second")
        let pitch = try parameters.number("pitch", in: range, unit: "degrees per second")
        guard yaw != nil || roll != nil || pitch != nil else {
            throw Refusal(
                .invalidParams, "rate needs at least one of yaw, roll and pitch.", field: "yaw")
        }
        return RateRequest(yaw: yaw ?? 0, roll: roll ?? 0, pitch: pitch ?? 0)
    }

    private func stepRequest(_ request: Request) throws(Refusal) -> StepRequest {
        let parameters = try Parameters(request, ["axis", "position", "home"])
        let name = try parameters.requiredString("axis")
        guard let axis = StepRequest.Axis(rawValue: name) else {
            let names = StepRequest.Axis.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal(.invalidParams, "axis is one of \(names).", field: "axis")
        }
        let position = try parameters.integer("position", in: -1_000_000...1_000_000)
        let isHome = try parameters.bool("home") ?? false
        guard position == nil || !isHome else {
            throw Refusal(
                .invalidParams, "Give position or home, not both.", field: "position")
        }
        return StepRequest(axis: axis, position: position, isHome: isHome)
    }

    private func trackRequest(_ request: Request) throws(Refusal) -> TrackRequest {
        let parameters = try Parameters(request, ["pan", "tilt"])
        let range = -1000.0...1000.0
        let pan = try parameters.number("pan", in: range, unit: "degrees per second")
        let tilt = try parameters.number("tilt", in: range, unit: "degrees per second")
        guard pan != nil || tilt != nil else {
            throw Refusal(
                .invalidParams, "track needs at least one of pan and tilt.", field: "pan")
        }
        return TrackRequest(pan: pan, tilt: tilt)
    }
}
