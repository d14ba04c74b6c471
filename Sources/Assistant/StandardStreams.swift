import Client
import Glibc
import Synchronization
import SystemPackage
import Threads
import Wire

/// Connection of an MCP server to standard input and output: one message per line. No other output
/// goes to standard output.
///
/// A separate thread reads the messages, and sends each emergency stop to the daemon immediately.
/// Another thread writes the answers, so a client that does not read its input cannot delay an
/// emergency stop. The thread that calls `serve` runs the server, which can wait for the daemon.
///
/// Source: Model Context Protocol 2026-07-28, Transports, stdio.
public struct StandardStreams {
    /// Longest line, bytes.
    static let longestLine = 1 << 16

    private let input: Int32
    private let output: Int32

    /// Creates the loop.
    ///
    /// - Parameters:
    ///   - input: File descriptor from which the client's messages are read.
    ///   - output: File descriptor to which the server's messages are written.
    public init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Serves the client until the client closes its output or no longer reads its input. The
    /// caller must ignore SIGPIPE.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    public func serve(_ server: MCPServer) throws {
        let inbox = try Inbox(interruption: server.interruption)
        let writer = try LineWriter(output)
        let reader = MessageReader(
            input: input, inbox: inbox, writer: writer, emergencyStop: server.emergencyStop)
        CompanionThread().start("mcp-reader") { reader.run() }
        defer {
            server.end()
            writer.finish()
        }
        while true {
            let entry = inbox.take()
            switch entry {
            case .end: return
            case .none: inbox.wait(until: server.deadline)
            case .stopped:
                guard writer.write(server.stopped(now: DaemonClient.now())) else { return }
            case .tooLong:
                guard writer.write([server.refuseLine(longerThan: Self.longestLine)]) else {
                    return
                }
            case .message(let line):
                let answers = server.receive(line, now: DaemonClient.now())
                let rest = inbox.finish(answers) { server.emergencyStop.send() }
                guard writer.write(rest) else { return }
            }
            guard writer.write(server.tick(now: DaemonClient.now())) else { return }
        }
    }
}

/// Thread that reads the client's messages.
private struct MessageReader: Sendable {
    let input: Int32
    let inbox: Inbox
    let writer: LineWriter
    let emergencyStop: EmergencyStop

    /// Reads messages until the client closes its output or no longer reads its input.
    func run() {
        defer { inbox.end() }
        var lines = LineBuffer(limit: StandardStreams.longestLine)
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = read(input, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, -1)
                continue
            }
            guard count > 0 else { return }
            lines.append(chunk[..<count])
            while let line = lines.next() {
                guard writer.write(take(line)) else { return }
            }
        }
    }

    /// Sends an emergency stop to the daemon; adds any other message to the inbox, for the server's
    /// thread.
    ///
    /// - Returns: Answers for the client.
    private func take(_ next: LineBuffer.Line) -> [[UInt8]] {
        guard case .complete(let line) = next else { return inbox.add(.tooLong) }
        switch try? RPCMessage(line: line) {
        case .request(let id, let method, let params):
            if let isModern = MCPServer.stopFormat(method, params) {
                // A waiting call of reset_stop must not begin after the daemon has received the
                // stop.
                let removed = inbox.removeResets()
                let answer = emergencyStop.answer(id, isModern: isModern)
                inbox.addStop()
                return [answer] + removed
            }
            return inbox.add(
                .message(line), id: id,
                isReset: method == "tools/call" && params["name"] == "reset_stop")
        case .notification(let method, let params):
            if let id = MCPServer.cancelled(method, params) {
                inbox.cancel(id, line)
                return []
            }
            return inbox.add(.message(line))
        case .reply, nil: return inbox.add(.message(line))
        }
    }
}

/// Thread-safe writer of lines to the client; lines from different threads are not mixed. A thread
/// of the writer waits for the client, so `write` never waits.
final class LineWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// True while the thread writes bytes.
        var isWriting = false
        /// True if the client no longer reads its input.
        var isBroken = false
    }

    /// Largest number of bytes that wait for the client.
    static let capacity = 1 << 23
    /// Longest wait for the client in `finish`, s.
    private static let patience = 5.0

    private let state = Mutex(State())
    private let bell: WakeupPipe
    private let written: WakeupPipe
    private let descriptor: Int32
    private let thread = CompanionThread()

    /// Creates a writer, and starts its thread.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    init(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        bell = try WakeupPipe()
        written = try WakeupPipe()
        thread.start("mcp-writer") { [self] in run() }
    }

    /// Adds lines to the output.
    ///
    /// - Returns: False if the client no longer reads its input.
    func write(_ lines: [[UInt8]]) -> Bool {
        if lines.isEmpty { return true }
        let isOpen = state.withLock { state in
            for line in lines { state.waiting += line + [UInt8(ascii: "\n")] }
            if state.waiting.count > Self.capacity { state.isBroken = true }
            return !state.isBroken
        }
        bell.ring()
        return isOpen
    }

    /// Waits until the client has read all lines, at most 5 s, and ends the thread.
    func finish() {
        let end = DaemonClient.now() + Self.patience
        while state.withLock({ !$0.isBroken && ($0.isWriting || !$0.waiting.isEmpty) }) {
            let rest = end - DaemonClient.now()
            guard rest > 0 else { break }
            Self.wait(written, seconds: rest)
        }
        state.withLock { $0.isBroken = true }
        bell.ring()
    }

    private func run() {
        while true {
            let bytes: [UInt8]? = state.withLock { state in
                if state.isBroken { return nil }
                defer { state.waiting = [] }
                state.isWriting = !state.waiting.isEmpty
                return state.waiting
            }
            guard let bytes else { return }
            if bytes.isEmpty {
                Self.wait(bell, seconds: nil)
                continue
            }
            let isWritten = write(bytes)
            state.withLock { state in
                state.isWriting = false
                if !isWritten { state.isBroken = true }
            }
            written.ring()
        }
    }

    private static func wait(_ interruption: WakeupPipe, seconds: Double?) {
        var entry = pollfd(
            fd: interruption.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, seconds.map { Int32(($0 * 1000).rounded(.up)) } ?? -1)
        interruption.silence()
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
