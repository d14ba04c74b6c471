import GimbalCore
import Glibc
import Logging
import SystemPackage
import Threads
import Wire

/// Body of the thread of the lockstep socket. The loop waits with poll(2), reads messages, answers
/// each message, and writes the answers.
struct LockstepLoop {
    private static let chunkSize = 64 * 1024
    /// Largest number of ended connections with unsent replies; further ended connections are
    /// closed immediately.
    private static let maximumLeavers = 8
    /// Longest time for which an ended connection stays open for its remaining replies, s.
    private static let leaveSeconds = 1.0

    private let wake: FileDescriptor
    private let settling: SettlingHandshake
    private let configuration: LockstepConfiguration
    private let backend: any LockstepBackend
    private let logger: Logger

    private var peer: LockstepPeer?
    private var leavers: [LockstepClosingPeer] = []
    private var acceptor: Acceptor

    /// Creates the loop of the lockstep thread for an open socket. `run` returns when `wake`
    /// becomes readable, and closes the socket.
    init(
        listener: SocketListener, wake: FileDescriptor, settling: SettlingHandshake,
        configuration: LockstepConfiguration, backend: any LockstepBackend, logger: Logger
    ) {
        acceptor = Acceptor(listener, client: "simulator")
        self.wake = wake
        self.settling = settling
        self.configuration = configuration
        self.backend = backend
        self.logger = logger
    }

    /// Serves simulators until `wake` is readable, then closes all connections and the socket.
    mutating func run() {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkSize, alignment: 16)
        defer { chunk.deallocate() }
        PollLoop(wake: wake, logger: logger).run {
            prepare(&$0)
        } turn: {
            turn($0, chunk)
        }
        if let peer { try? peer.descriptor.close() }
        for leaver in leavers { try? leaver.descriptor.close() }
        acceptor.listener.close()
    }

    private mutating func turn(_ set: PollSet, _ chunk: UnsafeMutableRawBufferPointer) {
        if set[3] != 0 || peer?.hasMore == true { receive(chunk) }
        serve()
        if set[1] != 0 { accept(chunk) }
        noteSilence(now: Self.now)
        dismissLeavers(chunk)
        if set[2] != 0, peer?.hasMore != true || isBehind { settling.acknowledge() }
    }

    /// Adds the descriptors to the set: listener, `SettlingHandshake`, simulator and ended
    /// connections.
    private mutating func prepare(_ set: inout PollSet) {
        acceptor.prepare(&set, now: Self.now)
        set.add(settling.request.descriptor)
        var events: Int32 = 0
        if let peer {
            if !isBehind { events |= POLLIN }
            if !peer.output.isEmpty { events |= POLLOUT }
            if peer.hasMore || peer.hasLines, !isBehind { set.end(by: Instant(nanoseconds: .min)) }
            if !peer.isSilent {
                set.end(by: peer.lastLine.advanced(bySeconds: configuration.timeout))
            }
        }
        set.add(peer?.descriptor, events)
        for leaver in leavers {
            set.add(leaver.descriptor, leaver.events)
            set.end(by: leaver.deadline)
        }
    }

    /// True if the simulator does not read its replies; its further messages then wait.
    private var isBehind: Bool { (peer?.output.count ?? 0) >= configuration.replyBacklog }

    private mutating func receive(_ chunk: UnsafeMutableRawBufferPointer) {
        guard !isBehind, peer?.hasLines != true else { return }
        peer?.read(into: chunk)
    }

    /// Answers every complete message of the simulator, sends the answers, and closes a connection
    /// that has ended.
    private mutating func serve() {
        guard peer != nil else { return }
        peer?.flush()
        answerLines()
        peer?.flush()
        guard let peer, peer.hasEnded, !peer.hasLines else { return }
        self.peer = nil
        backend.disconnected(isMidLine: peer.input.hasPartialLine)
        leave(peer.descriptor, peer.output)
    }

    private mutating func answerLines() {
        while peer?.hasLines == true, !isBehind {
            guard let line = peer?.input.next() else {
                peer?.hasLines = false
                return
            }
            peer?.lastLine = Self.now
            peer?.isSilent = false
            let backend = backend
            peer?.output.append { output in
                switch line {
                case .complete(let bytes): backend.answer(bytes, to: &output)
                case .tooLong: backend.answer(nil, to: &output)
                }
            }
        }
    }

    private mutating func noteSilence(now: Instant) {
        guard let peer, !peer.isSilent,
            now.seconds(since: peer.lastLine) >= configuration.timeout
        else { return }
        self.peer?.isSilent = true
        backend.silent()
    }

    /// Present real time. Real time is used only for the simulator's timeout and for ended
    /// connections.
    private static var now: Instant { LinkClock.now() }
}

extension LockstepLoop {
    private mutating func accept(_ chunk: UnsafeMutableRawBufferPointer) {
        while let descriptor = acceptor.next(now: Self.now, logger) { admit(descriptor, chunk) }
    }

    private mutating func admit(
        _ descriptor: FileDescriptor, _ chunk: UnsafeMutableRawBufferPointer
    ) {
        // The previous simulator can have disconnected after poll(2) returned.
        if peer != nil {
            receive(chunk)
            serve()
        }
        guard peer == nil else {
            var output = OutputBuffer()
            let backend = backend
            output.append { backend.refuse(to: &$0) }
            return leave(descriptor, output)
        }
        peer = LockstepPeer(descriptor: descriptor, lastLine: Self.now)
        backend.connected()
    }

    private mutating func leave(_ descriptor: FileDescriptor, _ output: OutputBuffer) {
        var output = output
        guard leavers.count < Self.maximumLeavers else {
            _ = output.send(to: descriptor)
            try? descriptor.close()
            return
        }
        leavers.append(
            LockstepClosingPeer(
                descriptor: descriptor, output: output,
                deadline: Self.now.advanced(bySeconds: Self.leaveSeconds)))
    }

    private mutating func dismissLeavers(_ chunk: UnsafeMutableRawBufferPointer) {
        guard !leavers.isEmpty else { return }
        let now = Self.now
        var remaining: [LockstepClosingPeer] = []
        for var leaver in leavers {
            if leaver.advance(chunk, now: now) {
                try? leaver.descriptor.close()
            } else {
                remaining.append(leaver)
            }
        }
        leavers = remaining
    }
}
