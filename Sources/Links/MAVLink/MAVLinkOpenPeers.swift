import GimbalCore
import Wire

/// Open peers: the peers on the open MAVLink port that receive streams. The type uses no socket and
/// reads no clock; callers pass the time as an argument.
///
/// The number of open peers is limited to a few slots, because each open peer receives streams. A
/// peer in control keeps its slot. If all slots are taken, a peer that was silent for two
/// heartbeats is dropped. If no peer was silent for two heartbeats, the host with the most peers
/// loses one slot: the slot of its peer with the longest silence. A new peer gets no slot if its
/// host would then have the most peers of all hosts. Therefore one host cannot exclude another
/// host. An emergency stop is executed even from a peer without a slot.
struct MAVLinkOpenPeers {
    /// Peer on the open MAVLink port; the peer occupies one of the limited slots.
    struct OpenPeer {
        let number: Int
        var parser: MAVLinkParser
        var heard: Instant
    }

    /// Largest number of open peers.
    static let maximum = 8
    /// Timeout after which a silent open peer receives no more messages, s.
    static let silenceSeconds = 10.0
    /// Timeout after which another peer can replace a silent open peer, s.
    static let idleSeconds = 2.0

    private(set) var guests: [DatagramAddress: OpenPeer] = [:]
    private var addresses: [Int: DatagramAddress] = [:]
    private var nextNumber: Int

    /// Creates an empty set of peers.
    ///
    /// - Parameter first: Peer ID of the first open peer.
    init(first: Int) { nextNumber = first }

    /// Address of an open peer.
    func address(of number: Int) -> DatagramAddress? { addresses[number] }

    /// The open peer at an address; nil for an address that is not registered.
    subscript(address: DatagramAddress) -> OpenPeer? { guests[address] }

    /// Records that a message from an open peer has arrived.
    mutating func heard(_ address: DatagramAddress, _ parser: MAVLinkParser, now: Instant) {
        guests[address]?.parser = parser
        guests[address]?.heard = now
    }

    /// Assigns a slot to a new peer. If no slot is free, another peer can lose its slot.
    ///
    /// - Parameters:
    ///   - address: Address of the peer.
    ///   - parser: Parser of the peer's bytes.
    ///   - now: Time at which the peer's message was received.
    ///   - isInControl: Function that returns true if the open peer with the given ID is in
    ///     control; an open peer in control keeps its slot.
    /// - Returns: ID of the new peer, and the peer that was dropped to free a slot; nil if the new
    ///   peer gets no slot.
    mutating func admit(
        _ address: DatagramAddress, _ parser: MAVLinkParser, now: Instant,
        isInControl: (Int) -> Bool
    ) -> (number: Int, evicted: (DatagramAddress, OpenPeer)?)? {
        var evicted: (DatagramAddress, OpenPeer)?
        if guests.count >= Self.maximum {
            guard let place = placeToTake(for: address, now: now, isInControl),
                let guest = remove(place)
            else { return nil }
            evicted = (place, guest)
        }
        let number = nextNumber
        nextNumber += 1
        guests[address] = OpenPeer(number: number, parser: parser, heard: now)
        addresses[number] = address
        return (number, evicted)
    }

    /// Removes and returns open peers that have been silent for `silenceSeconds`.
    mutating func dismiss(now: Instant) -> [(DatagramAddress, OpenPeer)] {
        guests.filter { now.seconds(since: $0.value.heard) > Self.silenceSeconds }.keys
            .compactMap { address in remove(address).map { (address, $0) } }
    }

    private mutating func remove(_ address: DatagramAddress) -> OpenPeer? {
        guard let guest = guests.removeValue(forKey: address) else { return nil }
        addresses[guest.number] = nil
        return guest
    }

    private func placeToTake(
        for address: DatagramAddress, now: Instant, _ isInControl: (Int) -> Bool
    ) -> DatagramAddress? {
        let free = guests.filter { !isInControl($0.value.number) }
        func quietest(_ guests: [DatagramAddress: OpenPeer]) -> (DatagramAddress, OpenPeer)? {
            guests.min { $0.value.heard < $1.value.heard }.map { ($0.key, $0.value) }
        }
        guard let (place, guest) = quietest(free) else { return nil }
        if now.seconds(since: guest.heard) > Self.idleSeconds { return place }
        let hosts = Dictionary(grouping: guests.keys, by: \.host).mapValues(\.count)
        let most = free.keys.map { hosts[$0.host] ?? 0 }.max() ?? 0
        guard most > (hosts[address.host] ?? 0) + 1 else { return nil }
        return quietest(free.filter { hosts[$0.key.host] == most })?.0
    }
}
