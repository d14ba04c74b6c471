import GimbalCore
import PlainText
import Port
import Wire

/// The methods that move the machine: degrees become radians here.
extension RequestHandler {
    func move(_ method: Method, _ request: Request, _ client: DiagnosticsClient)
        throws(Refusal) -> [UInt8]
    {
        // Nothing that can be wrong about the parameters is a reason not to stop.
        if method == .stop { return try encode(backend.stop(client: client)) }
        return try encode(try backend.move(try motion(method, request), client: client))
    }

    private func motion(_ method: Method, _ request: Request) throws(Refusal) -> MotionRequest {
        switch method {
        case .mode: return .mode(try mode(request))
        case .point: return try point(request)
        case .rate: return .rate(try rate(request))
        case .track:
            let (pan, tilt) = try track(request)
            return .track(pan: pan, tilt: tilt)
        case .motorTest: return .testMotor(try motor(request))
        case .drive:
            let parameters = try Parameters(request, ["left", "right"])
            func wheel(_ name: String) throws(Refusal) -> Double {
                try parameters.number(name, in: MotionRequest.wheels, unit: "of full speed") ?? 0
            }
            return .drive(left: try wheel("left"), right: try wheel("right"))
        case .step: return try step(request)
        default:
            _ = try Parameters(request)
            return method == .resetStop ? .resetEmergencyStop : method == .take ? .take : .release
        }
    }

    private func mode(_ request: Request) throws(Refusal) -> Mode {
        let name = try Parameters(request, ["mode"]).requiredString("mode")
        guard let mode = Mode(name: name) else {
            let names = Mode.allCases.map(\.name)
            throw Refusal(
                .invalidParams,
                "There is no mode \"\(name.prefix(64))\"; there are \(names.joined(separator: ", "))."
                    + Suggestion.sentence(for: name, in: names),
                field: "mode")
        }
        return mode
    }

    private func motor(_ request: Request) throws(Refusal) -> GimbalAxis {
        let name = try Parameters(request, ["axis"]).requiredString("axis")
        guard let axis = GimbalAxis.allCases.first(where: { $0.name == name }) else {
            throw Refusal(.invalidParams, "axis is one of yaw, roll, pitch.", field: "axis")
        }
        return axis
    }

    /// Yaw, roll and pitch as radians; NaN where nothing is asked for.
    private func axes(
        _ parameters: Parameters, in range: ClosedRange<Double>, unit: String, field: String
    ) throws(Refusal) -> AxisVector {
        func radians(_ name: String) throws(Refusal) -> Double {
            let value = try parameters.number(name, in: range, unit: unit)
            return Angle.degrees(value ?? .nan).radians
        }
        let axes = AxisVector(
            yaw: try radians("yaw"), roll: try radians("roll"), pitch: try radians("pitch"))
        guard !axes.yaw.isNaN || !axes.roll.isNaN || !axes.pitch.isNaN else {
            throw Refusal(
                .invalidParams,
                "\(parameters.method) needs at least one of yaw, roll and pitch.", field: field)
        }
        return axes
    }

    private func point(_ request: Request) throws(Refusal) -> MotionRequest {
        let parameters = try Parameters(request, ["yaw", "roll", "pitch", "duration", "rate"])
        let duration = try parameters.number(
            "duration", in: MotionRequest.durations, unit: "seconds")
        let rate = try parameters.number(
            "rate", in: 0.01...MotionRequest.fastest.upperBound, unit: "degrees per second")
        guard duration == nil || rate == nil else {
            throw Refusal(
                .invalidParams,
                "Give duration or rate, not both: each says how long the turn takes.",
                field: "rate")
        }
        let angles = try axes(
            parameters, in: MotionRequest.angles, unit: "degrees", field: "pitch")
        return .point(
            angles, duration: duration ?? 0, rate: Angle.degrees(rate ?? 0).radians)
    }

    private func rate(_ request: Request) throws(Refusal) -> AxisVector {
        let rates = try axes(
            try Parameters(request, ["yaw", "roll", "pitch"]), in: MotionRequest.rates,
            unit: "degrees per second", field: "yaw")
        func orZero(_ rate: Double) -> Double { rate.isNaN ? 0 : rate }
        return AxisVector(
            yaw: orZero(rates.yaw), roll: orZero(rates.roll), pitch: orZero(rates.pitch))
    }

    private func step(_ request: Request) throws(Refusal) -> MotionRequest {
        let parameters = try Parameters(request, ["axis", "position", "home"])
        let name = try parameters.requiredString("axis")
        guard let axis = MotionRequest.steppers.firstIndex(of: name) else {
            let names = MotionRequest.steppers.joined(separator: ", ")
            throw Refusal(.invalidParams, "axis is one of \(names).", field: "axis")
        }
        let position = try parameters.integer("position", in: MotionRequest.steps)
        let isHome = try parameters.bool("home") ?? false
        guard position == nil || !isHome else {
            throw Refusal(
                .invalidParams, "Give position or home, not both.", field: "position")
        }
        return .step(axis: axis, isHome ? .home : position.map(StepWish.position) ?? .hold)
    }

    private func track(_ request: Request) throws(Refusal) -> (pan: Double, tilt: Double) {
        let parameters = try Parameters(request, ["pan", "tilt"])
        func radians(_ name: String) throws(Refusal) -> Double {
            let value = try parameters.number(
                name, in: MotionRequest.trackingRates, unit: "degrees per second")
            return Angle.degrees(value ?? .nan).radians
        }
        let rates = (pan: try radians("pan"), tilt: try radians("tilt"))
        guard !rates.pan.isNaN || !rates.tilt.isNaN else {
            throw Refusal(
                .invalidParams, "track needs at least one of pan and tilt.", field: "pan")
        }
        return rates
    }
}
