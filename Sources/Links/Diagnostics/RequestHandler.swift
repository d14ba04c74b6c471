import PlainText
import FoundationEssentials
import GimbalCore
import Port
import Threads
import Wire

/// Handler of requests. The handler finds the method, checks the parameters and the client's write
/// access, and encodes the result.
///
/// On the server's thread, the handler immediately answers requests that move, stop or change
/// something. The `SlowRequestQueue` answers read-only requests.
struct RequestHandler: Sendable {
    /// Longest line that the server's thread parses, bytes. A request without a list of names and
    /// without text is much shorter than `shortLine`.
    static let shortLine = 1024

    let port: any GimbalPort
    let services: SocketServices
    let policy: AccessPolicy
    let variables: VariableIndex
    private let methods: [SocketMethod]
    private let later: LateReplies
    private let slowRequests: SlowRequestQueue
    private let encoder: JSONEncoder

    init(
        port: any GimbalPort, services: SocketServices, policy: AccessPolicy, later: LateReplies,
        slowRequests: SlowRequestQueue
    ) {
        self.later = later
        self.slowRequests = slowRequests
        self.port = port
        self.services = services
        self.policy = policy
        variables = VariableIndex(services.variables)
        methods =
            services.methods + SocketMethod.own(services.variables, after: services.methods)
        encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private func method(_ name: String) -> SocketMethod? { methods.first { $0.name == name } }

    /// Answers one line.
    ///
    /// - Parameters:
    ///   - line: The client's line; nil if the line was too long.
    ///   - connection: Connection that has sent the line and receives the reply.
    ///   - clients: State of the server's connections, for `status`.
    ///   - now: Present time on the server's clock.
    func answer(
        _ line: LineBuffer.Line, from connection: ClientConnection, clients: ClientStatus,
        now: Instant
    ) {
        guard case .complete(let bytes) = line else {
            let limit = connection.input.limit
            return refuse(
                connection, id: .null,
                Refusal(
                    .lineTooLong,
                    "The line is longer than \(limit) bytes; airframed skips this line up to its newline."
                ))
        }
        guard bytes.count <= Self.shortLine else {
            return ask(.line(bytes), connection, clients)
        }
        // Blank lines are ignored, because users type blank lines, and many files end with a blank
        // line.
        if Self.isBlank(bytes) { return }
        do {
            carryOut(try Request(line: bytes), from: connection, clients: clients, now: now)
        } catch {
            refuse(connection, id: error.id, error.error)
        }
    }

    /// Executes a parsed request.
    private func carryOut(
        _ request: Request, from connection: ClientConnection, clients: ClientStatus, now: Instant
    ) {
        do {
            guard let result = try answer(request, connection, clients, now) else { return }
            reply(connection, id: request.id, result)
        } catch {
            refuse(connection, id: request.id, error)
        }
    }

    private static func isBlank(_ line: [UInt8]) -> Bool {
        line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    /// True if the line is an emergency stop from a client with write access. Long lines are not
    /// searched for a stop. A stop in a long line is executed only when the line is the next
    /// request of its connection.
    func isStop(_ line: some Collection<UInt8>, from connection: ClientConnection) -> Bool {
        guard connection.mayWrite, line.count <= Self.shortLine, Self.mayBeStop(line),
            let request = try? Request(line: Array(line))
        else { return false }
        return request.method == "stop" && request.params.isEmpty
    }

    /// Executes an emergency stop before earlier requests of the same connection. When the stop
    /// becomes the next request, the handler executes it again and answers it, because an earlier
    /// request could have reset the stop.
    func hurryStop(_ connection: ClientConnection) {
        services.settle()
        try? port.request(.emergencyStop, from: CommandSource(connection.client), now: port.now)
    }

    /// True if the line can be an emergency stop and must be parsed. A line with an emergency stop
    /// contains "stop" or a backslash, because the method's name can contain JSON escapes.
    private static func mayBeStop(_ line: some Collection<UInt8>) -> Bool {
        line.contains(UInt8(ascii: "\\")) || line.firstRange(of: Array("stop".utf8)) != nil
    }

    /// Sends the deferred answer to a request, or executes a request that the `SlowRequestQueue`
    /// has parsed.
    func finish(
        _ reply: LateReplies.Reply, of connection: ClientConnection, clients: ClientStatus,
        now: Instant
    ) {
        connection.isWaiting = false
        reply.finish(self, connection, clients, now)
    }

    /// Creates a closure for the result of a request with a deferred answer. Any thread can call
    /// the closure.
    private func result(
        of request: Request, of client: DiagnosticsClient
    ) -> Later<SocketMethod.Answer> {
        let (later, id) = (later, request.id)
        return { result in
            later.post(
                LateReplies.Reply(client: client.id) { handler, connection, _, _ in
                    handler.send(
                        Result { () throws(Refusal) in
                            try handler.encode(try result.get())
                        }, to: connection, id: id)
                })
        }
    }

    /// Sends the answer or the refusal to the client.
    private func send(
        _ result: Result<[UInt8], Refusal>, to connection: ClientConnection, id: JSONValue
    ) {
        switch result {
        case .success(let bytes): reply(connection, id: id, bytes)
        case .failure(let error): refuse(connection, id: id, error)
        }
    }

    private func reply(_ connection: ClientConnection, id: JSONValue, _ result: [UInt8]) {
        let t = Number(services.time())
        connection.output.append { ReplyLine.append(id: id, t: t, result: result, to: &$0) }
    }

    /// Passes a read-only request to the `SlowRequestQueue`; further requests of the connection
    /// wait for the answer.
    private func ask(
        _ body: SlowRequestQueue.PendingRequest.Body, _ connection: ClientConnection,
        _ clients: ClientStatus
    ) {
        connection.isWaiting = true
        slowRequests.ask(
            SlowRequestQueue.PendingRequest(
                client: connection.client.id, body: body, clients: clients))
    }

    /// Sends the refusal of a request to the client.
    func refuse(_ connection: ClientConnection, id: JSONValue, _ error: Refusal) {
        let t = Number(services.time())
        connection.output.append { ReplyLine.append(id: id, t: t, error: error, to: &$0) }
    }

    private func answer(
        _ request: Request, _ connection: ClientConnection, _ clients: ClientStatus, _ now: Instant
    ) throws(Refusal) -> [UInt8]? {
        guard let method = method(request.method) else {
            ask(.request(request), connection, clients)
            return nil
        }
        let caller = SocketMethod.Caller(
            client: connection.client, refusal: connection.refusal(policy))
        if method.isWrite { try caller.requireWrite() }
        // If the client has closed its connection, no answer is sent. The client's waiting
        // read-only requests are dropped, because their answers would delay other clients.
        if connection.outputBroken, method.isQuestion { return [] }
        services.settle()
        switch method.work {
        case .question, .subscribe:
            ask(.request(request), connection, clients)
            return nil
        case .now(let body):
            return try encode(try body(try Parameters(request, method.parameters), caller))
        case .later(let body):
            let parameters = try Parameters(request, method.parameters)
            connection.isWaiting = true
            do throws(Refusal) {
                try body(parameters, caller, result(of: request, of: connection.client))
            } catch {
                // The request was refused immediately, so the connection does not wait for an
                // answer.
                connection.isWaiting = false
                throw error
            }
            return nil
        case .unsubscribe:
            return try unsubscribe(try Parameters(request, method.parameters), connection)
        case .identify:
            let before = CommandSource(connection.client)
            let identity = try connection.identify(try Parameters(request, method.parameters))
            // If the client declares itself an assistant, the connection loses control.
            if CommandSource(connection.client) != before { port.left(before, now: port.now) }
            return try encode(identity)
        }
    }

    private func encode(_ result: some Encodable) throws(Refusal) -> [UInt8] {
        do {
            return Array(try encoder.encode(result))
        } catch {
            throw Refusal(.internalError, "The answer could not be encoded: \(error).")
        }
    }
}

// MARK: Questions, on the thread of the queue
extension RequestHandler {
    /// Parses a waiting line; answers the request if it is read-only. Only the thread of the
    /// `SlowRequestQueue` calls this method.
    ///
    /// - Returns: Closure that sends the answer, or executes the request in the line; the server's
    ///   thread calls the closure.
    func prepare(_ question: SlowRequestQueue.PendingRequest) -> LateReplies.Reply.Finish {
        let request: Request
        var isChecked = false
        switch question.body {
        case .request(let question): (request, isChecked) = (question, true)
        case .line(let line):
            if Self.isBlank(line) { return { _, _, _, _ in } }
            do {
                request = try Request(line: line)
            } catch {
                return { handler, connection, _, _ in
                    handler.refuse(connection, id: error.id, error.error)
                }
            }
        }
        do {
            return try answer(request, isChecked: isChecked, question.clients)
        } catch {
            return { handler, connection, _, _ in
                handler.refuse(connection, id: request.id, error)
            }
        }
    }

    /// Answers a read-only request, or leaves the request to the server's thread. `isChecked` is
    /// true if the server's thread has already checked the write access that the method needs.
    private func answer(
        _ request: Request, isChecked: Bool, _ clients: ClientStatus
    ) throws(Refusal) -> LateReplies.Reply.Finish {
        guard let method = method(request.method) else { throw unknownMethod(request) }
        let carryOut: LateReplies.Reply.Finish = { handler, connection, clients, now in
            handler.carryOut(request, from: connection, clients: clients, now: now)
        }
        if method.isWrite, !isChecked { return carryOut }
        switch method.work {
        case .now, .later, .unsubscribe, .identify: return carryOut
        case .subscribe:
            services.settle()
            return try subscribe(try Parameters(request, method.parameters), request.id)
        case .question(let body):
            services.settle()
            let result = try encode(try body(try Parameters(request, method.parameters), clients))
            return { handler, connection, _, _ in
                handler.reply(connection, id: request.id, result)
            }
        }
    }

    private func unknownMethod(_ request: Request) -> Refusal {
        let names = methods.map(\.name)
        let hint = Suggestion.sentence(for: request.method, in: names)
        return Refusal(
            .unknownMethod,
            "There is no method \"\(request.method.prefix(64))\"."
                + (hint.isEmpty ? " The methods are: \(names.joined(separator: ", "))." : hint),
            field: "method")
    }

    /// Finds the variables of a subscription; the server's thread then begins the stream.
    private func subscribe(
        _ parameters: Parameters, _ id: JSONValue
    ) throws(Refusal) -> LateReplies.Reply.Finish {
        guard let patterns = try parameters.strings("names"), !patterns.isEmpty else {
            throw parameters.missing("names")
        }
        let rate = try parameters.number("rate") ?? 10
        let (names, indices) = try variables.resolve(patterns)
        return { handler, connection, _, now in
            handler.send(
                Result { () throws(Refusal) in
                    try handler.begin(names, indices, rate: rate, connection, now)
                }, to: connection, id: id)
        }
    }

    private func begin(
        _ names: [String], _ indices: [Int], rate: Double, _ connection: ClientConnection,
        _ now: Instant
    ) throws(Refusal) -> [UInt8] {
        guard connection.streams.count < ClientConnection.maximumStreams else {
            throw Refusal(
                .tooMany,
                "This connection has \(connection.streams.count) subscriptions, which is the maximum. "
                    + "End a subscription with unsubscribe, or put more names into one subscription."
            )
        }
        let stream = Stream(
            id: connection.nextStream, names: names, indices: indices, rateHz: rate,
            schedule: StreamSchedule(rateHz: rate, now: now))
        connection.nextStream += 1
        connection.streams.append(stream)
        return try encode(stream.info)
    }

    private func unsubscribe(_ parameters: Parameters, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]
    {
        guard let id = try parameters.integer("subscription") else {
            throw parameters.missing("subscription")
        }
        guard let index = connection.streams.firstIndex(where: { $0.id == id }) else {
            throw Refusal(
                .unknownKey, "This connection has no subscription \(id).", field: "subscription")
        }
        return try encode(connection.streams.remove(at: index).info)
    }
}
