import Configuration
import GimbalCore
import PlainText
import Port
import Wire

/// Request for motion from a method of the socket, and the answer that the client receives if the
/// request is accepted.
private struct Move {
    let request: MotionRequest
    /// Function that returns the answer, given the loop's snapshot before the request and the
    /// active settings.
    let answer: (StabilizerSnapshot?, Settings) -> Acknowledgement

    init(
        _ request: MotionRequest,
        answer: @escaping (StabilizerSnapshot?, Settings) -> Acknowledgement
    ) {
        self.request = request
        self.answer = answer
    }

    init(_ request: MotionRequest, _ sentence: String) {
        self.init(request) { _, _ in Acknowledgement(sentence) }
    }
}

// Methods that move the machine, each with its parameters and its reply. The methods convert
// degrees to radians; `MotionRequest` contains the permitted ranges.
extension SocketMethod {
    /// The methods that move the machine, in the order of their listing.
    public static func motion(_ port: any GimbalPort) -> [SocketMethod] {
        [
            move("mode", ["mode"], port) { (parameters) throws(Refusal) in
                let mode = try mode(parameters)
                let sentence = "The mode is \(mode.name) now: \(ModeWords.of(mode))."
                return Move(
                    .mode(mode), mode == .inactive ? "The motors ramp down, then go off." : sentence
                )
            },
            move("point", ["yaw", "roll", "pitch", "duration", "rate"], port, point),
            move("rate", ["yaw", "roll", "pitch"], port, rate),
            move("track", ["pan", "tilt"], port) { (parameters) throws(Refusal) in
                let pan = try parameters.radians("pan", in: MotionRequest.trackingRates, perSecond)
                let tilt = try parameters.radians(
                    "tilt", in: MotionRequest.trackingRates, perSecond)
                guard !pan.isNaN || !tilt.isNaN else {
                    throw Refusal(
                        .invalidParams, "track needs at least one of pan and tilt.", field: "pan")
                }
                return Move(
                    .track(pan: pan, tilt: tilt),
                    "The camera turns until the next request, or until the dead-man time of tracking has passed."
                )
            },
            move("motor_test", ["axis"], port) { (parameters) throws(Refusal) in
                let name = try parameters.requiredString("axis")
                guard let axis = GimbalAxis.allCases.first(where: { $0.name == name }) else {
                    throw Refusal(
                        .invalidParams, "axis must be yaw, roll or pitch.", field: "axis")
                }
                return Move(
                    .testMotor(axis),
                    "The motor of \(name) moves for half a second; repeat the request to continue.")
            },
            move("drive", ["left", "right"], port) { (parameters) throws(Refusal) in
                func wheel(_ name: String) throws(Refusal) -> Double {
                    try parameters.number(name, in: MotionRequest.wheels, unit: "of full speed")
                        ?? 0
                }
                return Move(
                    .drive(left: try wheel("left"), right: try wheel("right")),
                    "The wheels turn until the next request, or until the dead-man time of driving has passed."
                )
            },
            move("step", ["axis", "position", "home"], port, step),
            // A stop with invalid parameters must still be executed.
            .change("stop", nil) { (_, caller) throws(Refusal) in
                do throws(Refusal) {
                    try port.request(.emergencyStop, from: caller.source, now: port.now)
                    return Acknowledgement(
                        "Emergency stop: the motors stay off until the stop is reset.")
                } catch {
                    // The command ring has slots that are reserved for emergency stops, so every
                    // stop reaches the loop; only a loop that hangs does not execute it. If the
                    // loop hangs, the bus thread switches the motors off.
                    return Acknowledgement(
                        "The loop does not accept the stop: \(error.message). If the camera moves, cut its power."
                    )
                }
            },
            move("reset_stop", [], port) { (_) throws(Refusal) in
                Move(
                    .resetEmergencyStop,
                    "The emergency stop is reset. The mode is inactive until you select another mode."
                )
            },
            move("take", [], port) { (_) throws(Refusal) in Move(.take, "You are in control.") },
            move("release", [], port) { (_) throws(Refusal) in
                Move(.release, "You have released control.")
            },
        ]
    }

    private static let perSecond = "degrees per second"

    private static func move(
        _ name: String, _ parameters: [String], _ port: any GimbalPort,
        _ read: @escaping @Sendable (Parameters) throws(Refusal) -> Move
    ) -> SocketMethod {
        .change(name, parameters) { (parameters, caller) throws(Refusal) in
            let move = try read(parameters)
            // The loop can start the motion immediately, so the forecast is computed from the state
            // before the request.
            let before = port.newest
            try port.request(move.request, from: caller.source, now: port.now)
            return move.answer(before, port.settings)
        }
    }

    private static func mode(_ parameters: Parameters) throws(Refusal) -> Mode {
        let name = try parameters.requiredString("mode")
        guard let mode = Mode(name: name) else {
            let names = Mode.allCases.map(\.name)
            throw Refusal(
                .invalidParams,
                "There is no mode \"\(name.prefix(64))\"; the modes are \(names.joined(separator: ", "))."
                    + Suggestion.sentence(for: name, in: names),
                field: "mode")
        }
        return mode
    }

    private static func point(_ parameters: Parameters) throws(Refusal) -> Move {
        let duration = try parameters.number(
            "duration", in: MotionRequest.durations, unit: "seconds")
        let rate = try parameters.number(
            "rate", in: 0.01...MotionRequest.fastest.upperBound, unit: perSecond)
        guard duration == nil || rate == nil else {
            throw Refusal(
                .invalidParams,
                "Give duration or rate, not both: each of them determines how long the turn takes.",
                field: "rate")
        }
        let angles = try parameters.axes(in: MotionRequest.angles, "degrees", field: "pitch")
        let (seconds, fastest) = (duration ?? 0, Angle.degrees(rate ?? 0).radians)
        return Move(.point(angles, duration: seconds, rate: fastest)) { before, settings in
            guard let before else { return Acknowledgement("The camera turns.") }
            return PointForecast(
                snapshot: before, parameters: settings.stabilizerParameters.setpoint
            ).acknowledgement(angles, duration: seconds, rate: fastest, mode: before.mode)
        }
    }

    private static func rate(_ parameters: Parameters) throws(Refusal) -> Move {
        let rate = try parameters.axes(in: MotionRequest.rates, perSecond, field: "yaw")
            .filled(from: .zero)
        return Move(.rate(rate)) { _, settings in
            guard rate != .zero else { return Acknowledgement("The camera stops turning.") }
            let limit = settings.stabilizerParameters.setpoint.maxRate
            let isLimited = rate.clamped(to: limit) != rate
            return Acknowledgement(
                "The camera turns until the next request, or until the dead-man time has passed."
                    + (isLimited
                        ? " motion.max_rate_dps makes the turn slower than requested." : ""),
                limitedBy: isLimited ? ["rate"] : [])
        }
    }

    private static func step(_ parameters: Parameters) throws(Refusal) -> Move {
        let name = try parameters.requiredString("axis")
        guard let axis = MotionRequest.steppers.firstIndex(of: name) else {
            let names = MotionRequest.steppers.joined(separator: ", ")
            throw Refusal(.invalidParams, "axis must be one of \(names).", field: "axis")
        }
        let position = try parameters.integer("position", in: MotionRequest.steps)
        let isHome = try parameters.bool("home") ?? false
        guard position == nil || !isHome else {
            throw Refusal(
                .invalidParams, "Give position or home, not both.", field: "position")
        }
        if isHome {
            return Move(.step(axis: axis, .home), "The motor of \(name) moves to its home switch.")
        }
        guard let position else {
            return Move(.step(axis: axis, .hold), "The motor of \(name) stops.")
        }
        return Move(
            .step(axis: axis, .position(position)),
            "The motor of \(name) moves to \(position) steps from home, or to its limit.")
    }
}

extension Parameters {
    /// The value of a parameter in degrees, converted to radians; NaN if the parameter is missing.
    fileprivate func radians(
        _ name: String, in range: ClosedRange<Double>, _ unit: String
    ) throws(Refusal) -> Double {
        Angle.degrees(try number(name, in: range, unit: unit) ?? .nan).radians
    }

    /// The parameters yaw, roll and pitch in radians; NaN for a missing parameter.
    fileprivate func axes(
        in range: ClosedRange<Double>, _ unit: String, field: String
    ) throws(Refusal) -> AxisVector {
        let axes = AxisVector(
            yaw: try radians("yaw", in: range, unit), roll: try radians("roll", in: range, unit),
            pitch: try radians("pitch", in: range, unit))
        guard axes.isRequested else {
            throw Refusal(
                .invalidParams, "\(method) needs at least one of yaw, roll and pitch.",
                field: field)
        }
        return axes
    }
}
