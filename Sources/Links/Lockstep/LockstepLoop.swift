import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage
import Wire

/// Thread of the lockstep socket: poll(2), read, answer each line, write. It waits only for the
/// simulator.
struct LockstepLoop {
    private static let chunkSize = 64 * 1024
    /// Largest number of ended connections with unsent replies; further ones are closed at once.
    private static let maximumLeavers = 8
    /// Time limit for them, s.
    private static let leaveSeconds = 1.0

    private let listener: SocketListener
    private let wake: FileDescriptor
    private let settling: SettlingPipes
    private let configuration: LockstepConfiguration
    private let backend: any LockstepBackend
    private let logger: Logger

    private var peer: LockstepPeer?
    private var leavers: [LockstepLeaver] = []
    /// Time until which no connection is accepted, because the process has no descriptor left.
    private var acceptPause: Instant?

    /// A loop over an open socket, which `run` closes when it returns; it returns when `wake`
    /// becomes readable.
    init(
        listener: SocketListener, wake: FileDescriptor, settling: SettlingPipes,
        configuration: LockstepConfiguration, backend: any LockstepBackend, logger: Logger
    ) {
        self.listener = listener
        self.wake = wake
        self.settling = settling
        self.configuration = configuration
        self.backend = backend
        self.logger = logger
    }

    /// Serves until `wake` is readable, then closes everything.
    mutating func run() {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkSize, alignment: 16)
        defer { chunk.deallocate() }
        while turn(chunk) {}
        if let peer { try? peer.descriptor.close() }
        for leaver in leavers { try? leaver.descriptor.close() }
        listener.close()
    }

    /// Runs one round; false after the last.
    private mutating func turn(_ chunk: UnsafeMutableRawBufferPointer) -> Bool {
        var entries = pollEntries()
        var ready: Int32 = 0
        let error = cl_socket_wait(&entries, entries.count, waitNanoseconds(), &ready)
        if error != 0 { logger.error("poll: \(Errno(rawValue: error))") }
        if entries[0].revents != 0 { return false }
        if entries[3].revents != 0 || peer?.hasMore == true { receive(chunk) }
        serve()
        if entries[2].revents != 0 { accept(chunk) }
        noteSilence(now: Self.now)
        dismissLeavers(chunk)
        if entries[1].revents != 0, peer?.hasMore != true || isBehind { settling.acknowledge() }
        return true
    }

    /// Descriptors for poll(2): `wake`, the request to settle, the listener, the simulator, then
    /// ended connections.
    private mutating func pollEntries() -> [pollfd] {
        if let pause = acceptPause, Self.now >= pause { acceptPause = nil }
        func entry(_ descriptor: FileDescriptor?, _ events: Int32) -> pollfd {
            // poll(2) ignores a negative descriptor.
            pollfd(fd: descriptor?.rawValue ?? -1, events: Int16(events), revents: 0)
        }
        var events: Int32 = 0
        if let peer {
            if !isBehind { events |= POLLIN }
            if !peer.output.isEmpty { events |= POLLOUT }
        }
        var entries = [
            entry(wake, POLLIN), entry(settling.request.descriptor, POLLIN),
            entry(acceptPause == nil ? listener.descriptor : nil, POLLIN),
            entry(peer?.descriptor, events),
        ]
        for leaver in leavers {
            entries.append(entry(leaver.descriptor, leaver.events))
        }
        return entries
    }

    /// Timeout of poll(2): until the next deadline, at most an hour.
    private func waitNanoseconds() -> Int64 {
        if let peer, peer.hasMore || peer.hasLines, !isBehind { return 0 }
        var deadlines = leavers.map(\.deadline)
        if let peer, !peer.isSilent {
            deadlines.append(peer.lastLine.advanced(bySeconds: configuration.timeout))
        }
        if let acceptPause { deadlines.append(acceptPause) }
        let hour: Int64 = 3_600_000_000_000
        guard let next = deadlines.min() else { return hour }
        // One more than the difference, so that the deadline has passed at the wake-up.
        return min(max(0, next.nanoseconds - Self.now.nanoseconds + 1), hour)
    }

    /// Whether the simulator does not read its replies, so that its further lines wait.
    private var isBehind: Bool { (peer?.output.count ?? 0) >= configuration.replyBacklog }

    private mutating func receive(_ chunk: UnsafeMutableRawBufferPointer) {
        guard !isBehind, peer?.hasLines != true else { return }
        peer?.read(into: chunk)
    }

    /// Answers every complete line, sends, and closes an ended connection.
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

    /// The loop's wall clock, used only for the timeout and for ended connections.
    private static var now: Instant { Instant(nanoseconds: cl_now_ns()) }
}

extension LockstepLoop {
    private mutating func accept(_ chunk: UnsafeMutableRawBufferPointer) {
        while true {
            var raw: Int32 = -1
            let error = cl_socket_accept(listener.descriptor.rawValue, &raw)
            switch error {
            case 0: admit(FileDescriptor(rawValue: raw), chunk)
            case EAGAIN: return
            // The simulator closed the connection before it was accepted.
            case ECONNABORTED: continue
            default:
                // Probably no free descriptors. The listener stays readable, so without a pause
                // this would be a busy loop.
                logger.warning("Cannot accept a simulator: \(Errno(rawValue: error)).")
                acceptPause = Self.now.advanced(bySeconds: 1)
                return
            }
        }
    }

    private mutating func admit(
        _ descriptor: FileDescriptor, _ chunk: UnsafeMutableRawBufferPointer
    ) {
        // The previous simulator may have disconnected after poll(2) returned.
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
            LockstepLeaver(
                descriptor: descriptor, output: output,
                deadline: Self.now.advanced(bySeconds: Self.leaveSeconds)))
    }

    private mutating func dismissLeavers(_ chunk: UnsafeMutableRawBufferPointer) {
        guard !leavers.isEmpty else { return }
        let now = Self.now
        var remaining: [LockstepLeaver] = []
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
