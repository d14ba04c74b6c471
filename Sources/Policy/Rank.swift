import Port

/// The rank of a link: how surely the daemon knows its other end. One order for all links, for control and for emergency stops.
///
/// The kernel vouches for a client of the socket; a key vouches for a phone that had to pair and for a peer that has to sign;
/// nothing vouches for the rest. A higher rank takes control from a lower one at once; equal ranks wait until control is free.
/// The link that asked for a stop ends it, or a higher rank does.
public enum Rank: Int, Sendable, Comparable, CaseIterable {
    /// Every device that reaches the radio or the port.
    case open
    /// Devices that have a key from the owner.
    case keyed
    /// A client of the diagnostics socket with the right to write.
    case local

    /// Lower first.
    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// The links that asked for the emergency stop that is latched.
///
/// Links, not connections: a phone that lost its connection comes back with another one, and must be able to end its own stop.
/// Each link takes back its own; the stop lasts until none is left.
struct EmergencyStopLatch {
    private var asked: [CommandSource.Link: CommandSource] = [:]

    /// Whether a stop is latched.
    var isLatched: Bool { !asked.isEmpty }

    /// The source of the highest rank that asked for it; nil: no stop is latched.
    func owner(_ rules: Commander.Rules) -> CommandSource? {
        asked.values.max {
            (rules.rank(of: $0.link).rawValue, $0.link.rawValue)
                < (rules.rank(of: $1.link).rawValue, $1.link.rawValue)
        }
    }

    /// A source asks for a stop.
    mutating func latch(by source: CommandSource) { asked[source.link] = source }

    /// A source takes its stop back, with those of lower ranks.
    ///
    /// - Returns: The source whose stop is left; nil: the stop has ended.
    mutating func takeBack(by source: CommandSource, _ rules: Commander.Rules) -> CommandSource? {
        let rank = rules.rank(of: source.link)
        asked = asked.filter { $0.key != source.link && rules.rank(of: $0.key) >= rank }
        return owner(rules)
    }
}
