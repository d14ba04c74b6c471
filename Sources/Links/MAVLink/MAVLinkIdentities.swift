import GimbalCore
import Wire

/// The present components, each bound to one peer (an address, a serial line). Pure; time is an
/// argument.
///
/// The first peer that uses a component's name keeps it until the component is silent; until then
/// the same name from another peer is refused. A peer from the configuration outranks a guest of
/// the open port.
struct MAVLinkIdentities {
    /// Result of the check of a name.
    enum Finding: Equatable {
        /// The peer is the same, or the name is new.
        case known
        /// The name is now bound to another peer; that peer does not take over control.
        case moved
        /// Another peer has this name, or there are too many names.
        case refused
    }

    private struct Identity {
        var peer: Int
        var heard: Instant
    }

    /// Largest number of remembered names.
    private static let most = 64

    private var identities: [MAVLinkAddress: Identity] = [:]

    /// Whether a component is present.
    func contains(_ component: MAVLinkAddress) -> Bool { identities[component] != nil }

    /// The components of a peer.
    func names(by peer: Int) -> [MAVLinkAddress] {
        identities.filter { $0.value.peer == peer }.map(\.key)
    }

    /// Registers a message of a component.
    ///
    /// - Parameters:
    ///   - component: Its name.
    ///   - peer: The peer of the message.
    ///   - now: Time of the message.
    ///   - isConfigured: Whether a peer is from the configuration.
    ///   - isKept: Whether a name must not be removed.
    /// - Returns: Whether the name belongs to the peer.
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

    /// Removes and returns the silent components.
    mutating func takeSilent(now: Instant) -> [MAVLinkAddress] {
        let silent = identities.filter { Self.isSilent($0.value, now: now) }.map(\.key)
        for component in silent { identities[component] = nil }
        return silent
    }

    /// Removes the components of a peer that has left, except those for which `isKept` is true.
    mutating func forget(_ peer: Int, isKept: (MAVLinkAddress) -> Bool) {
        identities = identities.filter { $0.value.peer != peer || isKept($0.key) }
    }

    /// The component to drop, so that invented names do not exhaust the memory: the component that
    /// has been silent longest among those of the same peer, otherwise among all.
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
