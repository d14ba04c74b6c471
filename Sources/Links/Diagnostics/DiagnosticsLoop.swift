import CLinuxShim
import GimbalCore
import Glibc
import Logging
import Port
import SystemPackage
import Wire

/// Thread of the diagnostics socket: poll(2), read, answer, write; it never waits for a single
/// client.
///
/// It uses no event-loop library, because this process locks its memory and is scheduled in real
/// time. So it has one ordinary thread with an explicit stack and bounded buffers, and no thread
/// pool wakes up next to the control loop.
///
/// A stop overtakes everything. Each turn searches all input for a stop before it answers any
/// request, even behind waiting requests; a turn ends after `turnSeconds`, so the next search is
/// soon. The `QuestionDesk` handles requests that may take long to read or to answer, and the
/// writing thread those that wait for a disk; both answer through `LateReplies`.
struct DiagnosticsLoop {
    /// Largest number of requests of one client that are answered before the other clients' turn.
    private static let requestsPerTurn = 8
    /// Time limit of a turn, s; then the next client begins a new turn. One request may take
    /// longer, not two.
    private static let turnSeconds = 0.001
    private static let chunkSize = 16 * 1024

    private let listener: SocketListener
    private let wake: FileDescriptor
    private let configuration: DiagnosticsConfiguration
    private let handler: RequestHandler
    private let logger: Logger
    private let clock: @Sendable () -> Instant

    private let later: LateReplies
    private let desk: QuestionDesk
    private var connections: [ClientConnection] = []
    /// The client that is served first in the next turn.
    private var first = 0
    private var counters = ClientStatus()
    private var nextClient = 1
    /// Time until which no connection is accepted, because the process has no descriptor left.
    private var acceptPause: Instant?

    /// A loop over an open socket, which `run` closes when it returns; it returns when `wake`
    /// becomes readable.
    init(
        listener: SocketListener, wake: FileDescriptor,
        configuration: DiagnosticsConfiguration, handler: RequestHandler, later: LateReplies,
        desk: QuestionDesk, logger: Logger, clock: @escaping @Sendable () -> Instant
    ) {
        self.handler = handler
        self.later = later
        self.desk = desk
        self.listener = listener
        self.wake = wake
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        counters.limit = configuration.maximumClients
    }

    /// Serves until `wake` is readable, then sends as much as possible without waiting and closes
    /// everything.
    mutating func run() {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkSize, alignment: 16)
        defer { chunk.deallocate() }
        while turn(chunk) {}
        let now = clock()
        for connection in connections {
            connection.flush(now: now)
            close(connection)
        }
        listener.close()
    }

    /// Runs one round; false after the last.
    private mutating func turn(_ chunk: UnsafeMutableRawBufferPointer) -> Bool {
        var entries = pollEntries()
        var ready: Int32 = 0
        let error = cl_socket_wait(&entries, entries.count, waitNanoseconds(), &ready)
        if error != 0 { logger.error("poll: \(Errno(rawValue: error))") }
        if entries[0].revents != 0 { return false }

        let now = clock()
        for (connection, entry) in zip(connections, entries.dropFirst(3)) where ready > 0 {
            receive(connection, Int32(entry.revents), chunk)
        }
        if ready > 0, entries[1].revents != 0 { accept(now: now) }
        if ready > 0, entries[2].revents != 0 { finishReplies(now) }
        for connection in connections where connection.hasLines { hurryStops(of: connection, now) }
        serve(now)
        for connection in connections where connection.isFinished { close(connection) }
        connections.removeAll(where: \.isFinished)
        return true
    }

    /// Executes all stops that have arrived, and answers those that are the next request of their
    /// connection.
    private func hurryStops(of connection: ClientConnection, _ now: Instant) {
        var isNext = false
        connection.input.arrivals { line, isFirst in
            guard handler.isStop(line, from: connection) else { return }
            if isFirst, !connection.isWaiting {
                isNext = true
            } else {
                handler.hurryStop(connection)
            }
        }
        guard isNext, let line = connection.input.next() else { return }
        connection.lastRequest = now
        handler.answer(line, from: connection, clients: status, now: now)
        connection.flush(now: now)
    }

    /// Answers the clients in turn, until the turn ends.
    private mutating func serve(_ now: Instant) {
        let count = connections.count
        var present = now
        for offset in 0..<count {
            let index = (first + offset) % count
            let connection = connections[index]
            answerLines(of: connection, since: now)
            sendStreams(of: connection, now: now)
            connection.flush(now: now)
            settle(connection, now: now)
            present = clock()
            if present.seconds(since: now) > Self.turnSeconds {
                first = index + 1
                return
            }
        }
    }

    private func finishReplies(_ now: Instant) {
        for reply in later.take() {
            guard let connection = connections.first(where: { $0.client.id == reply.client }) else {
                continue
            }
            handler.finish(reply, of: connection, clients: status, now: now)
            if connection.outputBroken { connection.output.discard() }
        }
    }

    /// Descriptors for poll(2): `wake`, the listener, late answers, then the clients in order.
    private mutating func pollEntries() -> [pollfd] {
        if let pause = acceptPause, clock() >= pause { acceptPause = nil }
        var entries = [
            pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: acceptPause == nil ? listener.descriptor.rawValue : -1,
                events: Int16(POLLIN), revents: 0),
            pollfd(fd: later.bell.descriptor.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        for connection in connections {
            var events: Int32 = 0
            if connection.wantsInput { events |= POLLIN }
            if !connection.output.isEmpty { events |= POLLOUT }
            // poll(2) would report a closed connection permanently.
            let isSilent = connection.outputBroken && !connection.wantsInput
            entries.append(
                pollfd(
                    fd: isSilent ? -1 : connection.descriptor.rawValue, events: Int16(events),
                    revents: 0))
        }
        return entries
    }

    /// Time of the next action that does not depend on a descriptor.
    private func nextDeadline() -> Instant? {
        var deadline = acceptPause
        func consider(_ instant: Instant) {
            if deadline.map({ instant < $0 }) ?? true { deadline = instant }
        }
        for connection in connections {
            if connection.hasRequests, !isBehind(connection) {
                return Instant(nanoseconds: .min)
            }
            if isBehind(connection) {
                consider(connection.progress.advanced(bySeconds: configuration.stallSeconds))
            }
            for stream in connection.streams { consider(stream.schedule.next) }
        }
        return deadline
    }

    /// Timeout of poll(2): until the next deadline, at most an hour.
    private func waitNanoseconds() -> Int64 {
        let hour: Int64 = 3_600_000_000_000
        guard let deadline = nextDeadline() else { return hour }
        let now = clock()
        return deadline <= now ? 0 : min(deadline.nanoseconds - now.nanoseconds, hour)
    }

    private func isBehind(_ connection: ClientConnection) -> Bool {
        connection.output.count >= configuration.replyBacklog
    }

    private func receive(
        _ connection: ClientConnection, _ events: Int32, _ chunk: UnsafeMutableRawBufferPointer
    ) {
        if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
            // Both directions are closed, so output would not be read. Pending requests are still
            // executed.
            connection.outputBroken = true
            connection.output.discard()
            desk.abandon(client: connection.client.id)
            if connection.wantsInput { connection.read(into: chunk) }
        } else if events & POLLIN != 0 {
            connection.read(into: chunk)
        }
    }

    private func answerLines(of connection: ClientConnection, since start: Instant) {
        var now = start
        for _ in 0..<Self.requestsPerTurn where connection.hasRequests {
            if isBehind(connection) || now.seconds(since: start) > Self.turnSeconds { return }
            defer { now = clock() }
            guard let line = connection.input.next() else {
                connection.hasLines = false
                if connection.inputEnded { refusePartialLine(of: connection) }
                return
            }
            connection.lastRequest = now
            handler.answer(line, from: connection, clients: status, now: now)
            // Without a reader replies would only use memory.
            if connection.outputBroken { connection.output.discard() }
        }
    }

    /// Refuses an incomplete request at the end of the input, and tells a client that still reads.
    private func refusePartialLine(of connection: ClientConnection) {
        guard connection.input.hasPartialLine else { return }
        handler.refuse(
            connection, id: .null,
            Refusal(
                .incompleteLine, "The last line has no newline at its end and was not carried out."
            ))
    }

    private mutating func sendStreams(of connection: ClientConnection, now: Instant) {
        for index in connection.streams.indices
        where connection.streams[index].schedule.takeDue(now: now) {
            let isSent = connection.sendStream(
                index, backlog: configuration.streamBacklog, sample: handler.services.sample)
            if !isSent { counters.droppedMessages += 1 }
        }
    }

    /// Decides whether the connection has ended.
    private mutating func settle(_ connection: ClientConnection, now: Instant) {
        guard !connection.hasLines || isBehind(connection) else { return }
        if connection.outputBroken, connection.inputEnded {
            connection.isFinished = !connection.hasLines
        } else if connection.inputEnded, !connection.hasLines {
            // Half closed, as by `nc -N`: replies are still sent, and streams until the other half
            // closes.
            connection.isFinished =
                connection.output.isEmpty && connection.streams.isEmpty && !connection.isWaiting
        }
        // The time limit starts when the client falls behind, regardless of earlier idle time.
        if !isBehind(connection) { connection.progress = now }
        let isStalled =
            isBehind(connection)
            && now.seconds(since: connection.progress) >= configuration.stallSeconds
        if isStalled || connection.output.count > 2 * configuration.replyBacklog {
            counters.stalled += 1
            connection.isFinished = true
            logger.notice(
                "\(connection.client) does not read its replies; closed with \(connection.output.count) bytes waiting."
            )
        }
    }
}

extension DiagnosticsLoop {
    private var status: ClientStatus {
        var status = counters
        status.connected = connections.count
        status.subscriptions = connections.reduce(0) { $0 + $1.streams.count }
        return status
    }

    private mutating func accept(now: Instant) {
        for _ in 0..<configuration.maximumClients {
            var raw: Int32 = -1
            let error = cl_socket_accept(listener.descriptor.rawValue, &raw)
            switch error {
            case 0: admit(FileDescriptor(rawValue: raw), now: now)
            case EAGAIN: return
            // The client closed the connection before it was accepted.
            case ECONNABORTED: continue
            default:
                // Probably no free descriptors. The listener stays readable, so without a pause
                // this would be a busy loop.
                logger.warning("Cannot accept a diagnostics client: \(Errno(rawValue: error)).")
                acceptPause = now.advanced(bySeconds: 1)
                return
            }
        }
    }

    private mutating func admit(_ descriptor: FileDescriptor, now: Instant) {
        counters.accepted += 1
        // A small kernel buffer, so that a slow subscriber receives recent values.
        var size: Int32 = 64 * 1024
        setsockopt(
            descriptor.rawValue, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let peer = PeerCredentials(of: descriptor)
        let client = DiagnosticsClient(
            id: nextClient, pid: peer?.pid ?? 0, user: peer?.user ?? AccessPolicy.overflowID)
        nextClient += 1
        let connection = ClientConnection(
            descriptor: descriptor, client: client,
            mayWrite: peer.map(handler.policy.allowsWriting) ?? false,
            longestLine: configuration.longestLine, now: now)
        let slots = ClientSlots(
            limit: configuration.maximumClients, reserved: configuration.reservedForWriters)
        let present = connections.filter { !$0.isFinished }
        switch slots.decide(
            mayWrite: connection.mayWrite, among: present.map(\.standing), now: now)
        {
        case .admit: break
        case .replace(let index):
            counters.evicted += 1
            turnAway(present[index], "Closed to make room, because it was idle longest.", now: now)
            present[index].isFinished = true
        case .refuse:
            counters.refused += 1
            turnAway(
                connection,
                "All \(slots.limit - slots.reserved) connections for reading are taken; close one and try again.",
                now: now)
            try? descriptor.close()
            return
        }
        connections.append(connection)
        logger.debug("\(client) connected.")
    }

    private func turnAway(_ connection: ClientConnection, _ sentence: String, now: Instant) {
        handler.refuse(connection, id: .null, Refusal(.tooMany, sentence))
        connection.flush(now: now)
    }

    private mutating func close(_ connection: ClientConnection) {
        try? connection.descriptor.close()
        // A descriptor is free again for waiting clients.
        acceptPause = nil
        desk.forget(client: connection.client.id)
        handler.port.left(CommandSource(connection.client), now: handler.port.now)
        logger.debug("\(connection.client) closed.")
    }
}
