import NIOCore
import NIOPosix
import Synchronization
import WebServing
import Wire

/// One open page: its WebSocket and its connection to airframed. Every message is a line of the
/// diagnostics protocol. The tab forwards lines unchanged in both directions.
final class Tab: WebSocketEndpoint {
    /// Largest total size of waiting requests, bytes. These requests wait for the connection, or
    /// airframed has not yet read them.
    static let requestLimit = 128 * 1024
    /// Longest line from airframed, bytes.
    static let lineLimit = 4 * 1024 * 1024

    private enum State {
        /// airframed has not confirmed the page's access rights. The associated values are the
        /// connection, which is nil while it is being opened, and the waiting requests.
        case connecting((any Channel)?, [UInt8])
        case open(any Channel)
        case closed
    }

    private let gateway: Gateway
    /// Name of the connection in airframed's `history`, and in `status` while the page is in
    /// control.
    private let name: String
    private let canWrite: Bool
    private let browser: String?
    private let state = Mutex(State.connecting(nil, []))

    /// - Parameters:
    ///   - gateway: The gateway, which counts the open pages.
    ///   - name: Name of the user's browser, such as "web, Chrome, Android, 192.168.1.20".
    ///   - canWrite: True if the page has write access.
    ///   - browser: ID of the paired browser; nil without a token.
    init(_ gateway: Gateway, name: String, canWrite: Bool, browser: String?) {
        self.gateway = gateway
        self.name = name
        self.canWrite = canWrite
        self.browser = browser
    }

    func opened(_ session: WebSession) {
        // Several requests can be accepted before the page of the first request is open.
        guard gateway.add(session, browser: browser) else {
            state.withLock { $0 = .closed }
            return session.close(code: 1013, reason: gateway.refusal)
        }
        session.keep()
        ClientBootstrap(group: gateway.group)
            .connectTimeout(.seconds(2))
            .channelOption(
                .writeBufferWaterMark,
                value: .init(low: Self.requestLimit / 2, high: Self.requestLimit)
            )
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DaemonLines(self, session))
                }
            }
            .connect(unixDomainSocketPath: gateway.path)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel, session)
                case .failure: session.close(code: 1013, reason: "airframed does not answer.")
                }
            }
    }

    private func connected(_ channel: any Channel, _ session: WebSession) {
        let identity = Request(
            id: .int(0), method: "client",
            params: ["name": .string(name), "read_only": .bool(!canWrite)])
        let isOpen = state.withLock { state in
            guard case .connecting(_, let waiting) = state else { return false }
            channel.writeAndFlush(ByteBuffer(bytes: identity.line + [0x0A]), promise: nil)
            state = .connecting(channel, waiting)
            return true
        }
        if !isOpen { channel.close(promise: nil) }
    }

    /// Sends the waiting requests, after airframed has confirmed the page's access rights. airframed
    /// executes a stop before earlier requests, so a stop must not follow the request for read-only
    /// access before airframed has executed that request.
    fileprivate func identified() {
        state.withLock { state in
            guard case .connecting(let channel?, let waiting) = state else { return }
            channel.writeAndFlush(ByteBuffer(bytes: waiting), promise: nil)
            state = .open(channel)
        }
    }

    func received(_ message: WebMessage, from session: WebSession) {
        guard message.isText else {
            return session.close(code: 1003, reason: "Messages must be text.")
        }
        // A line break would end the message, so each line break is replaced by a space. In JSON,
        // line breaks and spaces are both white space.
        let line = message.bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A]
        let isTaken = state.withLock { state in
            switch state {
            case .connecting(let channel, let waiting):
                guard waiting.count + line.count <= Self.requestLimit else { return false }
                state = .connecting(channel, waiting + line)
                return true
            case .open(let channel):
                guard channel.isWritable else { return false }
                channel.writeAndFlush(ByteBuffer(bytes: line), promise: nil)
                return true
            case .closed: return true
            }
        }
        if !isTaken {
            session.close(code: 1013, reason: "airframed does not read this page's requests.")
        }
    }

    func closed(_ session: WebSession, code: Int, reason: String) {
        gateway.remove(session)
        let channel = state.withLock { state -> (any Channel)? in
            defer { state = .closed }
            return switch state {
            case .connecting(let channel, _): channel
            case .open(let channel): channel
            case .closed: nil
            }
        }
        channel?.close(promise: nil)
    }
}

/// Handler of the lines from airframed, on the gateway's thread.
private final class DaemonLines: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tab: Tab
    private let session: WebSession
    private var rest: [UInt8] = []
    /// True if airframed has accepted the connection's name and access rights.
    private var isIdentified = false

    init(_ tab: Tab, _ session: WebSession) {
        self.tab = tab
        self.session = session
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest += unwrapInboundIn(data).readableBytesView
        var start = 0
        while let end = rest[start...].firstIndex(of: 0x0A) {
            pass(rest[start..<end])
            start = end + 1
        }
        rest.removeFirst(start)
        guard rest.count <= Tab.lineLimit else { return context.close(promise: nil) }
    }

    private func pass(_ line: ArraySlice<UInt8>) {
        guard isIdentified else {
            // If airframed refuses the identification, the page's access rights are unknown.
            // Therefore the page gets no connection.
            guard let answer = try? JSONValue(parsing: Array(line)), answer["result"] != nil else {
                return session.close(
                    code: 1011,
                    reason: "airframed does not support the method `client`: update airframed.")
            }
            isIdentified = true
            return tab.identified()
        }
        session.send(.text(utf8: Array(line)), replacing: Self.stream(line))
    }

    /// Name of the stream that contains a line; nil for lines outside any stream. A slow page
    /// receives only the newest line of each stream.
    private static func stream(_ line: ArraySlice<UInt8>) -> String? {
        let head = Array("{\"subscription\":".utf8)
        guard line.starts(with: head) else { return nil }
        return String(
            decoding: line.dropFirst(head.count).prefix { (0x30...0x39).contains($0) },
            as: UTF8.self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        session.close(code: 1012, reason: "airframed has closed the connection.")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
