/// How sure it is who asks: the one order of rank of all links, for control as for emergency stops.
///
/// Not the kind of link decides, but what vouches for the other end: the kernel does for a client of the socket, a key does
/// for a phone that had to pair or a peer that has to sign, and nothing does for the rest. A higher rank takes control from
/// a lower one at once; equals wait until control is free. A stop is ended by the link that asked for it, or by a higher rank.
public enum Rank: Int, Sendable, Comparable, CaseIterable {
    /// Whoever reaches the radio or the port.
    case open
    /// Only who has a key that the owner has given him.
    case keyed
    /// A client of the diagnostics socket with the right to write.
    case local

    /// Lower first.
    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// Which links asked for the emergency stop that is latched.
///
/// Links, not connections: a phone that lost its connection comes back as another one, and has to be able to end what it
/// began. Each link takes back its own; the stop lasts until none is left.
struct EmergencyStopLatch {
    private var asked: [CommandSource.Link: CommandSource] = [:]

    /// Whether anybody's stop is latched.
    var isLatched: Bool { !asked.isEmpty }

    /// Who asked for it, the highest rank first; nil: nobody.
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
    /// - Returns: Whose is left; nil: the stop has ended.
    mutating func takeBack(by source: CommandSource, _ rules: Commander.Rules) -> CommandSource? {
        let rank = rules.rank(of: source.link)
        asked = asked.filter { $0.key != source.link && rules.rank(of: $0.key) >= rank }
        return owner(rules)
    }
}
