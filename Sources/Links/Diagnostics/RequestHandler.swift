import PlainText
import FoundationEssentials
import GimbalCore
import Port
import Wire

/// Answers one request: checks the parameters and the right to write, asks the backend, encodes the result.
///
/// Requests that move, stop or change something are answered at once, on the server's thread; questions go to the `QuestionDesk`.
struct RequestHandler: Sendable {
    /// Bytes of a line that the server's thread reads itself: many times those of any request but a list of names or a text.
    static let shortLine = 1024

    let backend: any DiagnosticsBackend
    let policy: AccessPolicy
    let variables: VariableIndex
    private let later: LateReplies
    private let desk: QuestionDesk
    private let encoder: JSONEncoder

    init(
        backend: any DiagnosticsBackend, policy: AccessPolicy, later: LateReplies,
        desk: QuestionDesk
    ) {
        self.later = later
        self.desk = desk
        self.backend = backend
        self.policy = policy
        variables = VariableIndex(backend.variables)
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// Answers one line.
    ///
    /// - Parameters:
    ///   - line: What the client sent, nil when it was too long to be kept.
    ///   - connection: Where it came from and where the reply goes.
    ///   - clients: The server's own part of `status`.
    ///   - now: On the server's clock.
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
                    "The line is longer than \(limit) bytes; it is skipped up to its newline."))
        }
        guard bytes.count <= Self.shortLine else {
            return ask(.line(bytes), connection, clients)
        }
        // A blank line is what a person types, and what a file ends with.
        if Self.isBlank(bytes) { return }
        do {
            carryOut(try Request(line: bytes), from: connection, clients: clients, now: now)
        } catch {
            refuse(connection, id: error.id, error.error)
        }
    }

    /// Answers a request that has been read.
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

    /// True for a stop by a client that may write. A long line is not looked through: it has its turn.
    func isStop(_ line: some Collection<UInt8>, from connection: ClientConnection) -> Bool {
        guard connection.mayWrite, line.count <= Self.shortLine, Self.mayBeStop(line),
            let request = try? Request(line: Array(line))
        else { return false }
        return request.method == Method.stop.rawValue && request.params.isEmpty
    }

    /// Carries a stop out that waits behind other requests of its connection. It is answered, and carried out once more, in its
    /// turn: so a reset before it cannot undo it.
    func hurryStop(_ connection: ClientConnection) {
        backend.settle()
        _ = backend.stop(client: connection.client)
    }

    /// Whether the line has to be parsed to know: the name may be written with escapes.
    private static func mayBeStop(_ line: some Collection<UInt8>) -> Bool {
        line.contains(UInt8(ascii: "\\")) || line.firstRange(of: Array("stop".utf8)) != nil
    }

    /// Sends what has become of a request that took its time, or does what the desk has read of it.
    func finish(
        _ reply: LateReplies.Reply, of connection: ClientConnection, clients: ClientStatus,
        now: Instant
    ) {
        connection.isWaiting = false
        reply.finish(self, connection, clients, now)
    }

    /// Lets the connection wait for an answer that comes later.
    ///
    /// - Parameters:
    ///   - request: What is answered.
    ///   - connection: Whose further requests wait.
    ///   - start: Begins the work, and is given where its result goes.
    /// - Returns: Nil: there is no answer yet.
    func wait<Value: Encodable & Sendable>(
        _ request: Request, _ connection: ClientConnection,
        _ start: (@escaping Later<Value>) -> Void
    ) -> [UInt8]? {
        connection.isWaiting = true
        let (later, id, client) = (later, request.id, connection.client.id)
        start { result in
            later.post(
                LateReplies.Reply(client: client) { handler, connection, _, _ in
                    handler.send(
                        Result { () throws(Refusal) in
                            try handler.encode(try result.get())
                        }, to: connection, id: id)
                })
        }
        return nil
    }

    /// Sends an answer or a refusal.
    private func send(
        _ result: Result<[UInt8], Refusal>, to connection: ClientConnection, id: JSONValue
    ) {
        switch result {
        case .success(let bytes): reply(connection, id: id, bytes)
        case .failure(let error): refuse(connection, id: id, error)
        }
    }

    private func reply(_ connection: ClientConnection, id: JSONValue, _ result: [UInt8]) {
        let t = Number(backend.time())
        connection.output.append { ReplyLine.append(id: id, t: t, result: result, to: &$0) }
    }

    /// Leaves a question at the desk; the connection's further requests wait for it.
    private func ask(
        _ body: QuestionDesk.Question.Body, _ connection: ClientConnection, _ clients: ClientStatus
    ) {
        connection.isWaiting = true
        desk.ask(
            QuestionDesk.Question(client: connection.client.id, body: body, clients: clients))
    }

    /// Sends a refusal.
    func refuse(_ connection: ClientConnection, id: JSONValue, _ error: Refusal) {
        let t = Number(backend.time())
        connection.output.append { ReplyLine.append(id: id, t: t, error: error, to: &$0) }
    }

    private func answer(
        _ request: Request, _ connection: ClientConnection, _ clients: ClientStatus, _ now: Instant
    ) throws(Refusal) -> [UInt8]? {
        guard let method = Method(rawValue: request.method) else {
            ask(.request(request), connection, clients)
            return nil
        }
        if method.isWrite { try requireWrite(connection) }
        // Whoever has hung up reads no answer: a backlog of questions must not keep others waiting.
        if connection.outputBroken, method.isQuestion { return [] }
        backend.settle()
        switch method {
        case .status, .doctor, .version, .keys, .get, .diff, .history, .log, .variables, .subscribe:
            ask(.request(request), connection, clients)
            return nil
        case .ping:
            _ = try Parameters(request)
            return try encode(Acknowledgement("pong"))
        case .set, .save, .baseline, .reload:
            return try configure(method, request, connection)
        case .mode, .point, .rate, .track, .motorTest, .drive, .step, .stop, .resetStop, .take,
            .release:
            return try move(method, request, connection.client)
        case .calibrate:
            return try calibrate(request, connection)
        case .autotune:
            return try autotune(request, connection)
        case .pair:
            return try pair(request, connection)
        case .record:
            return try record(request, connection)
        case .spectrum:
            return try spectrum(request, connection)
        case .unsubscribe:
            return try unsubscribe(request, connection)
        }
    }

    func requireWrite(_ connection: ClientConnection) throws(Refusal) {
        guard connection.mayWrite else {
            throw Refusal(.permissionDenied, policy.sentence)
        }
    }

    func encode(_ result: some Encodable) throws(Refusal) -> [UInt8] {
        do {
            return Array(try encoder.encode(result))
        } catch {
            throw Refusal(.internalError, "The answer could not be encoded: \(error).")
        }
    }
}

// Questions: on the desk's thread.
extension RequestHandler {
    /// Reads and answers a question. The desk's thread.
    ///
    /// - Returns: Sends the answer, or carries the request out that the line was. The server's thread.
    func prepare(_ question: QuestionDesk.Question) -> LateReplies.Reply.Finish {
        let request: Request
        switch question.body {
        case .request(let question): request = question
        case .line(let line):
            if Self.isBlank(line) { return { _, _, _, _ in } }
            do {
                request = try Request(line: line)
            } catch {
                return { handler, connection, _, _ in
                    handler.refuse(connection, id: error.id, error.error)
                }
            }
            if Method(rawValue: request.method)?.isQuestion == false {
                return { handler, connection, clients, now in
                    handler.carryOut(request, from: connection, clients: clients, now: now)
                }
            }
        }
        backend.settle()
        do {
            return try answer(request, question.clients)
        } catch {
            return { handler, connection, _, _ in
                handler.refuse(connection, id: request.id, error)
            }
        }
    }

    private func answer(_ request: Request, _ clients: ClientStatus)
        throws(Refusal) -> LateReplies.Reply.Finish
    {
        guard let method = Method(rawValue: request.method) else { throw unknownMethod(request) }
        switch method {
        case .subscribe: return try subscribe(request)
        case .unsubscribe, .ping:
            return { handler, connection, clients, now in
                handler.carryOut(request, from: connection, clients: clients, now: now)
            }
        default:
            let result = try read(method, request, clients)
            return { handler, connection, _, _ in
                handler.reply(connection, id: request.id, result)
            }
        }
    }

    private func unknownMethod(_ request: Request) -> Refusal {
        let names = Method.allCases.map(\.rawValue)
        let hint = Suggestion.sentence(for: request.method, in: names)
        return Refusal(
            .unknownMethod,
            "There is no method \"\(request.method.prefix(64))\"."
                + (hint.isEmpty ? " There are: \(names.joined(separator: ", "))." : hint),
            field: "method")
    }

    private func read(_ method: Method, _ request: Request, _ clients: ClientStatus)
        throws(Refusal) -> [UInt8]
    {
        if method == .get { return try get(request) }
        if method == .log { return try log(request) }
        _ = try Parameters(request)
        switch method {
        case .status:
            var status = backend.status()
            status.clients = clients
            return try encode(status)
        case .doctor: return try encode(backend.doctor())
        case .version: return try encode(backend.version())
        case .keys: return try encode(backend.settings())
        case .diff: return try encode(backend.diff())
        case .history: return try encode(backend.history())
        default: return try encode(backend.variables)
        }
    }

    private func log(_ request: Request) throws(Refusal) -> [UInt8] {
        let parameters = try Parameters(request, ["since", "limit"])
        let since = try parameters.integer("since", in: 0...Int.max)
        let limit = try parameters.integer("limit", in: 1...200) ?? 100
        return try encode(backend.log(since: since, limit: limit))
    }

    /// The names are looked up here, the stream begins on the server's thread.
    private func subscribe(_ request: Request) throws(Refusal) -> LateReplies.Reply.Finish {
        let parameters = try Parameters(request, ["names", "rate"])
        guard let patterns = try parameters.strings("names"), !patterns.isEmpty else {
            throw parameters.missing("names")
        }
        let rate =
            try parameters.number("rate", in: StreamSchedule.allowedHz, unit: "Hz") ?? 10
        let (names, indices) = try variables.resolve(patterns)
        return { handler, connection, _, now in
            handler.send(
                Result { () throws(Refusal) in
                    try handler.begin(names, indices, rate: rate, connection, now)
                }, to: connection, id: request.id)
        }
    }

    private func begin(
        _ names: [String], _ indices: [Int], rate: Double, _ connection: ClientConnection,
        _ now: Instant
    ) throws(Refusal) -> [UInt8] {
        guard connection.streams.count < ClientConnection.maximumStreams else {
            throw Refusal(
                .tooMany,
                "This connection has \(connection.streams.count) subscriptions, the most there can be. "
                    + "End one with unsubscribe, or put more names into one.")
        }
        let stream = Stream(
            id: connection.nextStream, names: names, indices: indices, rateHz: rate,
            schedule: StreamSchedule(rateHz: rate, now: now))
        connection.nextStream += 1
        connection.streams.append(stream)
        return try encode(stream.info)
    }

    private func unsubscribe(_ request: Request, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]
    {
        let parameters = try Parameters(request, ["subscription"])
        guard let id = try parameters.integer("subscription", in: 1...Int.max) else {
            throw parameters.missing("subscription")
        }
        guard let index = connection.streams.firstIndex(where: { $0.id == id }) else {
            throw Refusal(
                .unknownKey, "This connection has no subscription \(id).", field: "subscription")
        }
        return try encode(connection.streams.remove(at: index).info)
    }
}
