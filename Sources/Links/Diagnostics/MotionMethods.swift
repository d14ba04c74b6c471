import Configuration
import GimbalCore
import PlainText
import Port
import Wire

/// Request for motion from a method of the socket, and the answer that the client receives if the
/// request is accepted.
private struct Move {
    let request: MotionRequest
    /// Function that returns the answer. The function's arguments are the granted request, the
    /// loop's snapshot before the request, and the active settings.
    let answer: (MotionRequest, StabilizerSnapshot?, Settings) -> Acknowledgement

    init(
        _ request: MotionRequest,
        answer: @escaping (MotionRequest, StabilizerSnapshot?, Settings) -> Acknowledgement
    ) {
        self.request = request
        self.answer = answer
    }

    init(_ request: MotionRequest, _ sentence: String) {
        self.init(request) { _, _, _ in Acknowledgement(sentence) }
    }
}

// Methods that move the camera, the wheels or the stepper motors, each with its parameters and its
// reply. The methods convert degrees to radians; `MotionRequest` contains the permitted ranges.
extension SocketMethod {
    /// The methods for motion, in the order in which `methods` lists them.
    public static func motion(_ port: any GimbalPort) -> [SocketMethod] {
        [
            move(
                "mode", "Changes the mode; \"inactive\" switches the motors off.",
                [.word("mode", of: Mode.allCases.map(\.name), required: true, modeMeanings)], port
            ) { (parameters) throws(Refusal) in
                let mode = try mode(parameters)
                let sentence = "The mode is now \(mode.name): \(ModeWords.of(mode))."
                return Move(
                    .mode(mode),
                    mode == .inactive
                        ? "The motors ramp down, and are then switched off." : sentence
                )
            },
            move(
                "point", "Turns the camera to angles in the earth frame.",
                axes(in: MotionRequest.angles, "degrees", "Angle of") + [
                    .number(
                        "duration", in: MotionRequest.durations, unit: "seconds",
                        "Duration of the turn; default: 0, which means as fast as the limits permit."
                    ),
                    .number(
                        "rate", in: MotionRequest.rateLimits, unit: perSecond,
                        "Highest rate of the turn, instead of duration."),
                ], port, point),
            .change(
                "recentre",
                "Levels the camera, and points it in the direction of the handle; only in the modes locked and pan_follow.",
                []
            ) { (_, caller) throws(Refusal) in
                // The angle of this turn has no limit.
                try caller.requirePerson(for: "recentre")
                try port.recentre(from: caller.source, now: port.now)
                let isKnown = port.snapshot.flatMap(VehicleHeading.heading) != nil
                return Acknowledgement(
                    isKnown
                        ? "The camera turns to the direction of the handle."
                        : "The camera turns level. Its yaw does not change, because the joint angles are unknown."
                )
            }.answering(Acknowledgement.self),
            move(
                "rate",
                "Turns the camera at the given rates until the next request, or until the dead-man timeout expires.",
                axes(in: MotionRequest.rates, perSecond, "Rate of"), port, rate),
            move(
                "track", "Turns the camera at the given rates, in mode \"tracking\".",
                [
                    .number(
                        "pan", in: MotionRequest.trackingRates, unit: perSecond,
                        "Rate of pan, right positive."),
                    .number(
                        "tilt", in: MotionRequest.trackingRates, unit: perSecond,
                        "Rate of tilt, down positive."),
                ], port
            ) { (parameters) throws(Refusal) in
                let pan = try parameters.radians("pan")
                let tilt = try parameters.radians("tilt")
                guard !pan.isNaN || !tilt.isNaN else {
                    throw Refusal(
                        .invalidParams, "track needs at least one of pan and tilt.", field: "pan")
                }
                return Move(
                    .track(pan: pan, tilt: tilt),
                    "The camera turns until the next request, or until the dead-man timeout of tracking expires."
                )
            },
            move(
                "motor_test", "Moves one motor slightly for half a second, in mode \"inactive\".",
                [
                    .word(
                        "axis", of: GimbalAxis.allCases.map(\.name), required: true,
                        "Axis of the motor.")
                ], port
            ) { (parameters) throws(Refusal) in
                let name = try parameters.requiredString("axis")
                guard let axis = GimbalAxis.allCases.first(where: { $0.name == name }) else {
                    throw Refusal(
                        .invalidParams, "axis must be yaw, roll or pitch.", field: "axis")
                }
                return Move(
                    .testMotor(axis),
                    "The motor of \(name) moves for half a second; repeat the request to continue.")
            },
            move(
                "drive",
                "Turns the two wheels, until the next request or until the dead-man timeout of driving expires.",
                ["left", "right"].map {
                    .number(
                        $0, in: MotionRequest.wheels, unit: "of full speed",
                        "Speed of the \($0) wheel, forwards positive; default: 0.")
                }, port
            ) { (parameters) throws(Refusal) in
                let left = try parameters.number("left") ?? 0
                let right = try parameters.number("right") ?? 0
                return Move(
                    .drive(left: left, right: right),
                    left == 0 && right == 0
                        ? "The wheels stop."
                        : "The wheels turn until the next request, or until the dead-man timeout of driving expires."
                )
            },
            move(
                "step",
                "Moves one of a robot's stepper motors; stops the motor if neither position nor home is given.",
                [
                    .word("axis", of: MotionRequest.steppers, required: true, "Stepper motor."),
                    .integer(
                        "position", in: MotionRequest.steps, unit: "steps", "Position from home."),
                    .bool("home", "If true, the motor moves to its home switch."),
                ], port, step),
            // A stop with invalid parameters must still be executed.
            .change(
                "stop", "Emergency stop: switches the motors off until the stop is reset.", nil
            ) { (_, caller) throws(Refusal) in
                do throws(Refusal) {
                    try port.request(.emergencyStop, from: caller.source, now: port.now)
                    return Acknowledgement(
                        "Emergency stop: the motors stay off until the stop is reset.")
                } catch {
                    // The command ring has reserved slots for emergency stops. Therefore every stop
                    // reaches the loop and is executed, unless the loop hangs. If the loop hangs,
                    // the bus thread switches the motors off.
                    return Acknowledgement(
                        "The loop does not accept the stop: \(error.message). If the camera moves, cut its power."
                    )
                }
            }.answering(Acknowledgement.self),
            .change("reset_stop", "Resets an emergency stop.", []) {
                (_, caller) throws(Refusal) in
                // A stop that was requested just before may be missing in the loop's snapshot.
                let isStopped = port.control.isStopped
                let faults = port.newest?.conditions.latchedFaults ?? []
                try port.request(.resetEmergencyStop, from: caller.source, now: port.now)
                if isStopped {
                    return Acknowledgement(
                        "The emergency stop is reset. The mode is inactive until you select another mode."
                    )
                }
                return Acknowledgement(
                    "No emergency stop is latched."
                        + (faults.isEmpty
                            ? ""
                            : " These latched faults are reset: \(faults.joined(separator: ", ")).")
                )
            }.answering(Acknowledgement.self),
            move("take", "Takes control of the camera without moving it.", [], port) {
                (_) throws(Refusal) in Move(.take, "You are in control.")
            },
            .change("release", "Releases control; the camera stops turning.", []) {
                (_, caller) throws(Refusal) in
                let control = port.control
                let isInControl = [control.holder, control.driver].contains(caller.source)
                try port.request(.release, from: caller.source, now: port.now)
                return Acknowledgement(
                    isInControl
                        ? "You have released control."
                        : "You were not in control; nothing has changed.")
            }.answering(Acknowledgement.self),
        ]
    }

    private static let perSecond = "degrees per second"

    private static let modeMeanings =
        Mode.allCases.map { "\($0.name): \(ModeWords.of($0))" }.joined(separator: "; ") + "."

    private static func axes(
        in range: ClosedRange<Double>, _ unit: String, _ what: String
    ) -> [Parameter] {
        [("yaw", "right"), ("roll", "right"), ("pitch", "up")].map { name, positive in
            .number(
                name, in: range, unit: unit,
                "\(what) \(name), \(positive) positive; an axis without a value is not moved.")
        }
    }

    private static func move(
        _ name: String, _ summary: String, _ parameters: [Parameter], _ port: any GimbalPort,
        _ read: @escaping @Sendable (Parameters) throws(Refusal) -> Move
    ) -> SocketMethod {
        .change(name, summary, parameters) { (parameters, caller) throws(Refusal) in
            let move = try read(parameters)
            // The loop can start the motion immediately. Therefore the forecast is computed from
            // the state before the request.
            var before = port.newest
            // The snapshot is up to some milliseconds old, so it can have the mode before a request
            // for another mode.
            before?.mode = port.control.mode
            let request = try port.limited(move.request, for: caller.source)
            try port.request(request, from: caller.source, now: port.now)
            return move.answer(request, before, port.settings)
        }.answering(Acknowledgement.self)
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
        let duration = try parameters.number("duration")
        let rate = try parameters.number("rate")
        guard duration == nil || rate == nil else {
            throw Refusal(
                .invalidParams,
                "Give duration or rate, not both: each of them determines how long the turn takes.",
                field: "rate")
        }
        let angles = try parameters.axes(field: "pitch")
        let (seconds, fastest) = (duration ?? 0, Angle.degrees(rate ?? 0).radians)
        return Move(.point(angles, duration: seconds, rate: fastest)) { request, before, settings in
            guard let before, case .camera(.point(let point)) = request.effect else {
                return Acknowledgement("The camera turns.")
            }
            let parameters = settings.stabilizerParameters
            return PointForecast(
                snapshot: before, parameters: parameters.setpoint, jointRange: parameters.jointRange
            ).acknowledgement(angles, duration: seconds, rate: point.rate, mode: before.mode)
        }
    }

    private static func rate(_ parameters: Parameters) throws(Refusal) -> Move {
        let rate = try parameters.axes(field: "yaw").filled(from: .zero)
        return Move(.rate(rate)) { _, before, settings in
            guard rate != .zero else { return Acknowledgement("The camera stops turning.") }
            let present = before?.motion ?? MotionLimits()
            let motion = settings.stabilizerParameters.setpoint.slower(present)
            let deadMan = settings.commander.deadManS
            let limited = rate.clamped(to: motion.maxRate)
            var sentence =
                "The camera turns until the next request, or until the dead-man timeout expires."
            var limits: [String] = []
            if limited != rate {
                limits.append("rate")
                sentence += " \(present.rateName) makes the turn slower than requested."
            }
            if limited.clamped(to: motion.rates(stoppingWithin: deadMan)) != limited {
                limits.append("acceleration")
                sentence +=
                    " \(present.accelerationName) makes the turn slower than requested, because the camera must be able to stop within commander.dead_man_s = \(Format.plain(deadMan)) s."
            }
            return Acknowledgement(sentence, limitedBy: limits)
        }
    }

    private static func step(_ parameters: Parameters) throws(Refusal) -> Move {
        let name = try parameters.requiredString("axis")
        guard let axis = MotionRequest.steppers.firstIndex(of: name) else {
            let names = MotionRequest.steppers.joined(separator: ", ")
            throw Refusal(.invalidParams, "axis must be one of \(names).", field: "axis")
        }
        let position = try parameters.integer("position")
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

extension Conditions {
    /// Names of the faults that the loop has latched, and that `reset_stop` resets.
    fileprivate var latchedFaults: [String] {
        let faults: Conditions = .responseReversed | .controlFault | .loopUnreliable
        return Conditions.catalogue.filter {
            intersects($0.condition) && faults.intersects($0.condition)
        }.map(\.name)
    }
}

extension Parameters {
    /// The value of a parameter in degrees, converted to radians; NaN if the parameter is missing.
    fileprivate func radians(_ name: String) throws(Refusal) -> Double {
        Angle.degrees(try number(name) ?? .nan).radians
    }

    /// The parameters yaw, roll and pitch in radians; NaN for a missing parameter.
    fileprivate func axes(field: String) throws(Refusal) -> AxisVector {
        let axes = AxisVector(
            yaw: try radians("yaw"), roll: try radians("roll"), pitch: try radians("pitch"))
        guard axes.isRequested else {
            throw Refusal(
                .invalidParams, "\(method) needs at least one of yaw, roll and pitch.",
                field: field)
        }
        return axes
    }
}
