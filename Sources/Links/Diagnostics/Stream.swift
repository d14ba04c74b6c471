import PlainText
import GimbalCore
import Port
import Wire

/// Schedule of a stream. Messages are due at constant intervals, and missed messages are skipped.
struct StreamSchedule {
    /// Permitted number of messages per second.
    static let allowedHz = 1.0...200.0

    let period: Int64
    private(set) var next: Instant

    init(rateHz: Double, now: Instant) {
        period = Int64(1e9 / rateHz)
        next = now
    }

    /// True if a message of the stream is due. The call then advances the due time by one period.
    /// If the advanced due time has also passed, the next message is due one period from now.
    mutating func takeDue(now: Instant) -> Bool {
        guard now >= next else { return false }
        next.nanoseconds += period
        if next <= now { next = Instant(nanoseconds: now.nanoseconds + period) }
        return true
    }
}

/// One subscription of one client.
struct Stream {
    let id: Int
    let names: [String]
    /// Index of each subscribed variable in the daemon's list of variables.
    let indices: [Int]
    let rateHz: Double
    var schedule: StreamSchedule
    var dropped = 0

    var info: SubscriptionInfo {
        SubscriptionInfo(subscription: id, rateHz: Number(rateHz), names: names, dropped: dropped)
    }

    /// Creates the message with the newest values of the variables in `indices`.
    func message(_ sample: VariableSample) -> SubscriptionMessage {
        SubscriptionMessage(
            subscription: id, t: Number(sample.t), dropped: dropped,
            values: Dictionary(zip(names, sample.values)) { first, _ in first })
    }
}

/// Finds the variables that a subscription names.
struct VariableIndex {
    private let order: [String]
    private let positions: [String: Int]

    init(_ variables: [Variable]) {
        order = variables.map(\.name)
        positions = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// Finds the variables' names, and their indices in the daemon's list. The pattern `*` matches
    /// all variables; `attitude.*` matches all variables below `attitude`.
    ///
    /// - Parameter patterns: Names or patterns of variables. A variable that is named twice is
    ///   subscribed once.
    /// - Returns: Names of the variables, and their indices in the daemon's list, in the requested
    ///   order.
    /// - Throws: `unknown_key`, with the most similar valid name as a suggestion.
    func resolve(_ patterns: [String]) throws(Refusal) -> (names: [String], indices: [Int]) {
        var indices: [Int] = []
        var seen: Set<Int> = []
        // A name or pattern that the request repeats is looked up only once.
        var asked: Set<String> = []
        for pattern in patterns where asked.insert(pattern).inserted {
            let matches = self.matches(pattern)
            guard !matches.isEmpty else {
                throw Refusal(
                    .unknownKey,
                    "There is no variable \"\(pattern.prefix(128))\"; `airframectl subscribe` lists the variables."
                        + Suggestion.sentence(for: pattern, in: order),
                    field: "names")
            }
            indices += matches.filter { seen.insert($0).inserted }
        }
        return (indices.map { order[$0] }, indices)
    }

    private func matches(_ pattern: String) -> [Int] {
        if pattern == "*" { return Array(order.indices) }
        if pattern.hasSuffix(".*") {
            return order.indices.filter { order[$0].hasPrefix(pattern.dropLast()) }
        }
        return positions[pattern].map { [$0] } ?? []
    }
}
