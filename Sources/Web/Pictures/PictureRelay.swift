import Client
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import WebServing

/// Relay of camera pictures from airframe-eyes to paired browsers. Thread-safe.
///
/// A page requests each picture with a message on its WebSocket. The answer is the newest picture,
/// or the next picture if the page already shows the newest. The relay requests pictures from
/// airframe-eyes only while a page waits. Therefore a slow page receives fewer pictures but no old
/// pictures, and no queue grows.
final class PictureRelay: Sendable {
    /// Largest picture, bytes.
    static let pictureLimit = 2_000_000
    /// Timeout of a request to airframe-eyes, s. airframe-eyes waits 5 s for its camera.
    static let patience = 8.0
    /// Pause after a failure, s.
    static let pause = 0.5
    /// Largest age of a picture that is sent to a page immediately, s.
    static let freshness = 1.0

    private struct Viewer {
        let session: WebSession
        /// ID of the paired browser.
        let browser: String
        /// True if the page waits for a picture.
        var isAsking = false
        /// Number of the page's current picture, and the displayed problem.
        var shown: Int?
        var problem: String?
    }

    /// Progress of the request to airframe-eyes. There is at most one request, and at most one
    /// connection.
    private enum Phase {
        /// There is no request, because no page waits.
        case idle
        /// A request is in progress.
        case asking
        /// The request has failed; the next request follows after a pause.
        case pausing
    }

    private struct State {
        var viewers: [UInt64: Viewer] = [:]
        var newest: (number: Int, bytes: [UInt8], time: Double)?
        var phase = Phase.idle
        var channel: (any Channel)?
        /// Number of the last received picture, for the next request to airframe-eyes. The number
        /// is 0 on a new connection, because airframe-eyes counts from 1 after its start.
        var last = 0
        /// Counter of the requests; a timeout identifies its request by the counter's value.
        var requests = 0
    }

    private let path: String
    private let loop: any EventLoop
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: Path of airframe-eyes' socket for pictures, or `off`.
    ///   - group: Event-loop threads for the connection.
    init(path: String, group: any EventLoopGroup) {
        self.path = path
        loop = group.next()
    }

    /// Number of pages that show the video.
    var count: Int { state.withLock { $0.viewers.count } }

    /// Closes the WebSockets of browsers that are no longer paired.
    ///
    /// - Parameter ids: The paired browsers.
    func keepOnly(_ ids: Set<String>) {
        let ended = state.withLock { state in
            state.viewers.values.filter { !ids.contains($0.browser) }.map(\.session)
        }
        for session in ended { session.close(code: 4001, reason: "The pairing has ended.") }
    }

    // MARK: Pages

    fileprivate func add(_ session: WebSession, browser: String) {
        state.withLock { $0.viewers[session.id] = Viewer(session: session, browser: browser) }
    }

    fileprivate func remove(_ session: WebSession) {
        state.withLock { _ = $0.viewers.removeValue(forKey: session.id) }
    }

    /// Sends the page its next picture, immediately or as soon as a new picture exists.
    fileprivate func ask(_ session: WebSession) {
        let now = DaemonClient.now()
        let (bytes, mustFetch) = state.withLock { state -> ([UInt8]?, Bool) in
            guard var viewer = state.viewers[session.id] else { return (nil, false) }
            defer { state.viewers[session.id] = viewer }
            if let newest = state.newest, newest.number != viewer.shown,
                now - newest.time < Self.freshness
            {
                (viewer.shown, viewer.isAsking, viewer.problem) = (newest.number, false, nil)
                return (newest.bytes, false)
            }
            viewer.isAsking = true
            guard state.phase == .idle else { return (nil, false) }
            state.phase = .asking
            return (nil, true)
        }
        if let bytes { session.send(.binary(bytes), replacing: "picture") }
        if mustFetch { loop.execute { self.fetch() } }
    }

    // MARK: airframe-eyes, on the event loop

    private func fetch() {
        // The connection can have ended since a page asked; the next request then follows after the
        // pause.
        guard state.withLock({ $0.phase == .asking }) else { return }
        guard path != "off" else { return fail("The video is off (eyes.socket).") }
        if let channel = state.withLock({ $0.channel }) { return send(on: channel) }
        ClientBootstrap(group: loop)
            .connectTimeout(.seconds(2))
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(
                        NIOHTTPClientResponseAggregator(maxContentLength: Self.pictureLimit))
                    try pipeline.addHandler(PictureAnswers(self))
                }
            }
            .connect(unixDomainSocketPath: path)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel):
                    state.withLock { ($0.channel, $0.last) = (channel, 0) }
                    send(on: channel)
                case .failure:
                    fail(
                        "airframe-eyes does not answer at \(path). Check that airframe-eyes is running."
                    )
                }
            }
    }

    private func send(on channel: any Channel) {
        let (last, number) = state.withLock { state in
            state.requests += 1
            return (state.last, state.requests)
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/picture.jpg?after=\(last)",
            headers: ["host": "localhost"])
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        loop.scheduleTask(in: .nanoseconds(Int64(Self.patience * 1e9))) { [self] in
            let isLate = state.withLock {
                $0.channel === channel && $0.requests == number && $0.phase == .asking
            }
            if isLate { channel.close(promise: nil) }
        }
    }

    fileprivate func answered(_ response: NIOHTTPClientResponseFull) {
        let body = response.body.map { Array($0.readableBytesView) } ?? []
        guard response.head.status == .ok else {
            return fail(String(decoding: body.prefix(200).prefix { $0 != 10 }, as: UTF8.self))
        }
        guard body.starts(with: [0xFF, 0xD8]),
            let number = response.head.headers.first(name: "x-number").flatMap({ Int($0) })
        else { return fail("airframe-eyes sent an answer that is not a picture.") }
        let waiting = state.withLock { state in
            state.newest = (number, body, DaemonClient.now())
            (state.last, state.phase) = (number, .idle)
            let waiting = state.viewers.filter { $0.value.isAsking }
            for id in waiting.keys {
                state.viewers[id]?.isAsking = false
                state.viewers[id]?.shown = number
                state.viewers[id]?.problem = nil
            }
            return waiting.values.map(\.session)
        }
        for session in waiting { session.send(.binary(body), replacing: "picture") }
    }

    /// Handles the end of the connection. During the pause after a failure, the next request is
    /// already scheduled: airframe-eyes refuses the waiting request when it stops, and then closes
    /// the connection.
    fileprivate func ended() {
        let wasAsking = state.withLock { state in
            state.channel = nil
            return state.phase == .asking
        }
        if wasAsking { fail("airframe-eyes has closed the connection.") }
    }

    /// Sends the reason for the missing picture to all waiting pages. If a page is still waiting
    /// after a pause, the request is repeated.
    private func fail(_ sentence: String) {
        let told = state.withLock { state in
            state.phase = .pausing
            let told = state.viewers.filter { $0.value.isAsking && $0.value.problem != sentence }
            for id in told.keys { state.viewers[id]?.problem = sentence }
            return told.values.map(\.session)
        }
        for session in told { session.send(.text(sentence), replacing: "problem") }
        loop.scheduleTask(in: .nanoseconds(Int64(Self.pause * 1e9))) { [self] in
            let isWanted = state.withLock { state in
                let isWanted = state.viewers.values.contains { $0.isAsking }
                state.phase = isWanted ? .asking : .idle
                return isWanted
            }
            if isWanted { fetch() }
        }
    }
}

/// WebSocket of a page that shows the video. Each message from the page requests one picture,
/// regardless of its text. The relay sends pictures as binary messages (JPEG), and the reason for a
/// missing picture as a text message.
final class PictureViewer: WebSocketEndpoint {
    private let relay: PictureRelay
    private let browser: String

    /// - Parameters:
    ///   - relay: The source of the pictures.
    ///   - browser: ID of the paired browser.
    init(_ relay: PictureRelay, browser: String) {
        self.relay = relay
        self.browser = browser
    }

    func opened(_ session: WebSession) { relay.add(session, browser: browser) }

    func received(_ message: WebMessage, from session: WebSession) {
        guard message.isText, message.bytes.count <= 16 else {
            return session.close(
                code: 1003, reason: "A request for a picture must be a short text message.")
        }
        relay.ask(session)
    }

    func closed(_ session: WebSession, code: Int, reason: String) { relay.remove(session) }
}

/// Decoder of airframe-eyes' answers.
private final class PictureAnswers: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull

    private let relay: PictureRelay

    init(_ relay: PictureRelay) { self.relay = relay }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        relay.answered(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) { relay.ended() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
