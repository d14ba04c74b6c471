import NIOCore
import NIOWebSocket

/// Handler of the frames of one WebSocket, on its event loop. The handler joins fragments, answers
/// pings and close frames, and applies the limits.
final class SessionHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let session: WebSession
    private let endpoint: any WebSocketEndpoint
    private let ledger: Ledger
    private let limits: WebOptions.Limits
    /// Received fragments of an incomplete message; nil if there is none.
    private var fragments: (isText: Bool, bytes: [UInt8])?
    /// Message allowance: number of messages that the client can send now without exceeding its
    /// limit.
    private var allowance: Double
    private var allowanceTime = NIODeadline.now()
    private var lastHeard = NIODeadline.now()
    private var ticks: UInt8 = 0
    private var pongs = 0
    /// True from a ping of the server until the client's next pong.
    private var awaitsPong = false
    private var timer: RepeatedTask?
    private var isClosing = false

    init(
        _ session: WebSession, _ endpoint: any WebSocketEndpoint, _ ledger: Ledger,
        _ limits: WebOptions.Limits
    ) {
        self.session = session
        self.endpoint = endpoint
        self.ledger = ledger
        self.limits = limits
        allowance = Double(limits.messagesPerSecond)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        ledger.count(\.sessions)
        let tick = TimeAmount.nanoseconds(max(1_000_000, Int64(limits.idle * 1e9 / 4)))
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            bound.value.tick()
        }
        endpoint.opened(session)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        let (code, reason) = session.finished()
        fragments = nil
        endpoint.closed(session, code: code, reason: reason)
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        session.flush()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ServerStops { end(code: 1001, reason: "the server stops") }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength:
            fail(.message, 1009, "the message is too large", isDecoderAlive: false)
        case is NIOWebSocketError:
            fail(.protocolError, 1002, "wrong control frame", isDecoderAlive: false)
        default:
            // After an invalid frame, the connection is closing, and all further bytes are dropped.
            // Any error other than an invalid frame closes the connection immediately.
            if !isClosing { context.close(promise: nil) }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if isClosing || session.isClosed {
            // The server's close frame is already queued. Therefore all frames except the client's
            // close frame are ignored.
            let channel = context.channel
            if frame.opcode == .connectionClose {
                context.eventLoop.execute { channel.close(promise: nil) }
            }
            return
        }
        guard frame.maskKey != nil, frame.reservedBits.isEmpty else {
            return fail(.protocolError, 1002, "unmasked frame or reserved bits")
        }
        let bytes = Array(frame.unmaskedData.readableBytesView)
        switch frame.opcode {
        case .text, .binary:
            guard fragments == nil else {
                return fail(
                    .protocolError, 1002,
                    "a new message began before the end of a fragmented message")
            }
            take(bytes, isText: frame.opcode == .text, isLast: frame.fin)
        case .continuation:
            guard var message = fragments else {
                return fail(.protocolError, 1002, "a continuation without a beginning")
            }
            fragments = nil
            guard message.bytes.count + bytes.count <= limits.message else {
                return fail(.message, 1009, "the message is too large")
            }
            message.bytes += bytes
            take(message.bytes, isText: message.isText, isLast: frame.fin)
        case .ping:
            guard isAllowed() else { return }
            // If a client sends pings and does not read the pongs, at most 16 pongs are queued.
            pongs = (pongs + 1) % 16
            session.put(.pong, bytes, key: "\0pong\(pongs)")
        case .pong:
            // The answer to a ping of the server does not count, so that a client can always send
            // as many messages as its limit permits.
            if awaitsPong { lastHeard = .now() } else { _ = isAllowed() }
            awaitsPong = false
        case .connectionClose: closed(bytes)
        default: fail(.protocolError, 1002, "unknown opcode")
        }
    }

    private func take(_ bytes: [UInt8], isText: Bool, isLast: Bool) {
        guard isLast else {
            fragments = (isText, bytes)
            return
        }
        guard isAllowed() else { return }
        if isText, (try? UTF8Span(validating: bytes.span)) == nil {
            return fail(.encoding, 1007, "the text is not UTF-8")
        }
        ledger.count(\.received)
        endpoint.received(WebMessage(isText: isText, bytes: bytes), from: session)
    }

    /// Decrements the client's message allowance, and stores the time of the message. If the
    /// allowance is exhausted, the connection is closed, and the result is false.
    private func isAllowed() -> Bool {
        lastHeard = .now()
        let rate = Double(limits.messagesPerSecond)
        let passed = Double((lastHeard - allowanceTime).nanoseconds) * 1e-9
        allowance = min(rate, allowance + passed * rate) - 1
        allowanceTime = lastHeard
        guard allowance >= 0 else {
            fail(.rate, 1008, "too many messages")
            return false
        }
        return true
    }

    /// Answers the client's close frame with the same code. If the frame is invalid, the answer
    /// contains the code of the error.
    private func closed(_ payload: [UInt8]) {
        func fail(_ cause: WebRefusal, _ code: Int, _ reason: String) {
            ledger.refuse(cause)
            end(code: code, reason: reason, answersClose: true)
        }
        guard payload.count >= 2 else {
            guard payload.isEmpty else {
                return fail(.protocolError, 1002, "wrong close frame")
            }
            session.note(code: 1005, reason: "")
            return end(code: nil, reason: "", answersClose: true)
        }
        let code = Int(payload[0]) << 8 | Int(payload[1])
        guard
            (1000...1014).contains(code) && !(1004...1006).contains(code)
                || (3000...4999).contains(code)
        else { return fail(.protocolError, 1002, "wrong close code") }
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
            return fail(.encoding, 1007, "the reason is not UTF-8")
        }
        session.note(code: code, reason: reason)
        end(code: code, reason: "", answersClose: true)
    }

    private func fail(
        _ cause: WebRefusal, _ code: Int, _ reason: String, isDecoderAlive: Bool = true
    ) {
        guard !isClosing else { return }
        ledger.refuse(cause)
        end(code: code, reason: reason, linger: isDecoderAlive ? .seconds(2) : .milliseconds(500))
    }

    private func end(
        code: Int?, reason: String, answersClose: Bool = false, linger: TimeAmount = .seconds(2)
    ) {
        isClosing = true
        fragments = nil
        // A client sends nothing after its close frame. Therefore the connection ends as soon as
        // the server's close frame is sent.
        session.end(code: code, reason: reason, linger: answersClose ? .milliseconds(20) : linger)
    }

    /// Closes the connection of a silent client. Each second call sends a ping.
    private func tick() {
        guard !isClosing else { return }
        let now = NIODeadline.now()
        if Double((now - lastHeard).nanoseconds) * 1e-9 >= limits.idle {
            return fail(.idle, 1008, "the client does not answer")
        }
        ticks &+= 1
        if ticks % 2 == 0 {
            awaitsPong = true
            session.put(.ping, [ticks], key: "\0ping")
        }
    }
}
