import Port

/// Rank of a link, which depends on how reliably the link's peers are identified. Control and the
/// reset of emergency stops depend on the rank.
///
/// A client of the socket is identified by the kernel. Phones that must pair and peers that must
/// sign are identified by a key. Peers without a key are not identified. A link of higher rank
/// takes control from a link of lower rank immediately. A link of equal rank must wait until no
/// source is in control. A program that follows a person has the lowest rank; every other request
/// for motion takes control from this program. An assistant has the second-lowest rank, because it
/// acts automatically; every person can take control from an assistant. Input controls of this
/// computer, such as a stick on the handle, take control from every other source, because the
/// operator of the gimbal uses them. An emergency stop can be reset by the link that requested the
/// stop, or by a link of higher rank.
public enum Rank: Int, Sendable, Comparable, CaseIterable {
    /// A companion program, which has the lowest rank.
    case companion
    /// An assistant, from which every person can take control.
    case assistant
    /// A link that is open to every device within reach of the radio or the port.
    case open
    /// A link that only devices with the owner's key can use.
    case keyed
    /// Input controls of this computer, such as a button or a gamepad.
    case attached
    /// A client of the diagnostics socket with write access.
    case local

    /// True if rank `a` is lower than rank `b`.
    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// Latch of the emergency stop. The latch stores the links that have requested the stop.
///
/// The latch stores links instead of connections. A phone that has lost its connection returns with
/// a new connection, and must be able to reset its own stop. Each link resets its own stop, and the
/// stops of lower ranks. The outputs stay off until all stops have been reset.
struct EmergencyStopLatch {
    private var asked: [CommandSource.Link: CommandSource] = [:]

    /// True if an emergency stop is latched.
    var isLatched: Bool { !asked.isEmpty }

    /// Links that have requested the stop, in alphabetical order.
    var links: [CommandSource.Link] { asked.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The source with the highest rank that requested the stop; nil without a latched stop.
    func owner(_ rules: Commander.Rules) -> CommandSource? {
        asked.values.max {
            (rules.rank(of: $0.link).rawValue, $0.link.rawValue)
                < (rules.rank(of: $1.link).rawValue, $1.link.rawValue)
        }
    }

    /// Latches an emergency stop that the source has requested.
    mutating func latch(by source: CommandSource) { asked[source.link] = source }

    /// Resets the emergency stops that the source's link has requested, and the emergency stops of
    /// all links with a lower rank.
    ///
    /// - Returns: The source of a stop that is still latched; nil if no stop is latched.
    mutating func takeBack(by source: CommandSource, _ rules: Commander.Rules) -> CommandSource? {
        let rank = rules.rank(of: source.link)
        asked = asked.filter { $0.key != source.link && rules.rank(of: $0.key) >= rank }
        return owner(rules)
    }
}
