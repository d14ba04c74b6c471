import Dispatch
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket

/// Event for the handlers of a connection: the server is stopping.
struct ServerStops {}

/// Handler of the HTTP requests of one connection, on its event loop. The handler checks each
/// request, applies the limits, and writes the answers.
///
/// A client must complete each request within the time `Limits.handshake`. The time
/// `Limits.handshake` begins at the start of the connection or at the previous answer. A client
/// must receive each part of the answer within the time `Limits.idle`. While the application
/// computes the answer, there is no limit.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let service: WebService
    private let address: String
    /// Number of the connection.
    let id: Ledger.ConnectionID
    private let isSecure: Bool
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    /// Refusal to send instead of the application's answer; nil if the request is not refused.
    private var refusal: WebResponse?
    private var keepsAlive = true
    /// Number of the current request; nil between requests.
    private var answering: Int?
    private var requests = 0
    /// The accepted WebSocket session and its request; nil until the application has accepted a
    /// session.
    private(set) var accepted: (endpoint: any WebSocketEndpoint, request: WebRequest)?

    init(_ service: WebService, address: String, id: Ledger.ConnectionID, isSecure: Bool) {
        self.service = service
        self.address = address
        self.id = id
        self.isSecure = isSecure
    }

    private var limits: WebOptions.Limits { service.options.limits }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm(limits.handshake)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a failed WebSocket upgrade, NIO passes the request to `channelRead`, which answers
        // it.
        if error is NIOWebSocketUpgradeError { return }
        // The previous handler has already answered invalid HTTP. If the connection has ended
        // during a request, no answer is necessary.
        if let error = error as? HTTPParserError {
            guard error != .invalidEOFState else { return context.close(promise: nil) }
            service.ledger.refuse(.malformed)
        } else if error is NIOSSLError || error is BoringSSLError {
            service.ledger.refuse(.handshake)
        }
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ServerStops {
            keepsAlive = false
            if answering == nil { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            keepsAlive = keepsAlive && head.isKeepAlive && !head.headers.contains(name: "upgrade")
            if requests > 0 || refusal == nil { refusal = check(head) }
            // A refusal ends the connection, and drops its waiting requests. The event loop answers
            // all requests that it has read before it reads from other connections again.
            if refusal != nil { keepsAlive = false }
            if let text = head.headers.first(name: "content-length"), let length = Int(text),
                length > limits.body
            {
                refuse(.body, WebResponse(413, text: "The body is too large.\n"))
            }
        case .body(let part):
            guard refusal == nil else { return }
            guard body.count + part.readableBytes <= limits.body else {
                return refuse(.body, WebResponse(413, text: "The body is too large.\n"))
            }
            body += part.readableBytesView
        case .end:
            guard let head, answering == nil else { return }
            requests += 1
            answering = requests
            let number = requests
            if let refusal { return write(refusal, to: number) }
            guard let request = request(head, body: body, context.channel) else { return }
            body = []
            timer?.cancel()
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            service.application.respond(to: request) { response in
                loop.execute { bound.value.write(response, to: number) }
            }
        }
    }

    /// Refuses the request immediately, without waiting for the rest of its body.
    private func refuse(_ cause: WebRefusal, _ response: WebResponse) {
        service.ledger.refuse(cause)
        keepsAlive = false
        refusal = response
        guard answering == nil else { return }
        requests += 1
        answering = requests
        write(response, to: requests)
    }

    /// Accepts or refuses a request for a WebSocket, before the upgrade of the connection.
    ///
    /// - Returns: Header fields of the answer; nil if the request is refused.
    func upgrade(_ head: HTTPRequestHead) -> HTTPHeaders? {
        refusal = check(head)
        guard refusal == nil, let channel = context?.channel,
            let request = request(head, body: [], channel)
        else { return nil }
        switch service.application.decide(on: request) {
        case .accept(let endpoint, let headers, let isKept):
            accepted = (endpoint, request)
            if isKept { service.ledger.keep(id, isTrusted: false) }
            return HTTPHeaders(headers.map { ($0.name, $0.value) })
        case .refuse(let response):
            service.ledger.refuse(.upgrade)
            refusal = response
            return nil
        }
    }

    /// - Returns: The server's refusal of the request; nil if the application must answer.
    private func check(_ head: HTTPRequestHead) -> WebResponse? {
        let isSocket = head.headers["upgrade"].contains { $0.lowercased() == "websocket" }
        let hosts = head.headers["host"]
        guard hosts.count == 1, let host = hosts.first, service.policy.allows(host: host) else {
            service.ledger.refuse(.host)
            return WebResponse(
                421, text: "This server does not accept this host name. Use its IP address.\n")
        }
        let isGet = head.method == .GET || head.method == .HEAD
        let origins = head.headers["origin"]
        guard
            isGet && !isSocket
                || origins.count <= 1
                    && service.policy.allows(
                        origin: origins.first, host: host, isSecure: isSecure)
        else {
            service.ledger.refuse(.origin)
            return WebResponse(403, text: "Pages of another site cannot use this server.\n")
        }
        // The rate limit does not apply to a trusted client's POST requests, so other requests never
        // cause the refusal of an emergency stop. The ledger records the trust before it applies the
        // limit. Otherwise a trusted client could not begin while others use up the common limit.
        let isTrusted = isTrusted(head)
        let now = Double(NIODeadline.now().uptimeNanoseconds) * 1e-9
        if isGet || !isTrusted, let delay = service.ledger.delay(address, now: now) {
            var response = WebResponse(
                429, text: "Too many requests within a short time. Try again later.\n")
            response.headers.append(("retry-after", String(Int(delay.rounded(.up)))))
            return response
        }
        guard Target(head.uri) != nil else {
            service.ledger.refuse(.malformed)
            return WebResponse(400, text: "The path is malformed.\n")
        }
        // `upgrade` has already checked this request. The request also reaches this method if NIO
        // has refused the upgrade, for example because of the WebSocket version.
        if isSocket, accepted == nil, self.head != nil {
            service.ledger.refuse(.upgrade)
            return WebResponse(
                426, headers: [("upgrade", "websocket"), ("sec-websocket-version", "13")],
                body: .bytes([]))
        }
        return nil
    }

    /// Determines whether a request comes from a trusted client. If so, the ledger trusts the client's
    /// host (see `request`).
    private func isTrusted(_ head: HTTPRequestHead) -> Bool {
        guard let channel = context?.channel, let request = request(head, body: [], channel) else {
            return false
        }
        return service.application.trusts(request)
    }

    private func request(
        _ head: HTTPRequestHead, body: [UInt8], _ channel: any Channel
    ) -> WebRequest? {
        guard let target = Target(head.uri) else { return nil }
        let request = WebRequest(
            method: head.method.rawValue, path: target.path, query: target.query,
            headers: head.headers.map { ($0.name.lowercased(), $0.value) }, body: body,
            address: address, isSecure: isSecure, isConnected: { channel.isActive })
        if service.application.trusts(request) { service.ledger.keep(id, isTrusted: true) }
        return request
    }

    private func write(_ response: WebResponse, to number: Int) {
        guard let context, answering == number, let head else { return }
        arm(limits.idle)
        service.ledger.count(\.requests)
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "content-length", value: String(response.body.length))
        headers.replaceOrAdd(name: "x-content-type-options", value: "nosniff")
        if !keepsAlive { headers.replaceOrAdd(name: "connection", value: "close") }
        let part = wrapOutboundOut(
            .head(
                HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: response.status),
                    headers: headers)))
        guard head.method == .HEAD || response.body.length == 0 else {
            context.write(part, promise: nil)
            return pump(response.body, from: 0, number)
        }
        // The next request waits until the connection has taken this answer. Otherwise the answers
        // to a client that sends requests and reads nothing would fill the memory.
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        context.writeAndFlush(part).whenSuccess {
            loop.execute { bound.value.pump(.bytes([]), from: 0, number) }
        }
    }

    /// Writes the body of an answer in parts. Each part is read and sent after the client has
    /// received the previous part, so at most one part is in memory.
    private func pump(_ body: WebResponse.Body, from done: Int, _ number: Int) {
        guard let context, answering == number else { return }
        guard done < body.length else { return finish() }
        switch body {
        case .bytes(let bytes): send(bytes[done...].prefix(65_536), of: body, from: done, number)
        case .parts(let length, let next):
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            // The event loop does not wait for the disk, because it serves all connections.
            DispatchQueue.global(qos: .utility).async {
                let part = next(done).prefix(length - done)
                loop.execute { bound.value.send(part, of: body, from: done, number) }
            }
        }
    }

    /// Sends a part of a body, then continues with the next part. Between two parts, the event loop
    /// serves other connections.
    private func send(
        _ part: ArraySlice<UInt8>, of body: WebResponse.Body, from done: Int, _ number: Int
    ) {
        guard let context, answering == number else { return }
        guard !part.isEmpty else { return context.close(promise: nil) }
        arm(limits.idle)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let next = done + part.count
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: part)))))
            .whenSuccess { loop.execute { bound.value.pump(body, from: next, number) } }
    }

    /// Ends an answer. The state is reset before the last write, because the next request can begin
    /// during this write.
    private func finish() {
        guard let context else { return }
        guard keepsAlive else {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            return context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
                bound.value.context?.close(promise: nil)
            }
        }
        answering = nil
        head = nil
        arm(limits.handshake)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func arm(_ seconds: Double) {
        timer?.cancel()
        guard let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) {
            bound.value.expire()
        }
    }

    private func expire() {
        guard let context else { return }
        // A timeout between two requests does not count as a refusal.
        if answering != nil {
            service.ledger.refuse(.slow)
        } else if requests == 0 || head != nil {
            service.ledger.refuse(.handshake)
        }
        context.close(promise: nil)
    }
}
