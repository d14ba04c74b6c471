import PlainText
import Wire

/// Rotation of the camera at constant rates. The server repeats the request until the duration of
/// the rotation has elapsed.
struct Turn: Equatable {
    /// ID of the tool call, which is answered at the end of the rotation.
    let id: JSONValue
    /// True if the answer has the format of version 2026-07-28.
    let isModern: Bool
    /// Rate of each rotating axis, degrees per second.
    let rates: [String: JSONValue]
    /// Start time of the rotation, s.
    let start: Double
    /// End time of the rotation, s.
    let end: Double
    /// Interval between two requests to the daemon, s.
    let period: Double
    /// Time of the next request to the daemon, s; at most `end`.
    private(set) var due: Double
    /// Time at which the daemon ends the rotation if it receives no further request, s.
    private var deadManEnd: Double

    /// Checks the arguments of a rotation, and creates the rotation.
    ///
    /// - Parameters:
    ///   - id: ID of the call.
    ///   - arguments: Rates of the axes, degrees per second, and duration, s.
    ///   - limits: The assistant's limits.
    ///   - isModern: True if the answer has the format of version 2026-07-28.
    ///   - now: Current time, s.
    /// - Throws: `RequestError` if the duration or an angle exceeds a limit; the message contains
    ///   the remedy.
    init(
        id: JSONValue, _ arguments: [String: JSONValue], _ limits: Limits, isModern: Bool,
        now: Double
    ) throws(RequestError) {
        guard let duration = arguments["duration"]?.number, duration > 0 else {
            throw RequestError(
                "invalid_params", "The tool `turn` needs the argument `duration`, in seconds.",
                field: "duration")
        }
        guard duration <= limits.turnS else {
            throw RequestError(
                "out_of_range",
                "duration is longer than \(Format.plain(limits.turnS)) s (mcp.max_turn_s).",
                field: "duration")
        }
        var rates = arguments
        rates["duration"] = nil
        for (axis, rate) in rates {
            guard let rate = rate.number else { continue }
            guard abs(rate) * duration <= limits.travelDeg else {
                throw RequestError(
                    "out_of_range",
                    "\(axis) would turn by \(Format.plain(abs(rate) * duration)) degrees; an assistant can turn the camera by at most \(Format.plain(limits.travelDeg)) degrees in one request (mcp.max_travel_deg).",
                    field: axis)
            }
        }
        self.id = id
        self.isModern = isModern
        self.rates = rates
        start = now
        end = now + duration
        // If the daemon receives no request for three periods, it ends the rotation.
        period = limits.deadManS / 3
        due = min(end, now + period)
        deadManEnd = now + limits.deadManS
    }

    /// Plans the next request to the daemon.
    mutating func continueTurn(now: Double) {
        deadManEnd = now + 3 * period
        due = min(end, now + period)
    }

    /// True if the daemon has ended the rotation before its end, because the server was too slow to
    /// repeat the request.
    func isInterrupted(now: Double) -> Bool { now > deadManEnd && deadManEnd < end }

    /// The error answer to the tool call after an interruption.
    var interruption: RequestError {
        RequestError(
            "timeout",
            "The rotation ended after \(Format.fixed(deadManEnd - start, 1)) s, because airframectl did not repeat its request within \(Format.plain(3 * period)) s (commander.dead_man_s). Read the attitude with the tool `status`, then call `turn` again."
        )
    }

    /// Request that stops the rotating axes: a rate of 0 for each of them.
    var stop: [String: JSONValue] { rates.mapValues { _ in 0 } }

    /// The answer to the tool call, at the end of the rotation.
    ///
    /// - Parameter now: Time of the rotation's end, s.
    /// - Returns: The reply for the user as text, and the duration of the rotation, s.
    func result(now: Double) -> JSONValue {
        let seconds = min(now, end) - start
        let text = Format.fixed(seconds, 1)
        return [
            "sentence": .string(
                now < end
                    ? "Another request ended the rotation after \(text) s."
                    : "The camera has turned for \(text) s, and has stopped."),
            "turned_s": .double(seconds),
        ]
    }
}
