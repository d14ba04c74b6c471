import Client
import Glibc
import Synchronization
import Wire

/// Connection of an MCP server to standard input and output: one message per line. No other output
/// goes to standard output.
///
/// A separate thread reads the messages, and sends each emergency stop to the daemon immediately.
/// The thread that calls `serve` runs the server, which can wait for the daemon.
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
        let writer = LineWriter(output)
        let reader = MessageReader(
            input: input, inbox: inbox, writer: writer, emergencyStop: server.emergencyStop)
        CompanionThread().start("mcp-reader") { reader.run() }
        defer { server.end() }
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
                guard writer.write(inbox.finish(answers)) else { return }
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
        var lines = BoundedLines(limit: StandardStreams.longestLine)
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
            for line in lines.append(chunk[..<count]) {
                guard writer.write(take(line)) else { return }
            }
        }
    }

    /// Sends an emergency stop to the daemon; adds any other message to the inbox, for the server's
    /// thread.
    ///
    /// - Returns: Answers for the client.
    private func take(_ line: [UInt8]?) -> [[UInt8]] {
        guard let line else { return inbox.add(.tooLong) }
        switch try? RPCMessage(line: line) {
        case .request(let id, let method, let params):
            if let isModern = MCPServer.stopFormat(method, params) {
                return [emergencyStop.answer(id, isModern: isModern)] + inbox.addStop()
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

/// Thread-safe writer of lines to the client; lines from different threads are not mixed.
final class LineWriter: Sendable {
    private let descriptor: Mutex<Int32>

    init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    /// Writes lines.
    ///
    /// - Returns: False if the client no longer reads its input.
    func write(_ lines: [[UInt8]]) -> Bool {
        if lines.isEmpty { return true }
        return descriptor.withLock { descriptor in
            lines.allSatisfy { Self.write($0 + [UInt8(ascii: "\n")], to: descriptor) }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}

/// Splitter of a byte stream into lines; the memory use is bounded.
struct BoundedLines {
    /// Longest line without its newline, bytes.
    let limit: Int
    private var bytes: [UInt8] = []
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// Adds bytes.
    ///
    /// - Returns: The complete lines, without their newlines; nil for each line that is too long.
    mutating func append(_ chunk: some Sequence<UInt8>) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        for byte in chunk {
            if byte == UInt8(ascii: "\n") {
                if !isSkipping { lines.append(bytes) }
                isSkipping = false
                bytes.removeAll(keepingCapacity: true)
            } else if !isSkipping {
                bytes.append(byte)
                guard bytes.count > limit else { continue }
                isSkipping = true
                bytes.removeAll(keepingCapacity: true)
                lines.append(nil)
            }
        }
        return lines
    }
}
