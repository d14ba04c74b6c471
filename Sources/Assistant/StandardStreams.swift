import Client
import Glibc

/// Loop that connects a server to standard input and output: one message per line. No other output
/// goes to standard output.
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
    public func serve(_ server: MCPServer) {
        var lines = BoundedLines(limit: Self.longestLine)
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        defer { server.end() }
        while true {
            guard write(server.tick(now: DaemonClient.now())) else { return }
            var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            let wait = server.deadline.map { max(0, $0 - DaemonClient.now()) }
            // The timeout is rounded up. Therefore the deadline has passed when `poll` returns.
            let ready = poll(&entry, 1, wait.map { Int32(($0 * 1000).rounded(.up)) } ?? -1)
            guard ready > 0 || ready == 0 || errno == EINTR else { return }
            guard ready > 0 else { continue }
            let count = read(input, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return }
            for line in lines.append(chunk[..<count]) {
                let now = DaemonClient.now()
                let answers =
                    line.map { server.receive($0, now: now) }
                    ?? [server.refuseLine(longerThan: Self.longestLine)]
                guard write(answers) else { return }
            }
        }
    }

    /// Writes lines.
    ///
    /// - Returns: False if the client no longer reads its input.
    private func write(_ lines: [[UInt8]]) -> Bool {
        for line in lines {
            let bytes = line + [UInt8(ascii: "\n")]
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.write(output, $0.baseAddress.map { $0 + sent }, bytes.count - sent)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
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
