import CLinuxShim
import FoundationEssentials
import Glibc
import PlainText
import SystemPackage
public import Threads
public import Wire

/// Connection to the daemon, for one request at a time and for streams. The client waits with
/// poll(2), at most until the timeout. Only one thread can use a `DaemonClient`.
public final class DaemonClient {
    private let descriptor: FileDescriptor
    private let path: String
    /// Name of the program that answers, for error messages.
    private let program: String
    private let timeout: Double
    /// Received bytes; the length of a line is not limited.
    private var received = LineBuffer(limit: Int.max / 2)
    /// Messages of streams that arrived during a request, in order of arrival.
    private var held: [(line: [UInt8], value: JSONValue)] = []
    /// Largest number of stored stream messages; the oldest messages are dropped first.
    private static let mostHeld = 4096
    private var nextID = 1
    /// Signal that ends the wait for an answer; the request then throws the error `cancelled`. A
    /// late answer is ignored.
    public var interruption: WakeupPipe?
    private let decoder = JSONDecoder()

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - path: Path of the daemon's socket.
    ///   - program: Name of the program that listens at the path.
    ///   - timeout: Longest wait for an answer, s.
    /// - Throws: `ClientError.unreachable` with a message that contains the remedy.
    public init(
        path: String, of program: String = "airframed", timeout: Double
    ) throws(ClientError) {
        self.path = path
        self.program = program
        self.timeout = timeout
        decoder.keyDecodingStrategy = .custom(MessageKey.decoding)
        var raw: Int32 = -1
        let error = cl_socket_connect(path, &raw)
        guard error == 0 else { throw Self.failure(connecting: path, error) }
        descriptor = FileDescriptor(rawValue: raw)
    }

    deinit { try? descriptor.close() }

    /// True if no daemon listens at the path: no file exists there, or the file is a socket without
    /// a listener.
    public static func isAbsent(at path: String) -> Bool {
        var raw: Int32 = -1
        let error = cl_socket_connect(path, &raw)
        if error == 0 { close(raw) }
        return error == ENOENT || (error == ECONNREFUSED && isSocket(path))
    }

    /// Sends a request, and decodes the answer.
    public func request<Result: Decodable & Sendable>(
        _ method: String, _ params: [String: JSONValue] = [:], as type: Result.Type = Result.self
    ) throws(ClientError) -> Result {
        try decoded(try reply(to: method, params).line, from: method)
    }

    /// Sends a request, and returns the answer both decoded and as JSON.
    public func requestWithJSON<Result: Decodable & Sendable>(_ method: String) throws(ClientError)
        -> (result: Result, json: JSONValue)
    {
        let reply = try reply(to: method, [:])
        return (try decoded(reply.line, from: method), reply.value["result"] ?? .null)
    }

    private func decoded<Result: Decodable & Sendable>(_ line: [UInt8], from method: String)
        throws(ClientError) -> Result
    {
        do {
            let reply = try decoder.decode(Reply<Result>.self, from: Data(line))
            if let result = reply.result { return result }
        } catch {
            throw .notUnderstood(
                "The daemon's answer to \(method) cannot be read (\(error)). "
                    + "\(program) and this program are perhaps from different builds, although builds between two releases have the same version: install both from the same build, and restart \(program)."
            )
        }
        throw .notUnderstood("The daemon's answer to \(method) is empty.")
    }

    /// Sends a request, and returns the answer as JSON.
    public func json(_ method: String, _ params: [String: JSONValue] = [:]) throws(ClientError)
        -> JSONValue
    {
        try reply(to: method, params).value["result"] ?? .null
    }

    /// Next message of a stream. Messages that arrived during a request are returned first. If no
    /// message is stored, the call waits for a line: at most `wait` seconds, or indefinitely if
    /// `wait` is nil.
    public func nextMessage(wait: Double?) throws(ClientError) -> (line: [UInt8], value: JSONValue)
    {
        held.isEmpty ? try nextLine(wait: wait) : held.removeFirst()
    }

    private func nextLine(wait: Double?) throws(ClientError) -> (line: [UInt8], value: JSONValue) {
        let line = try line(deadline: wait.map { Self.now() + $0 })
        do {
            return (line, try JSONValue(parsing: line))
        } catch {
            throw .notUnderstood("The daemon sent a line that is not JSON: \(error.sentence).")
        }
    }

    /// Measures the difference between this computer's clock and the clock of the daemon's loop.
    /// The client sends several requests, and uses the request with the shortest response time.
    ///
    /// - Returns: CLOCK_MONOTONIC minus the loop's clock, and the maximum error of this difference,
    ///   s.
    /// - Throws: `unreachable` or `timeout`.
    public func clockOffset() throws(ClientError) -> (seconds: Double, error: Double) {
        var best = (seconds: 0.0, error: Double.infinity)
        for _ in 0..<10 {
            let begin = Self.now()
            let reply = try reply(to: "ping", [:]).value
            let end = Self.now()
            guard let t = reply["t"]?.number, (end - begin) / 2 < best.error else { continue }
            best = ((begin + end) / 2 - t, (end - begin) / 2)
        }
        return best
    }

    private func reply(to method: String, _ params: [String: JSONValue]) throws(ClientError)
        -> (line: [UInt8], value: JSONValue)
    {
        let id = JSONValue.int(nextID)
        nextID += 1
        let deadline = Self.now() + timeout
        try send(
            Request(id: id, method: method, params: params).line + [UInt8(ascii: "\n")],
            deadline: deadline)
        while true {
            let message = try nextLine(wait: deadline - Self.now())
            if message.value["subscription"] != nil, message.value["id"] == nil {
                if held.count == Self.mostHeld { held.removeFirst() }
                held.append(message)
                continue
            }
            // An error without an ID concerns the whole connection.
            guard message.value["id"] == id || message.value["id"] == .null else { continue }
            if let error = message.value["error"] {
                throw .refused(
                    RequestError(
                        error["code"]?.string ?? "refused",
                        error["message"]?.string ?? error.text, field: error["field"]?.string))
            }
            return message
        }
    }
}

// Streams of variables.
extension DaemonClient {
    /// Starts a stream of variables.
    ///
    /// - Parameters:
    ///   - names: Names of the variables.
    ///   - hz: Messages per second.
    /// - Returns: ID of the subscription, as in each message of the stream.
    /// - Throws: The errors of a failed request.
    public func subscribe(_ names: [String], hz: Double) throws(ClientError) -> Int {
        let info: SubscriptionInfo = try request(
            "subscribe", ["names": .array(names.map(JSONValue.string)), "rate": .double(hz)])
        return info.subscription
    }

    /// Ends a stream of variables.
    ///
    /// - Parameter subscription: ID of the subscription.
    /// - Throws: The errors of a failed request.
    public func unsubscribe(_ subscription: Int) throws(ClientError) {
        _ = try json("unsubscribe", ["subscription": .int(subscription)])
    }

    /// The next message of a stream; nil if no message arrives within the given time, s.
    public func nextMessage(within seconds: Double) throws(ClientError) -> JSONValue? {
        do throws(ClientError) {
            return try nextMessage(wait: seconds).value
        } catch {
            if case .timeout = error { return nil }
            throw error
        }
    }
}

extension DaemonClient {
    private func send(_ bytes: [UInt8], deadline: Double) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            var taken = 0
            let error = bytes.withUnsafeBytes { buffer in
                cl_socket_send(
                    descriptor.rawValue, buffer.baseAddress.map { $0 + sent }, buffer.count - sent,
                    &taken)
            }
            guard error == 0 || error == EAGAIN else { throw lost() }
            sent += taken
            if sent < bytes.count { try wait(for: POLLOUT, deadline: deadline) }
        }
    }

    private func line(deadline: Double?) throws(ClientError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            if case .complete(let line) = received.next() { return line }
            let count = read(descriptor.rawValue, &chunk, chunk.count)
            if count > 0 {
                received.append(chunk[..<count])
            } else if count < 0, errno == EAGAIN || errno == EINTR {
                try wait(for: POLLIN, deadline: deadline)
            } else {
                throw lost()
            }
        }
    }

    private func wait(for events: Int32, deadline: Double?) throws(ClientError) {
        let rest = deadline.map { $0 - Self.now() } ?? 3600
        var entries = [pollfd(fd: descriptor.rawValue, events: Int16(events), revents: 0)]
        if let interruption {
            let signal = interruption.descriptor.rawValue
            entries.append(pollfd(fd: signal, events: Int16(POLLIN), revents: 0))
        }
        var ready: Int32 = 0
        _ = cl_socket_wait(&entries, entries.count, Int64(max(0, rest) * 1e9), &ready)
        // The sending of a request is not interrupted: the daemon must not receive an incomplete
        // line.
        if ready > 0, events == POLLIN, entries.count > 1, entries[1].revents != 0 {
            throw .refused(RequestError("cancelled", "The client cancelled the request."))
        }
        guard ready == 0, let deadline, Self.now() >= deadline else { return }
        throw .timeout(
            "\(program) at \(path) did not answer within \(Format.plain(timeout)) s. "
                + "Is the computer overloaded? See `journalctl -u \(program)`.")
    }

    private func lost() -> ClientError {
        .unreachable(
            "\(program) closed the connection at \(path). Check with `systemctl status \(program)` whether \(program) has stopped."
        )
    }

    private static func isSocket(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
    }

    private static func failure(connecting path: String, _ error: Int32) -> ClientError {
        let start = "sudo systemctl start airframed, or make run"
        return switch error {
        case ENOENT:
            .unreachable(
                "There is no socket \(path). Is airframed running? If not, start airframed (\(start)); if it uses another diagnostics.socket, pass --socket PATH. If make run has started it in another terminal, enter `. .build/environment` in this terminal."
            )
        case ECONNREFUSED where !isSocket(path):
            .unreachable(
                "\(path) is not a socket. Pass the path of airframed's socket (diagnostics.socket): --socket PATH."
            )
        case ECONNREFUSED:
            .unreachable(
                "No program answers at \(path): airframed has ended without removing this socket. Start airframed again (\(start))."
            )
        case EACCES, EPERM:
            .unreachable(
                "Permission denied at \(path). Join the socket's group (sudo usermod -aG airframe $USER, then log in again), or use sudo."
            )
        case ENAMETOOLONG:
            .unreachable(
                "\(path): the path has \(path.utf8.count) bytes, but the path of a UNIX socket can have at most \(CL_SOCKET_PATH_MAX)."
            )
        case EAGAIN:
            .timeout("airframed at \(path) accepts no connections at the moment. Try again.")
        default:
            .unreachable("Cannot connect to \(path): \(Errno(rawValue: error)).")
        }
    }

    /// Time on CLOCK_MONOTONIC, s.
    public static func now() -> Double { Double(cl_now_ns()) * 1e-9 }

    /// Wall clock, s since 1970.
    @Sendable public static func wall() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
