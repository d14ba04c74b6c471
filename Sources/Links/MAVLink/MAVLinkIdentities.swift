import GimbalCore
import Wire

/// Table of the addresses of components that have sent a message recently. Each address is bound to
/// one peer (a network address, a serial line or a phone). The type reads no clock; callers pass the
/// time as an argument.
///
/// The first peer that uses a component's address keeps this address until the component is silent.
/// Frames with this address from other peers are refused until the component is silent. A peer from
/// the configuration has precedence over a peer on the open port.
struct MAVLinkIdentities {
    /// Result of checking a component's address.
    enum Finding: Equatable {
        /// The frame is accepted: its address is already bound to the sending peer, or is new.
        case known
        /// The address is now bound to another peer; control does not move to this peer.
        case moved
        /// The frame is refused, because another peer has this address, or because there are too
        /// many addresses.
        case refused
    }

    private struct Identity {
        var peer: Int
        var heard: Instant
    }

    /// Largest number of component addresses in the table.
    private static let most = 64

    private var identities: [MAVLinkAddress: Identity] = [:]

    /// True if a component has sent a message recently.
    func contains(_ component: MAVLinkAddress) -> Bool { identities[component] != nil }

    /// Addresses of a peer's components that have sent a message recently.
    func names(by peer: Int) -> [MAVLinkAddress] {
        identities.filter { $0.value.peer == peer }.map(\.key)
    }

    /// Records that a message from a component has arrived.
    ///
    /// - Parameters:
    ///   - component: Address of the component.
    ///   - peer: The peer that has sent the message.
    ///   - now: Time at which the message was received.
    ///   - isConfigured: Function that returns true if a peer is from the configuration.
    ///   - isKept: Function that returns true for an address that must not be removed.
    /// - Returns: True if the address belongs to the peer.
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

    /// Removes a component.
    mutating func remove(_ component: MAVLinkAddress) { identities[component] = nil }

    /// Removes the components of a peer that has left, except the components for which `isKept` is
    /// true.
    mutating func forget(_ peer: Int, isKept: (MAVLinkAddress) -> Bool) {
        identities = identities.filter { $0.value.peer != peer || isKept($0.key) }
    }

    /// Finds the component to remove when the table is full. Therefore forged addresses cannot
    /// exhaust the memory. Among the given peer's components, the method prefers the component with
    /// the longest silence. If the peer has no components, the method searches all components.
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
