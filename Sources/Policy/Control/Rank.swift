import Port

/// Rank of a link, which states how certain the identity of its peers is. Control and the reset of
/// emergency stops depend on the rank.
///
/// The kernel identifies a client of the diagnostics socket. A key identifies a phone that must
/// pair, and a peer that must sign. Other peers are not identified. A link can take control from a
/// link of lower rank immediately. A link of equal rank must wait until control is free. An
/// emergency stop can be reset by the link that requested it, or by a link of higher rank.
public enum Rank: Int, Sendable, Comparable, CaseIterable {
    /// A link that every device in range of the radio or in the network can use.
    case open
    /// A link that only devices with the owner's key can use.
    case keyed
    /// A client of the diagnostics socket with the right to write.
    case local

    /// Whether rank `a` is lower than rank `b`.
    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// Latch of the emergency stop. It stores the links that have requested the stop.
///
/// The latch stores links instead of connections, because a phone that has lost its connection
/// returns with a new connection, and must be able to reset the stop that it has requested. Each
/// link resets its own stop and stops of lower ranks. The outputs stay off until no stop remains.
struct EmergencyStopLatch {
    private var asked: [CommandSource.Link: CommandSource] = [:]

    /// Whether an emergency stop is latched.
    var isLatched: Bool { !asked.isEmpty }

    /// The source with the highest rank that requested the stop; nil without a latched stop.
    func owner(_ rules: Commander.Rules) -> CommandSource? {
        asked.values.max {
            (rules.rank(of: $0.link).rawValue, $0.link.rawValue)
                < (rules.rank(of: $1.link).rawValue, $1.link.rawValue)
        }
    }

    /// Latches a stop of a source.
    mutating func latch(by source: CommandSource) { asked[source.link] = source }

    /// Resets the stop of a source's link, and stops of lower ranks.
    ///
    /// - Returns: The source of a remaining stop; nil if none remains.
    mutating func takeBack(by source: CommandSource, _ rules: Commander.Rules) -> CommandSource? {
        let rank = rules.rank(of: source.link)
        asked = asked.filter { $0.key != source.link && rules.rank(of: $0.key) >= rank }
        return owner(rules)
    }
}
