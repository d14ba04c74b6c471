import CLinuxShim
import GimbalCore
import Glibc
import Logging
import Port
import SystemPackage
import Threads
import Wire

/// Body of the thread of the diagnostics socket. The loop waits with poll(2), reads and answers
/// requests, and sends output. The loop never waits for a single client.
///
/// The loop uses no event-loop library, because this process locks its memory and has real-time
/// threads. Therefore the socket has one ordinary thread with an explicit stack and bounded
/// buffers. A thread pool would compete with the control loop.
///
/// A stop is executed before all other requests. In each iteration, the thread searches all
/// received input for a stop before it answers any request. An iteration ends after `turnSeconds`;
/// the thread then checks the input for a stop again. The `SlowRequestQueue` answers requests that
/// are slow to parse or to answer. The thread that writes to the disk answers requests that wait
/// for the disk. The `SlowRequestQueue` and the thread that writes to the disk send their answers
/// through `LateReplies`.
struct DiagnosticsLoop {
    /// Largest number of requests of one client that are answered before the other clients are
    /// served.
    private static let requestsPerTurn = 8
    /// Time limit of one iteration, s. The next iteration begins with the next client. An iteration
    /// exceeds the time limit only if a single request takes longer.
    private static let turnSeconds = 0.001
    private static let chunkSize = 16 * 1024

    private let wake: FileDescriptor
    private let configuration: DiagnosticsConfiguration
    private let handler: RequestHandler
    private let logger: Logger
    private let clock: @Sendable () -> Instant

    private let later: LateReplies
    private let slowRequests: SlowRequestQueue
    private var connections: [ClientConnection] = []
    /// The client that is served first in the next iteration.
    private var first = 0
    private var counters = ClientStatus()
    private var nextClient = 1
    private var acceptor: Acceptor

    /// Creates the loop of the diagnostics thread for an open socket. `run` returns when `wake`
    /// becomes readable, and closes the socket.
    init(
        listener: SocketListener, wake: FileDescriptor,
        configuration: DiagnosticsConfiguration, handler: RequestHandler, later: LateReplies,
        slowRequests: SlowRequestQueue, logger: Logger, clock: @escaping @Sendable () -> Instant
    ) {
        self.handler = handler
        self.later = later
        self.slowRequests = slowRequests
        acceptor = Acceptor(listener, client: "diagnostics client")
        self.wake = wake
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        counters.limit = configuration.maximumClients
    }

    /// Serves clients until `wake` is readable, then sends as much output as possible without
    /// waiting, and closes all connections.
    mutating func run() {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkSize, alignment: 16)
        defer { chunk.deallocate() }
        PollLoop(wake: wake, clock: clock, logger: logger).run {
            prepare(&$0)
        } turn: {
            turn($0, chunk)
        }
        let now = clock()
        for connection in connections {
            connection.flush(now: now)
            close(connection)
        }
        acceptor.listener.close()
    }

    private mutating func turn(_ set: PollSet, _ chunk: UnsafeMutableRawBufferPointer) {
        let now = clock()
        for (index, connection) in connections.enumerated() {
            receive(connection, set[3 + index], chunk)
        }
        if set[1] != 0 { accept(now: now) }
        if set[2] != 0 { finishReplies(now) }
        for connection in connections where connection.hasLines { hurryStops(of: connection, now) }
        serve(now)
        for connection in connections where connection.isFinished { close(connection) }
        connections.removeAll(where: \.isFinished)
    }

    /// Executes every emergency stop that has arrived. If a stop is the connection's next request,
    /// the stop is also answered now; every other stop is answered in turn. While twice as many
    /// replies as usual wait for the client, no stop is answered, because each answer needs memory.
    private func hurryStops(of connection: ClientConnection, _ now: Instant) {
        var isNext = false
        connection.input.arrivals { line, isFirst in
            guard handler.isStop(line, from: connection) else { return }
            if isFirst, !connection.isWaiting,
                connection.output.count <= 2 * configuration.replyBacklog
            {
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

    /// Answers the clients one after the other, until the time limit of the iteration.
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

    /// Adds the descriptors for poll(2): the listener, the deferred answers, and the clients in
    /// their order.
    private mutating func prepare(_ set: inout PollSet) {
        acceptor.prepare(&set, now: clock())
        set.add(later.bell.descriptor)
        for connection in connections {
            var events: Int32 = 0
            if connection.wantsInput { events |= POLLIN }
            if !connection.output.isEmpty { events |= POLLOUT }
            // A connection that is closed in both directions is excluded, because poll(2) would
            // report it continuously.
            let isSilent = connection.outputBroken && !connection.wantsInput
            set.add(isSilent ? nil : connection.descriptor, events)
            if isBehind(connection) {
                set.end(by: connection.progress.advanced(bySeconds: configuration.stallSeconds))
            } else if connection.hasRequests {
                set.end(by: Instant(nanoseconds: .min))
            }
            for stream in connection.streams { set.end(by: stream.schedule.next) }
        }
    }

    private func isBehind(_ connection: ClientConnection) -> Bool {
        connection.output.count >= configuration.replyBacklog
    }

    private func receive(
        _ connection: ClientConnection, _ events: Int32, _ chunk: UnsafeMutableRawBufferPointer
    ) {
        if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
            // The client has closed both directions, so it would not read output. The pending
            // requests of the client are still executed.
            connection.outputBroken = true
            connection.output.discard()
            slowRequests.abandon(client: connection.client.id)
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
            // Replies to a client that no longer reads are discarded, because they would only
            // occupy memory.
            if connection.outputBroken { connection.output.discard() }
        }
    }

    /// Refuses an incomplete request at the end of the input. If the client still reads, it
    /// receives the refusal.
    private func refusePartialLine(of connection: ClientConnection) {
        guard connection.input.hasPartialLine else { return }
        handler.refuse(
            connection, id: .null,
            Refusal(
                .incompleteLine,
                "The last line has no newline at its end, so its request was not carried out."
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

    /// Decides whether the connection must be closed.
    private mutating func settle(_ connection: ClientConnection, now: Instant) {
        guard !connection.hasLines || isBehind(connection) else { return }
        if connection.outputBroken, connection.inputEnded {
            connection.isFinished = !connection.hasLines
        } else if connection.inputEnded, !connection.hasLines {
            // A client such as `nc -N` shuts down only its sending side. The server still sends
            // replies and stream messages, until the client also closes the other direction.
            connection.isFinished =
                connection.output.isEmpty && connection.streams.isEmpty && !connection.isWaiting
        }
        // The time limit starts when the client begins to read too slowly, regardless of earlier
        // idle time. The number of bytes is not a reason to close the connection: a single reply,
        // such as that to `keys`, can be longer than `replyBacklog`.
        if !isBehind(connection) { connection.progress = now }
        if isBehind(connection),
            now.seconds(since: connection.progress) >= configuration.stallSeconds
        {
            counters.stalled += 1
            connection.isFinished = true
            logger.notice(
                "\(connection.client) does not read its replies; airframed closed the connection with \(connection.output.count) unread bytes."
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
            guard let descriptor = acceptor.next(now: now, logger) else { return }
            admit(descriptor, now: now)
        }
    }

    private mutating func admit(_ descriptor: FileDescriptor, now: Instant) {
        counters.accepted += 1
        // The kernel's buffer is small. Therefore a slow subscriber receives recent values.
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
            turnAway(
                present[index],
                "airframed closed this connection to admit another client, because this connection was idle for the longest time.",
                now: now)
            present[index].isFinished = true
        case .refuse:
            counters.refused += 1
            turnAway(
                connection,
                "All \(slots.limit - slots.reserved) read-only connections are in use; close a connection and try again.",
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
        acceptor.resume()
        slowRequests.forget(client: connection.client.id)
        handler.port.left(CommandSource(connection.client), now: handler.port.now)
        handler.services.left(connection.client.id)
        logger.debug("\(connection.client) closed.")
    }
}
