import GimbalCore
import Wire

/// Which components are there, each by one way: a peer of the loop's. Pure; time is an argument.
///
/// A name belongs to who came by it first, until he is silent: nobody takes it by another way meanwhile. Only a way that the owner
/// has named outranks one that anybody can use.
struct MAVLinkIdentities {
    /// What became of a name that was heard.
    enum Finding: Equatable {
        /// It is who it was, or new.
        case known
        /// It is there by another way now; what was given to it before is not its own.
        case moved
        /// Somebody else has this name, or all places for names are taken.
        case refused
    }

    private struct Identity {
        var peer: Int
        var heard: Instant
    }

    /// Names that are remembered.
    private static let most = 64

    private var identities: [MAVLinkAddress: Identity] = [:]

    /// Whether a component is there.
    func contains(_ component: MAVLinkAddress) -> Bool { identities[component] != nil }

    /// Those who come by a way.
    func names(by peer: Int) -> [MAVLinkAddress] {
        identities.filter { $0.value.peer == peer }.map(\.key)
    }

    /// A component was heard.
    ///
    /// - Parameters:
    ///   - component: Its name.
    ///   - peer: By which way.
    ///   - now: When.
    ///   - isConfigured: Whether the owner has named a way.
    ///   - isKept: Whether a name must not be forgotten.
    /// - Returns: Whether it is believed.
    mutating func note(
        _ component: MAVLinkAddress, by peer: Int, now: Instant, isConfigured: (Int) -> Bool,
        isKept: (MAVLinkAddress) -> Bool
    ) -> Finding {
        var finding = Finding.known
        if let known = identities[component], known.peer != peer {
            let outranks = isConfigured(peer) && !isConfigured(known.peer)
            guard outranks || Self.isSilent(known, now: now) else { return .refused }
            finding = .moved
        }
        if identities[component] == nil, identities.count >= Self.most {
            guard let other = leastMissed(beside: peer, isKept) else { return .refused }
            identities[other] = nil
        }
        identities[component] = Identity(peer: peer, heard: now)
        return finding
    }

    /// Those who are silent, and not there any more.
    mutating func takeSilent(now: Instant) -> [MAVLinkAddress] {
        let silent = identities.filter { Self.isSilent($0.value, now: now) }.map(\.key)
        for component in silent { identities[component] = nil }
        return silent
    }

    /// A way is gone; its names are free but those that must not be forgotten yet.
    mutating func forget(_ peer: Int, isKept: (MAVLinkAddress) -> Bool) {
        identities = identities.filter { $0.value.peer != peer || isKept($0.key) }
    }

    /// Who is forgotten so that somebody who makes up names costs no memory: the quietest of his own, then of all.
    private func leastMissed(
        beside peer: Int, _ isKept: (MAVLinkAddress) -> Bool
    ) -> MAVLinkAddress? {
        let free = identities.filter { !isKept($0.key) }
        let own = free.filter { $0.value.peer == peer }
        return (own.isEmpty ? free : own).min { $0.value.heard < $1.value.heard }?.key
    }

    private static func isSilent(_ identity: Identity, now: Instant) -> Bool {
        now.seconds(since: identity.heard) > GimbalDirector.silenceSeconds
    }
}
