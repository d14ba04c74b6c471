import GimbalCore
import Wire

/// The addresses of present components, each bound to one peer (a network address or a serial
/// line). The type is pure: time is an argument.
///
/// The first peer that uses a component's address keeps it until the component is silent; until
/// then the same address from another peer is refused. A peer from the configuration has precedence
/// over a peer on the open port.
struct MAVLinkIdentities {
    /// Result of the check of a component's address.
    enum Finding: Equatable {
        /// The frame is accepted: its address is bound to the same peer, or is new.
        case known
        /// The address is now bound to another peer, which does not take over control.
        case moved
        /// The frame is refused, because another peer has this address, or because there are too
        /// many addresses.
        case refused
    }

    private struct Identity {
        var peer: Int
        var heard: Instant
    }

    /// Largest number of remembered component addresses.
    private static let most = 64

    private var identities: [MAVLinkAddress: Identity] = [:]

    /// Whether a component has sent a message recently.
    func contains(_ component: MAVLinkAddress) -> Bool { identities[component] != nil }

    /// The present components that use a peer.
    func names(by peer: Int) -> [MAVLinkAddress] {
        identities.filter { $0.value.peer == peer }.map(\.key)
    }

    /// Registers that a message of a component has arrived.
    ///
    /// - Parameters:
    ///   - component: Address of the component.
    ///   - peer: The peer that has sent the message.
    ///   - now: Time at which the message was received.
    ///   - isConfigured: Function that tells whether a peer is from the configuration.
    ///   - isKept: Function that tells whether an address must not be removed.
    /// - Returns: Whether the address belongs to the peer.
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

    /// Removes and returns the components that have been silent for too long.
    mutating func takeSilent(now: Instant) -> [MAVLinkAddress] {
        let silent = identities.filter { Self.isSilent($0.value, now: now) }.map(\.key)
        for component in silent { identities[component] = nil }
        return silent
    }

    /// Removes the components of a peer that has left, except those for which `isKept` is true.
    mutating func forget(_ peer: Int, isKept: (MAVLinkAddress) -> Bool) {
        identities = identities.filter { $0.value.peer != peer || isKept($0.key) }
    }

    /// The component to remove when the table is full, so that invented addresses cannot exhaust
    /// the memory: of the components of the same peer, the one that has been silent for the longest
    /// time; if the peer has none, of all components.
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
