import GimbalCore
import Links
import Policy
import Port
import Realtime
import Wire

/// Socket methods for following: a companion program follows a person, and users choose the person.
struct FollowingMethods: Sendable {
    let port: DaemonPort
    let hub: TelemetryHub
    let companions: Companions
    let clock: LoopClock

    /// Largest accepted age of a direction or an attitude, s.
    static let oldest = 1.0

    /// Range of valid times in a request, on the loop's clock, s. A simulator's clock can count
    /// from any time, such as from 1970.
    private static let times = -1e12...1e12
    /// Largest difference from the present time, s; no attitude is known beyond this difference.
    private static let reach = 10.0

    /// The methods, in the order in which the socket lists them.
    var methods: [SocketMethod] { [attitude, aim, follow] }

    /// Handles the end of a connection: a companion releases control.
    func left(_ client: Int) {
        companions.left(client)
        port.left(Self.source(client), now: clock.now)
    }

    /// Source of a companion's requests. A companion has the lowest rank, so any other client that
    /// moves the camera takes control from the companion.
    private static func source(_ client: Int) -> CommandSource {
        CommandSource(link: .companion, connection: UInt64(client))
    }

    // MARK: For companions

    private var attitude: SocketMethod {
        .question(
            "attitude",
            "Returns the camera's attitude, a quaternion w, x, y, z from body to earth, at a time of the last second.",
            [
                .number(
                    "t", in: Self.times, unit: "seconds",
                    "Time on the loop's clock; default: now.")
            ]
        ) { (parameters, _) throws(Refusal) in
            let now = clock.now
            let t = try parameters.number("t")
            let offset = t.map { $0 - clock.seconds(now) } ?? 0
            let time = now.advanced(bySeconds: min(max(offset, -Self.reach), Self.reach))
            do throws(AttitudeHistory.Gap) {
                let q = try hub.attitude(at: time)
                return AttitudeReply(
                    t: Number(clock.seconds(time)), attitude: [q.w, q.x, q.y, q.z])
            } catch {
                throw Refusal(
                    .noValue,
                    error == .tooEarly
                        ? "t is too old: airframed stores the attitude for only one second."
                        : "The attitude at this time is not known yet. t must be a time on the loop's clock; `ping` returns the present time.",
                    field: "t")
            }
        }
    }

    private var aim: SocketMethod {
        .change(
            "aim",
            "Points the camera at a moving target, in mode \"tracking\"; for programs that follow a person.",
            [
                .number(
                    "yaw", in: MotionRequest.angles, unit: "degrees", required: true,
                    "Heading of the direction in the earth frame, right positive."),
                .number(
                    "pitch", in: MotionRequest.elevations, unit: "degrees", required: true,
                    "Elevation of the direction, up positive."),
                .number(
                    "yaw_rate", in: MotionRequest.rates, unit: "degrees per second",
                    "Yaw rate of the direction; default: 0."),
                .number(
                    "pitch_rate", in: MotionRequest.rates, unit: "degrees per second",
                    "Pitch rate of the direction; default: 0."),
                .number(
                    "t", in: Self.times, unit: "seconds",
                    "Time at which the direction was measured, on the loop's clock; default: now."),
                .number(
                    "smoothing", in: MotionRequest.smoothings, unit: "seconds",
                    "Time constant of the correction; default: 0.25 s."),
            ]
        ) {
            (parameters, caller) throws(Refusal) in
            try caller.requirePerson(for: "aim")
            // A direction that the companion sends before it receives the choice `off` would restart
            // the motion.
            guard !companions.isEnded(for: caller.client.id, now: MonotonicClock.now) else {
                throw Refusal(.refused, "a user has ended the following of a person")
            }
            func radians(_ name: String) throws(Refusal) -> Double {
                Angle.degrees(try parameters.number(name) ?? 0).radians
            }
            let (yaw, pitch) = (try radians("yaw"), try radians("pitch"))
            let rate = AxisVector(
                yaw: try radians("yaw_rate"), roll: 0, pitch: try radians("pitch_rate"))
            let now = clock.now
            let present = clock.seconds(now)
            let t = try parameters.number("t") ?? present
            guard (-0.1...Self.oldest).contains(present - t) else {
                throw Refusal(
                    .outOfRange,
                    "t must be at most \(Int(Self.oldest)) s before the present time of the loop's clock, which `ping` returns.",
                    field: "t")
            }
            let smoothing = try parameters.number("smoothing")
            let moved = AxisVector(yaw: yaw, roll: 0, pitch: pitch) + rate * (present - t)
            let target = AxisVector(
                yaw: Angle(radians: 0).shortestArc(to: .radians(moved.yaw)).radians, roll: 0,
                pitch: min(max(moved.pitch, -.pi / 2), .pi / 2))
            try port.request(
                .aim(Aim(target: target, rate: rate, smoothing: smoothing ?? 0.25)),
                from: Self.source(caller.client.id), now: now)
            return Acknowledgement(
                "The camera points in the requested direction, which changes at the requested rates until the next request, or until the dead-man timeout of tracking expires."
            )
        }
    }

    // MARK: For users

    private var follow: SocketMethod {
        .change(
            "follow", "Selects the person that a companion program follows with the camera.",
            [
                .word(
                    "action", of: FollowingChoice.Action.allCases.map(\.rawValue), required: true,
                    "\"on\": follow any person; \"off\": follow no person; \"next\": the next person; \"point\": the person at x and y; \"person\": the person with the given ID."
                ),
                .number(
                    "x", in: 0...1, unit: "of the picture's width",
                    "Position for the action \"point\", from the left."
                ),
                .number(
                    "y", in: 0...1, unit: "of the picture's height",
                    "Position for the action \"point\", from the top."
                ),
                .text("person", "ID of the person, for the action \"person\"; 1 to 32 bytes."),
            ]
        ) { (parameters, caller) throws(Refusal) in
            guard let word = try parameters.word("action"),
                let action = FollowingChoice.Action(rawValue: word)
            else { throw parameters.missing("action") }
            let x = try parameters.number("x")
            let y = try parameters.number("y")
            guard action != .point || (x != nil && y != nil) else {
                throw Refusal(.invalidParams, "The action `point` needs x and y.", field: "x")
            }
            let person = try parameters.string("person")
            guard action != .person || (1...32).contains(person?.utf8.count ?? 0) else {
                throw Refusal(
                    .invalidParams,
                    "The action `person` needs the parameter `person`, the ID of a person.",
                    field: "person")
            }
            // A phone detects the person of the action `person`, so the models are not needed.
            let reported = action == .person ? nil : problem
            try choice(action, x: x, y: y, person: person, for: caller.source)
            if action == .off {
                return Acknowledgement("No person is followed; the camera holds its direction.")
            }
            guard let reported else {
                return Acknowledgement(
                    "The camera follows a person as soon as airframe-eyes finds a person.")
            }
            return Acknowledgement(
                "airframe-eyes tries to find a person, but reports a problem: \(reported)")
        }.answering(Acknowledgement.self)
    }

    /// Problem that the companion has reported, with its remedy; nil if there is none.
    private var problem: String? {
        guard let report = companions.follower(now: MonotonicClock.now)?.report,
            report.level != .ok
        else { return nil }
        return [report.finding, report.remedy].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Handles a user's selection of a person. The mode changes immediately; the answer to the
    /// companion's next report contains the selection.
    ///
    /// - Throws: `Refusal` if there is no companion that finds people, if the motors are off, if
    ///   another source is in control, or if the user's link cannot take control.
    func choice(
        _ action: FollowingChoice.Action, x: Double? = nil, y: Double? = nil,
        person: String? = nil, for source: CommandSource
    ) throws(Refusal) {
        let now = clock.now
        try port.commander.admit(source, now: now)
        guard let client = companions.follower(now: MonotonicClock.now)?.client else {
            throw Refusal(
                .refused,
                "no program that finds people is connected: start airframe-eyes with people.enabled, and see airframectl doctor"
            )
        }
        let companion = Self.source(client)
        if action == .off {
            companions.choice(.off, now: MonotonicClock.now)
            return try port.request(.release, from: companion, now: now)
        }
        // When a user chooses a person, the user's connection releases control. The companion can
        // then take control.
        if port.control.holder == source {
            try port.request(.release, from: source, now: now)
        }
        try port.request(.beginTracking, from: companion, now: now)
        companions.choice(
            action, x: x, y: y, person: person, now: MonotonicClock.now)
    }
}
