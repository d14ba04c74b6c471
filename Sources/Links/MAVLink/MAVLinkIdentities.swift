import GimbalCore
import Wire

/// The components that are there, each bound to one peer (an address, a serial line). Pure; time is an argument.
///
/// The first peer that uses a component's name keeps it until the component is silent; the same name from another peer is
/// refused meanwhile. A peer from the configuration outranks a guest of the open port.
struct MAVLinkIdentities {
    /// The answer to a name that was heard.
    enum Finding: Equatable {
        /// The peer is the same, or the name is new.
        case known
        /// The name is bound to another peer now, which inherits no control.
        case moved
        /// Another peer has this name, or there are too many names.
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

    /// The components of a peer.
    func names(by peer: Int) -> [MAVLinkAddress] {
        identities.filter { $0.value.peer == peer }.map(\.key)
    }

    /// A component was heard.
    ///
    /// - Parameters:
    ///   - component: Its name.
    ///   - peer: The peer that it was heard from.
    ///   - now: When.
    ///   - isConfigured: Whether a peer is one from the configuration.
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

    /// Removes the components that are silent.
    mutating func takeSilent(now: Instant) -> [MAVLinkAddress] {
        let silent = identities.filter { Self.isSilent($0.value, now: now) }.map(\.key)
        for component in silent { identities[component] = nil }
        return silent
    }

    /// Removes the components of a peer that is gone, but those that must not be forgotten yet.
    mutating func forget(_ peer: Int, isKept: (MAVLinkAddress) -> Bool) {
        identities = identities.filter { $0.value.peer != peer || isKept($0.key) }
    }

    /// The component that makes room, so that made-up names cost no memory: the quietest of the same peer, else of all.
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
