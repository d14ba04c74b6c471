import Configuration
import GimbalCore
import Logging
import Port
import Wire

/// The gimbal as a MAVLink component, device and manager in one: frames come in, frames go out, time is an argument. Knows
/// peers by number and no socket. Thread airframed-mav.
final class MAVLinkComponent {
    /// Counters of ignored frames, by reason.
    struct Counters: Equatable {
        /// Frames that were acted on.
        var handled: UInt64 = 0
        /// Frames for another system or component.
        var wrongTarget: UInt64 = 0
        /// Messages that only a component of the same system may send, from another system.
        var foreign: UInt64 = 0
        /// Wishes of somebody who is not in control.
        var notInControl: UInt64 = 0
        /// Wishes that could not be met.
        var refused: UInt64 = 0
        /// Frames that this component seems to have sent itself.
        var echoes: UInt64 = 0
        /// Commands that were answered.
        var commands: UInt64 = 0
        /// Peers in control that fell silent.
        var lostPeers: UInt64 = 0
        /// Frames without a right signature where one is required.
        var unsigned: UInt64 = 0
        /// Frames in the name of a component that is at another peer.
        var spoofed: UInt64 = 0
    }

    /// A frame on its way.
    struct Outgoing: Equatable {
        /// Number of the peer.
        var peer: Int
        var bytes: [UInt8]
    }

    private struct Peer {
        var streams: MessageStreams
        var version: MAVLinkFrame.Version
        var isConfigured: Bool
        var sequence: UInt8 = 0
    }

    let configuration: MAVLinkConfiguration
    let port: any GimbalPort
    let log: Logger
    let started: Instant
    var counters = Counters()
    /// Commands that wait for the disk.
    var saves: [PendingSave] = []
    var director: GimbalDirector
    var announcer = FaultAnnouncer()
    /// Frames that wait to be taken.
    private var outbox: [Outgoing] = []
    private var peers: [Int: Peer] = [:]
    private var identities = MAVLinkIdentities()
    private var signing: MAVLinkSigning?
    /// When a stop may be told again.
    private var stopQuiet = Instant(nanoseconds: .min)
    private var faultsDue: Instant
    /// The next parameter of a list that a peer has asked for.
    var listings: [Int: Int] = [:]

    init(
        configuration: MAVLinkConfiguration, port: any GimbalPort, log: Logger, now: Instant
    ) {
        self.configuration = configuration
        self.port = port
        self.log = log
        started = now
        faultsDue = now
        director = GimbalDirector(port: port)
        signing = configuration.signing
    }

    /// The newest time of a signature that was believed; nil without signing.
    var newestSignature: UInt64? { signing?.newest }

    var address: MAVLinkAddress { configuration.address }

    // MARK: Peers

    /// Somebody is there to be spoken to; harmless when it is known.
    ///
    /// - Parameters:
    ///   - peer: Number of its own.
    ///   - streams: Messages that it gets unasked.
    ///   - version: What it understands; in v1 what does not fit is not sent.
    ///   - isConfigured: Whether the peer is one from the configuration: its components outrank those of guests.
    func join(
        _ peer: Int, streams: MessageStreams, version: MAVLinkFrame.Version = .v2,
        isConfigured: Bool
    ) {
        guard peers[peer] == nil else { return }
        peers[peer] = Peer(streams: streams, version: version, isConfigured: isConfigured)
    }

    /// The usual streams.
    func join(_ peer: Int, isConfigured: Bool = false, now: Instant) {
        join(
            peer, streams: MessageStreams(isManager: configuration.isManager, now: now),
            isConfigured: isConfigured)
    }

    /// Whether a component in control is at this peer.
    func isInControl(_ peer: Int) -> Bool {
        identities.names(by: peer).contains(where: director.isInControl)
    }

    /// A peer is gone; the names of its components are free.
    func leave(_ peer: Int) {
        peers[peer] = nil
        identities.forget(peer, isKept: director.isInControl)
        listings[peer] = nil
    }

    /// Sends to one peer.
    func send<Message: MAVLinkMessage>(_ message: Message, to peer: Int) {
        guard let known = peers[peer], speaks(Message.format.id, to: peer) else { return }
        peers[peer]?.sequence &+= 1
        let isSigned = signing != nil && known.version == .v2
        var bytes = message.frame(
            from: address, sequence: known.sequence, version: known.version,
            announcesSignature: isSigned)
        if isSigned { signing?.sign(&bytes, time: configuration.timeOfDay()) }
        outbox.append(Outgoing(peer: peer, bytes: bytes))
    }

    /// Whether a peer's version has room for a kind of message.
    func speaks(_ id: UInt32, to peer: Int) -> Bool {
        id < 256 || peers[peer]?.version == .v2
    }

    /// Sends to everybody.
    func broadcast(_ message: some MAVLinkMessage) {
        for peer in peers.keys.sorted() { send(message, to: peer) }
    }

    /// Messages to send.
    func takeOutgoing() -> [Outgoing] {
        defer { outbox.removeAll(keepingCapacity: true) }
        return outbox
    }

    // MARK: Time

    /// Does what is due.
    ///
    /// - Returns: When it wants to be called next.
    func advance(now: Instant) -> Instant {
        var next = now.advanced(bySeconds: 1)
        if now >= faultsDue {
            faultsDue = now.advanced(bySeconds: 0.1)
            watch(now: now)
        }
        next = min(next, faultsDue)
        for peer in peers.keys.sorted() {
            guard let due = peers[peer]?.streams.takeDue(now: now) else { continue }
            for id in due.ids { _ = report(id, to: peer, now: now) }
            if let at = due.next { next = min(next, at) }
            if listParameter(for: peer) { next = min(next, now.advanced(bySeconds: 0.002)) }
        }
        return next
    }

    /// Ten times a second: faults, lost control, silent peers, a heading that drifts.
    private func watch(now: Instant) {
        acknowledgeSaves()
        director.vehicle.advance(now: now)
        if let snapshot = port.snapshot {
            for text in announcer.messages(for: snapshot.conditions, now: now) { broadcast(text) }
            if let holder = port.control.holder {
                let loser = director.yield(to: holder)
                if loser != .none {
                    tell("\(loser) has lost control of the gimbal to \(holder).", severity: 4)
                }
            }
        }
        for component in identities.takeSilent(now: now) {
            guard director.left(component, now: now) else { continue }
            counters.lostPeers += 1
            tell("\(component) is silent: control of the gimbal is free.", severity: 4)
        }
        director.holdHeading(now: now)
        director.leadVehicle(now: now)
    }

    /// A sentence for the log and for every ground station.
    func tell(_ sentence: String, severity: UInt8) {
        log.notice("MAVLink: \(sentence)")
        for text in announcer.sentence(sentence, severity: severity) { broadcast(text) }
    }

    /// Sends a kind of message that describes the gimbal.
    ///
    /// - Returns: Whether it is one that can be asked for.
    func report(_ id: UInt32, to peer: Int, now: Instant) -> Bool {
        guard MessageStreams.usual[id] != nil, speaks(id, to: peer) else { return false }
        let isManagers = [GimbalManagerInformation.format.id, GimbalManagerStatus.format.id]
            .contains(id)
        if isManagers, !configuration.isManager { return false }
        let report = GimbalReport(
            snapshot: port.snapshot, settings: port.settings, north: director.vehicle.north,
            bootMs: UInt32(truncatingIfNeeded: Int(now.seconds(since: started) * 1000)))
        switch id {
        case Heartbeat.format.id: send(report.heartbeat, to: peer)
        case AttitudeReport.format.id: send(report.attitude, to: peer)
        case VFRHUD.format.id: send(report.headUp, to: peer)
        case GimbalManagerInformation.format.id: send(report.managerInformation, to: peer)
        case GimbalManagerStatus.format.id: send(report.managerStatus(director), to: peer)
        case GimbalDeviceInformation.format.id: send(report.deviceInformation, to: peer)
        default: send(report.deviceStatus, to: peer)
        }
        return true
    }

    /// Interval of a kind of message to a peer, s.
    func period(of id: UInt32, for peer: Int) -> Double {
        peers[peer]?.streams.period(of: id) ?? 0
    }

    /// Changes how often a kind is sent to a peer.
    func setPeriod(of id: UInt32, microseconds: Double, for peer: Int, now: Instant) {
        peers[peer]?.streams.set(id, microseconds: microseconds, now: now)
    }

    // MARK: Frames

    /// A frame with a right checksum.
    ///
    /// - Parameters:
    ///   - frame: Header and payload.
    ///   - bytes: The whole frame as it came, with its signature.
    ///   - peer: The peer that it came from.
    ///   - now: When it was received.
    func receive(_ frame: MAVLinkFrame, bytes: [UInt8], from peer: Int, now: Instant) {
        if admits(frame, bytes: bytes, from: peer, now: now) {
            handle(frame, from: peer, now: now)
        }
    }

    /// Checks a frame before it is handled: it must not be the component's own, and must be signed where signatures are
    /// required. An emergency stop needs neither, and is carried out here, from every sender and every peer.
    ///
    /// - Parameters:
    ///   - frame: Header and payload.
    ///   - bytes: The whole frame as it came, with its signature.
    ///   - peer: The peer that it came from; nil: one without a place, which gets no answer.
    ///   - now: When it was received.
    /// - Returns: Whether it goes to `handle`.
    func admits(_ frame: MAVLinkFrame, bytes: [UInt8], from peer: Int?, now: Instant) -> Bool {
        if stops(frame, from: peer, now: now) { return false }
        guard frame.sender != address else {
            counters.echoes += 1
            return false
        }
        let time = configuration.timeOfDay()
        let isBelieved = signing?.believes(bytes, from: frame.sender, time: time) { time in
            configuration.freshness?.admits(time) ?? true
        }
        guard isBelieved ?? true else {
            counters.unsigned += 1
            return false
        }
        return true
    }

    /// Handles a frame that was admitted.
    func handle(_ frame: MAVLinkFrame, from peer: Int, now: Instant) {
        guard note(frame.sender, from: peer, now: now) else {
            counters.spoofed += 1
            return
        }
        if let order = Order(frame) {
            guard isForUs(order.target) else { return }
            obey(order, from: frame.sender, peer, now: now)
        } else if !receiveWish(frame, now: now) {
            receiveOther(frame, from: peer, now: now)
        }
    }

    /// Whether the sender's name belongs to the peer; control does not move with a name.
    private func note(_ sender: MAVLinkAddress, from peer: Int, now: Instant) -> Bool {
        let finding = identities.note(
            sender, by: peer, now: now, isConfigured: { peers[$0]?.isConfigured ?? false },
            isKept: director.isInControl)
        if finding == .moved, director.left(sender, now: now) {
            tell("\(sender) has a new address: control of the gimbal is free.", severity: 4)
        }
        return finding != .refused
    }

    /// Whether a component is there.
    func isHeard(_ component: MAVLinkAddress) -> Bool { identities.contains(component) }

    /// Carries an emergency stop out.
    ///
    /// - Returns: Whether it was one.
    private func stops(_ frame: MAVLinkFrame, from peer: Int?, now: Instant) -> Bool {
        guard let order = Order(frame), order.isStop(for: address) else { return false }
        counters.handled += 1
        var result = MAVLinkResult.accepted
        do throws(Refusal) {
            try port.ask(.emergencyStop, for: frame.sender, now: now)
            // Repetitions are not broadcast each time.
            if now >= stopQuiet { tell("Emergency stop by \(frame.sender).", severity: 1) }
            stopQuiet = now.advanced(bySeconds: 1)
        } catch {
            counters.refused += 1
            result = MAVLinkResult(error)
        }
        acknowledge(order, result, frame.sender, peer)
        return true
    }

    /// Whether something is addressed to this component; counts what is not.
    func isForUs(_ target: MAVLinkAddress) -> Bool {
        let isOurs = target.reaches(address)
        if isOurs { counters.handled += 1 } else { counters.wrongTarget += 1 }
        return isOurs
    }

    /// Clocks and parameters.
    private func receiveOther(_ frame: MAVLinkFrame, from peer: Int, now: Instant) {
        if let message = frame.message(TimeSync.self) {
            guard message.tc1 == 0, isForUs(message.target) else { return }
            var answer = TimeSync()
            answer.tc1 = now.nanoseconds
            answer.ts1 = message.ts1
            answer.target = frame.sender
            send(answer, to: peer)
        } else {
            receiveParameter(frame, from: peer, now: now)
        }
    }
}
