import Configuration
import GimbalCore
import Logging
import Port
import Wire

/// MAVLink component of the gimbal, which is both gimbal device and gimbal manager. Each peer has
/// an ID. The component uses no socket and no clock. Callers pass the received frames and the time,
/// and send the outgoing frames. Only one thread uses a `MAVLinkComponent`.
final class MAVLinkComponent {
    /// Counters of ignored frames, by reason.
    struct Counters: Equatable {
        /// Number of handled frames.
        var handled: UInt64 = 0
        /// Number of frames for another system or component.
        var wrongTarget: UInt64 = 0
        /// Number of messages that were refused because their sender does not belong to the
        /// gimbal's own system.
        var foreign: UInt64 = 0
        /// Number of refused requests of components that were not in control.
        var notInControl: UInt64 = 0
        /// Number of requests that were refused for a reason other than missing control.
        var refused: UInt64 = 0
        /// Number of frames whose sender address is this component's own address.
        var echoes: UInt64 = 0
        /// Number of answered commands.
        var commands: UInt64 = 0
        /// Number of peers in control that were dropped because they were silent.
        var lostPeers: UInt64 = 0
        /// Number of frames without a valid signature, although signatures are required.
        var unsigned: UInt64 = 0
        /// Number of genuine frames without effect, because the disk must store their time first.
        var waitingForDisk: UInt64 = 0
        /// Number of frames whose sender address belongs to another peer.
        var spoofed: UInt64 = 0
    }

    /// An outgoing frame.
    struct Outgoing: Equatable {
        /// ID of the peer.
        var peer: Int
        var bytes: [UInt8]
    }

    private struct Peer {
        var streams: MessageStreams
        var version: MAVLinkFrame.Version
        var isConfigured: Bool
        var sequence: UInt8 = 0
        var cameraSequence: UInt8 = 0
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
    /// Outgoing frames, until `takeOutgoing` removes them.
    private var outbox: [Outgoing] = []
    private var peers: [Int: Peer] = [:]
    private(set) var identities = MAVLinkIdentities()
    private var signing: MAVLinkSigning?
    /// Time until which a repeated stop is not reported to ground stations.
    private var stopQuiet = Instant(nanoseconds: .min)
    private var faultsDue: Instant
    private var cameraDue: Instant
    /// Schedule of the messages about the followed person, by peer: interval, s, and time of the
    /// next message.
    var followingStreams: [Int: (period: Double, due: Instant)] = [:]
    /// Series of photos in progress; nil if there is none.
    var photoSeries: PhotoSeries?
    /// Sequence number and time of the last photo that each sender has requested.
    var photoNumbers: [MAVLinkAddress: (number: Float, time: Instant)] = [:]
    /// Photos that have been reported to ground stations.
    var photoReports = PhotoReports()
    /// Index of the next parameter to send, by peer, for each parameter list in progress.
    var listings: [Int: Int] = [:]
    /// Values of all parameters that all peers know; empty before the first comparison.
    var toldParameters: [Float] = []

    init(
        configuration: MAVLinkConfiguration, port: any GimbalPort, log: Logger, now: Instant
    ) {
        self.configuration = configuration
        self.port = port
        self.log = log
        started = now
        faultsDue = now
        cameraDue = now
        director = GimbalDirector(port: port, link: configuration.link)
        signing = configuration.signing
    }

    /// Newest time of an accepted signature, units of 10 µs since 2015; nil without signing.
    var newestSignature: UInt64? { signing?.newest }

    var address: MAVLinkAddress { configuration.address }

    /// Source of the requests of the component with this address.
    func source(of component: MAVLinkAddress) -> CommandSource {
        CommandSource(component, link: configuration.link)
    }

    // MARK: Peers

    /// Adds a peer; the call has no effect if the peer was added before.
    ///
    /// - Parameters:
    ///   - peer: ID of the peer.
    ///   - streams: Messages that the peer receives periodically.
    ///   - version: Version of MAVLink that the peer supports. Messages that do not exist in
    ///     version 1 are not sent to a peer with version 1.
    ///   - isConfigured: True if the peer is from the configuration; its components have precedence
    ///     over components of other peers.
    func join(
        _ peer: Int, streams: MessageStreams, version: MAVLinkFrame.Version = .v2,
        isConfigured: Bool
    ) {
        guard peers[peer] == nil else { return }
        peers[peer] = Peer(streams: streams, version: version, isConfigured: isConfigured)
    }

    /// Adds a peer that receives the default streams.
    func join(_ peer: Int, isConfigured: Bool = false, now: Instant) {
        join(
            peer, streams: MessageStreams(isManager: configuration.isManager, now: now),
            isConfigured: isConfigured)
    }

    /// True if a component of this peer is in control.
    func isInControl(_ peer: Int) -> Bool {
        identities.names(by: peer).contains(where: director.isInControl)
    }

    /// Removes a peer; other peers can then use the addresses of the removed peer's components.
    func leave(_ peer: Int) {
        peers[peer] = nil
        identities.forget(peer, isKept: director.isInControl)
        listings[peer] = nil
        followingStreams[peer] = nil
    }

    /// Sends a message from the gimbal component or the camera component to one peer.
    func send<Message: MAVLinkMessage>(
        _ message: Message, to peer: Int, from sender: MAVLinkAddress? = nil
    ) {
        guard let known = peers[peer], speaks(Message.format.id, to: peer) else { return }
        let sender = sender ?? address
        // The gimbal and the camera have separate sequence numbers.
        let sequence = sender == address ? known.sequence : known.cameraSequence
        if sender == address {
            peers[peer]?.sequence &+= 1
        } else {
            peers[peer]?.cameraSequence &+= 1
        }
        let isSigned = signing != nil && known.version == .v2
        var bytes = message.frame(
            from: sender, sequence: sequence, version: known.version,
            announcesSignature: isSigned)
        if isSigned { signing?.sign(&bytes, time: configuration.timeOfDay()) }
        outbox.append(Outgoing(peer: peer, bytes: bytes))
    }

    /// True if the peer's version of MAVLink supports a kind of message.
    func speaks(_ id: UInt32, to peer: Int) -> Bool {
        id < 256 || peers[peer]?.version == .v2
    }

    /// IDs of all registered peers.
    var knownPeers: [Int] { peers.keys.sorted() }

    /// Sends a message to all peers.
    func broadcast(_ message: some MAVLinkMessage) {
        for peer in peers.keys.sorted() { send(message, to: peer) }
    }

    /// Removes and returns the frames that must be sent.
    func takeOutgoing() -> [Outgoing] {
        defer { outbox.removeAll(keepingCapacity: true) }
        return outbox
    }

    // MARK: Time

    /// Executes the component's periodic actions that are due.
    ///
    /// - Returns: Time at which `advance` must be called next.
    func advance(now: Instant) -> Instant {
        var next = now.advanced(bySeconds: 1)
        if now >= faultsDue {
            faultsDue = now.advanced(bySeconds: 0.1)
            watch(now: now)
            reportPhotos(now: now)
        }
        if now >= cameraDue {
            cameraDue = now.advanced(bySeconds: 1)
            announceCamera()
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

    /// Reports faults and changed parameters to the peers, drops silent peers, and corrects the
    /// heading; ends the control of the peers after another source has taken control. Called ten
    /// times per second.
    private func watch(now: Instant) {
        acknowledgeSaves()
        reportParameters()
        reportFollowing(now: now)
        continueSeries(now: now)
        director.vehicle.advance(now: now)
        if let snapshot = port.snapshot {
            for text in announcer.messages(for: snapshot.conditions, now: now) { broadcast(text) }
        }
        yieldControl()
        for component in identities.takeSilent(now: now) {
            drop(component, "is silent", now: now)
        }
        director.holdHeading(now: now)
        director.watchRegion(now: now)
        director.leadVehicle(now: now)
    }

    /// Ends the motion and the control of a component, for the given reason.
    func drop(_ component: MAVLinkAddress, _ reason: String, now: Instant) {
        identities.remove(component)
        guard director.left(component, now: now) else { return }
        counters.lostPeers += 1
        tell("\(component) \(reason), and no longer controls the gimbal.", severity: 4)
    }

    /// Writes a text to the log, and sends the text to every ground station.
    func tell(_ sentence: String, severity: UInt8) {
        log.notice("MAVLink: \(sentence)")
        for text in announcer.sentence(sentence, severity: severity) { broadcast(text) }
    }

    /// Sends a message that describes the gimbal.
    ///
    /// - Returns: True if the message was sent.
    func report(_ id: UInt32, to peer: Int, now: Instant) -> Bool {
        guard MessageStreams.usual[id] != nil, speaks(id, to: peer) else { return false }
        let managers = [GimbalManagerInformation.format.id, GimbalManagerStatus.format.id]
        if managers.contains(id), !configuration.isManager { return false }
        do throws(Refusal) { try demandContents(of: id) } catch { return false }
        if id == BatteryReport.format.id {
            guard let battery = configuration.battery() else { return false }
            let lowPercent = port.settings.battery.lowPercent
            // Autopilots count their batteries from 0, so the component ID is unused.
            send(BatteryReport(battery, lowPercent: lowPercent, id: address.component), to: peer)
            return true
        }
        let report = GimbalReport(
            snapshot: port.snapshot, settings: port.settings, vehicle: director.vehicle,
            isManager: configuration.isManager,
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

    /// Interval at which a peer receives messages of one kind, s.
    func period(of id: UInt32, for peer: Int) -> Double {
        peers[peer]?.streams.period(of: id) ?? 0
    }

    /// Changes the interval at which a peer receives messages of one kind.
    func setPeriod(of id: UInt32, microseconds: Double, for peer: Int, now: Instant) {
        peers[peer]?.streams.set(id, microseconds: microseconds, now: now)
    }

    // MARK: Frames

    /// Checks a frame with a valid checksum, and executes its message.
    ///
    /// - Parameters:
    ///   - frame: Header and payload.
    ///   - bytes: The whole received frame, with its signature.
    ///   - peer: The peer that has sent the frame.
    ///   - now: Time at which the frame was received.
    func receive(_ frame: MAVLinkFrame, bytes: [UInt8], from peer: Int, now: Instant) {
        if admits(frame, bytes: bytes, from: peer, now: now) { handle(frame, from: peer, now: now) }
    }

    /// Checks a frame before it is handled. The frame must not come from the component's own
    /// address, and must be signed if signatures are required. The method executes an emergency
    /// stop from every sender, without a check of the sender.
    ///
    /// - Parameters:
    ///   - frame: Header and payload.
    ///   - bytes: The whole received frame, with its signature.
    ///   - peer: The peer that has sent the frame; nil for an unregistered peer, which receives no
    ///     answer.
    ///   - now: Time at which the frame was received.
    /// - Returns: True if the frame is accepted; `handle` must then execute its message.
    func admits(_ frame: MAVLinkFrame, bytes: [UInt8], from peer: Int?, now: Instant) -> Bool {
        if stops(frame, from: peer, now: now) { return false }
        guard frame.sender != address, !(frame.sender == cameraAddress && hasCamera) else {
            counters.echoes += 1
            return false
        }
        let time = configuration.timeOfDay()
        var isEarly = false
        let isBelieved = signing?.accepts(bytes, from: frame.sender, time: time) { time in
            isEarly = !(configuration.freshness?.admits(time) ?? true)
            return !isEarly
        }
        guard isBelieved ?? true else {
            if isEarly { counters.waitingForDisk += 1 } else { counters.unsigned += 1 }
            return false
        }
        return true
    }

    /// Executes the message of an accepted frame. If several senders share a peer, `owner` is the ID
    /// of the sender to which the component's address is bound.
    func handle(_ frame: MAVLinkFrame, from peer: Int, owner: Int? = nil, now: Instant) {
        guard note(frame.sender, from: owner ?? peer, now: now) else {
            counters.spoofed += 1
            return
        }
        yieldControl()
        if let order = Order(frame) {
            if obeyAsCamera(order, from: frame.sender, peer, now: now) { return }
            guard isForUs(order.target) else { return }
            obey(order, from: frame.sender, peer, now: now)
        } else if !receiveRequest(frame, now: now) {
            receiveOther(frame, from: peer, now: now)
        }
    }

    /// Records that a component has sent a message; returns true if the component's address belongs
    /// to the peer. If an address moves to another peer, control does not move with the address.
    private func note(_ sender: MAVLinkAddress, from peer: Int, now: Instant) -> Bool {
        let finding = identities.note(
            sender, by: peer, now: now, isConfigured: { peers[$0]?.isConfigured ?? false },
            isKept: director.isInControl)
        if finding == .moved, director.left(sender, now: now) {
            tell("\(sender) has a new address, and no longer controls the gimbal.", severity: 4)
        }
        return finding != .refused
    }

    /// True if a component with this address has sent a message recently.
    func isHeard(_ component: MAVLinkAddress) -> Bool { identities.contains(component) }

    /// Executes an emergency stop.
    ///
    /// - Returns: True if the frame contained an emergency stop.
    private func stops(_ frame: MAVLinkFrame, from peer: Int?, now: Instant) -> Bool {
        guard let order = Order(frame), order.isStop(for: address) else { return false }
        counters.handled += 1
        var result = MAVLinkResult.accepted
        do throws(Refusal) {
            try port.request(.emergencyStop, from: source(of: frame.sender), now: now)
            // If a stop is repeated within a short time, ground stations receive only one report.
            if now >= stopQuiet { tell("Emergency stop by \(frame.sender).", severity: 1) }
            stopQuiet = now.advanced(bySeconds: 1)
        } catch {
            counters.refused += 1
            result = MAVLinkResult(error)
        }
        acknowledge(order, result, frame.sender, peer)
        return true
    }

    /// True if a message is addressed to this component; counts the message in either case.
    func isForUs(_ target: MAVLinkAddress) -> Bool {
        let isOurs = target.reaches(address)
        if isOurs { counters.handled += 1 } else { counters.wrongTarget += 1 }
        return isOurs
    }
}
