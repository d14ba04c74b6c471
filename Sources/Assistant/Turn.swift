import PlainText
import Wire

/// Turn at rates that the server repeats until its time is over.
struct Turn: Equatable {
    /// Id of the call, which gets its answer at the end of the turn.
    let id: JSONValue
    /// True if the answer has the format of version 2026-07-28.
    let isModern: Bool
    /// The axes with their rates, degrees per second.
    let rates: [String: JSONValue]
    /// Start of the turn, s.
    let start: Double
    /// End of the turn, s.
    let end: Double
    /// Time between two requests to the daemon, s.
    let period: Double
    /// Time of the next request to the daemon, or of the end, s.
    private(set) var due: Double

    /// Checks the arguments of a turn, and makes the turn.
    ///
    /// - Parameters:
    ///   - id: Id of the call.
    ///   - arguments: Rates of the axes, degrees per second, and duration, s.
    ///   - limits: The assistant's limits.
    ///   - isModern: True if the answer has the format of version 2026-07-28.
    ///   - now: Present time, s.
    /// - Throws: The refusal, with its remedy.
    init(
        id: JSONValue, _ arguments: [String: JSONValue], _ limits: Limits, isModern: Bool,
        now: Double
    ) throws(RequestError) {
        guard let duration = arguments["duration"]?.number, duration > 0 else {
            throw RequestError(
                "invalid_params", "turn needs duration, a number of seconds.", field: "duration")
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
        // The daemon ends the turn if the server is silent for three periods.
        period = limits.deadManS / 3
        due = min(end, now + period)
    }

    /// Plans the next request to the daemon.
    mutating func continueTurn(now: Double) { due = min(end, now + period) }

    /// The same axes, each with the rate zero.
    var stop: [String: JSONValue] { rates.mapValues { _ in 0 } }

    /// Makes the answer at the end of the turn.
    ///
    /// - Parameter now: Time of the end, s.
    /// - Returns: A sentence, and the time for which the camera has turned, s.
    func result(now: Double) -> JSONValue {
        let seconds = min(now, end) - start
        let text = Format.fixed(seconds, 1)
        return [
            "sentence": .string(
                now < end
                    ? "Another request ended the turn after \(text) s."
                    : "The camera has turned for \(text) s, and has stopped."),
            "turned_s": .double(seconds),
        ]
    }
}
