import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage
import Wire

/// Body of the MAVLink thread. The loop waits with poll(2) for its sockets and its serial port, and
/// receives and sends frames.
final class MAVLinkLoop {
    /// Largest number of datagrams that are read from one socket before the other sockets are
    /// served.
    private static let datagramsPerTurn = 64
    /// Timeout for the reception of one frame on the serial port, s.
    private static let tornSeconds = 0.1
    /// Interval between two updates of the status, s.
    private static let statusSeconds = 0.2

    private let sockets: MAVLinkSockets
    private let component: MAVLinkComponent
    private let wake: FileDescriptor
    private let freshness: FreshnessFile?
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let publish: (LinkStatus) -> Void

    private var guests = MAVLinkOpenPeers(first: 2)
    private var clientParser = MAVLinkParser()
    private var serialParser = MAVLinkParser()
    private var serial: SerialPort?
    private var serialHeard = Instant(nanoseconds: .min)
    private var due = Instant(nanoseconds: .min)
    private var statusDue = Instant(nanoseconds: .min)
    private var sent: UInt64 = 0
    private var unsent: UInt64 = 0
    /// Sums of the parser counters of all removed peers.
    private var past = MAVLinkParser.Counters()
    private var turnedAway: UInt64 = 0
    private var evicted: UInt64 = 0

    /// IDs of the configured peers; open peers have higher IDs.
    private static let clientNumber = 0
    private static let serialNumber = 1

    init(
        configuration: MAVLinkConfiguration, sockets: MAVLinkSockets,
        port: any GimbalPort, wake: FileDescriptor, logger: Logger,
        clock: @escaping @Sendable () -> Instant, publish: @escaping (LinkStatus) -> Void
    ) {
        self.sockets = sockets
        self.wake = wake
        freshness = configuration.freshness
        self.logger = logger
        self.clock = clock
        self.publish = publish
        let now = clock()
        component = MAVLinkComponent(
            configuration: configuration, port: port, log: logger, now: now)
        serial = configuration.serial.map {
            SerialPort(path: $0, baud: configuration.baud, log: logger)
        }
        if sockets.client != nil {
            component.join(Self.clientNumber, isConfigured: true, now: now)
        }
        if serial != nil { component.join(Self.serialNumber, isConfigured: true, now: now) }
    }

    /// Serves the peers until `wake` is readable, then closes the sockets and the serial port.
    func run() {
        PollLoop(wake: wake, clock: clock, logger: logger).run {
            prepare(&$0)
        } turn: {
            turn($0)
        }
        sockets.close()
        serial?.close()
    }

    /// Adds the descriptors of the open peers' socket, of the configured peer's socket, and of the
    /// serial port.
    private func prepare(_ set: inout PollSet) {
        set.end(by: serial?.advance(now: clock()))
        set.add(sockets.server?.descriptor)
        set.add(sockets.client?.socket.descriptor)
        set.add(serial?.entry)
        set.end(by: due)
        set.end(by: statusDue)
    }

    private func turn(_ set: PollSet) {
        let now = clock()
        if set[1] != 0 { receiveGuests(now: now) }
        if set[2] != 0 { receiveClient(now: now) }
        if set[3] != 0 { receiveSerial(now: now) }
        abandonTornFrame(now: now)
        dismissGuests(now: now)
        due = component.advance(now: now)
        send()
        if let time = component.newestSignature { freshness?.note(time) }
        if now >= statusDue {
            statusDue = now.advanced(bySeconds: Self.statusSeconds)
            publish(status)
        }
    }

    // MARK: In

    private func receiveGuests(now: Instant) {
        guard let server = sockets.server else { return }
        for _ in 0..<Self.datagramsPerTurn {
            guard let (bytes, from) = server.receive() else { return }
            receive(bytes, from: from, now: now)
        }
        // The socket can contain more datagrams, which the next iteration reads.
        due = now
    }

    private func receive(_ bytes: [UInt8], from address: DatagramAddress, now: Instant) {
        let guest = guests[address]
        var parser = guest?.parser ?? MAVLinkParser()
        // The loop remembers a peer only after the peer has sent an accepted frame. A stop is
        // accepted from every peer.
        let frames = Self.frames(inDatagram: bytes, &parser).filter {
            component.admits($0.frame, bytes: $0.bytes, from: guest?.number, now: now)
        }
        var number = guest?.number
        if number == nil, let first = frames.first {
            number = place(address, parser, first.frame.sender, now: now)
        }
        guard let number else { return past.add(parser.counters) }
        let heard = frames.isEmpty ? guest?.heard ?? now : now
        guests.heard(address, parser, now: heard)
        for (frame, _) in frames { component.handle(frame, from: number, now: now) }
    }

    /// Adds a new peer as an open peer.
    private func place(
        _ address: DatagramAddress, _ parser: MAVLinkParser, _ sender: MAVLinkAddress, now: Instant
    ) -> Int? {
        let admitted = guests.admit(
            address, parser, now: now, isInControl: { component.isInControl($0) })
        guard let admitted else {
            turnedAway += 1
            return nil
        }
        if let (other, guest) = admitted.evicted {
            evicted += 1
            forget(guest)
            logger.debug("MAVLink: \(other) was removed to make room for \(address).")
        }
        logger.debug("MAVLink: \(address) has connected, \(sender).")
        component.join(admitted.number, now: now)
        return admitted.number
    }

    private func forget(_ guest: MAVLinkOpenPeers.OpenPeer) {
        past.add(guest.parser.counters)
        component.leave(guest.number)
    }

    private func receiveClient(now: Instant) {
        guard let client = sockets.client else { return }
        for _ in 0..<Self.datagramsPerTurn {
            guard let (bytes, from) = client.socket.receive() else { return }
            guard from == client.address else {
                turnedAway += 1
                continue
            }
            for (frame, bytes) in Self.frames(inDatagram: bytes, &clientParser) {
                component.receive(frame, bytes: bytes, from: Self.clientNumber, now: now)
            }
        }
        due = now
    }

    private func receiveSerial(now: Instant) {
        serial?.flush()
        guard let bytes = serial?.receive(), !bytes.isEmpty else { return }
        serialHeard = now
        serialParser.append(bytes)
        takeSerialFrames(now: now)
    }

    private func takeSerialFrames(now: Instant) {
        while let item = serialParser.next() {
            if case .frame(let frame, let bytes) = item {
                component.receive(frame, bytes: bytes, from: Self.serialNumber, now: now)
            }
        }
    }

    private func abandonTornFrame(now: Instant) {
        guard serialParser.pending > 0 else { return }
        let torn = serialHeard.advanced(bySeconds: Self.tornSeconds)
        guard now >= torn else { return due = min(due, torn) }
        while serialParser.pending > 0 {
            serialParser.abandon()
            takeSerialFrames(now: now)
        }
    }

    /// Parses a datagram, which must contain whole frames. An incomplete frame counts as noise.
    private static func frames(
        inDatagram bytes: [UInt8], _ parser: inout MAVLinkParser
    ) -> [(frame: MAVLinkFrame, bytes: [UInt8])] {
        var frames: [(MAVLinkFrame, [UInt8])] = []
        parser.append(bytes)
        while true {
            while let item = parser.next() {
                if case .frame(let frame, let bytes) = item { frames.append((frame, bytes)) }
            }
            guard parser.pending > 0 else { return frames }
            parser.abandon()
        }
    }

    private func dismissGuests(now: Instant) {
        for (address, guest) in guests.dismiss(now: now) {
            logger.debug("MAVLink: \(address) has disconnected.")
            forget(guest)
        }
    }

    // MARK: Out

    private func send() {
        for outgoing in component.takeOutgoing() {
            sent += 1
            switch outgoing.peer {
            case Self.clientNumber:
                guard let client = sockets.client else { continue }
                if !client.socket.send(outgoing.bytes, to: client.address) { unsent += 1 }
            case Self.serialNumber: serial?.send(outgoing.bytes)
            default:
                guard let server = sockets.server, let address = guests.address(of: outgoing.peer)
                else { continue }
                if !server.send(outgoing.bytes, to: address) { unsent += 1 }
            }
        }
    }

    private var status: LinkStatus {
        var received = past
        for guest in guests.guests.values { received.add(guest.parser.counters) }
        received.add(clientParser.counters)
        received.add(serialParser.counters)
        let counters = component.counters
        var status = LinkStatus(name: "mavlink")
        status.peers = guests.guests.keys.map(\.description).sorted()
        status.counts = [
            "frames": Int(received.frames), "unknown_frames": Int(received.unknown),
            "bad_checksums": Int(received.badChecksums), "noise_bytes": Int(received.noiseBytes),
            "lost_frames": Int(received.lost), "sent": Int(sent), "unsent": Int(unsent),
            "handled": Int(counters.handled), "commands": Int(counters.commands),
            "wrong_target": Int(counters.wrongTarget), "foreign": Int(counters.foreign),
            "not_in_control": Int(counters.notInControl), "refused": Int(counters.refused),
            "echoes": Int(counters.echoes), "lost_peers": Int(counters.lostPeers),
            "turned_away": Int(turnedAway), "evicted": Int(evicted),
            "unsigned": Int(counters.unsigned), "spoofed": Int(counters.spoofed),
            "waiting_for_disk": Int(counters.waitingForDisk),
        ]
        if let serial {
            status.counts["serial_received"] = Int(serial.counters.received)
            status.counts["serial_sent"] = Int(serial.counters.sent)
            status.counts["serial_dropped"] = Int(serial.counters.dropped)
            status.counts["serial_opened"] = Int(serial.counters.opened)
        }
        return status
    }
}

extension MAVLinkParser.Counters {
    /// Adds the counters of another parser to these counters.
    fileprivate mutating func add(_ other: Self) {
        frames &+= other.frames
        unknown &+= other.unknown
        badChecksums &+= other.badChecksums
        noiseBytes &+= other.noiseBytes
        lost &+= other.lost
    }
}
