import FoundationEssentials
import Synchronization
public import WebServing

/// Counters of the phones' messages since the start of the server.
public struct AerieCounters: Sendable, Equatable {
    /// Number of frames from admitted phones.
    public internal(set) var frames = 0
    /// Number of authentication failures: rejected `AuthRequest`s, frames before an accepted
    /// `AuthRequest`, and connections without an `AuthRequest`.
    public internal(set) var unauthenticated = 0
    /// Number of messages that could not be decoded.
    public internal(set) var malformed = 0
    /// Number of received messages whose type only the server may send.
    public internal(set) var unexpected = 0
    /// Number of frames with an unusable pose, optics or picture.
    public internal(set) var unusable = 0
    /// Number of broadcasts that were sent.
    public internal(set) var broadcasts = 0
}

/// Server for phones with the app HawkSight, compatible with the original Aerie server. The server
/// admits phones, receives their frames, and broadcasts the positions of detected people. The class
/// is thread-safe.
///
/// The server does not examine frames; `AerieWorker` examines them.
public final class AerieServer: WebApplication {
    private struct Session {
        let id: String
        let end: Double
    }

    private struct State {
        var devices: [AerieDevice] = []
        var sessions: [String: Session] = [:]
        var counters = AerieCounters()
        var check: TokenCheck
    }

    let options: AerieOptions
    let frames = FrameQueue()
    private let state: Mutex<State>
    private let web = Mutex<WebServer?>(nil)
    private let local: LocalPages?

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - options: Address, secret and limits.
    ///   - local: HTTP pages for programs on this computer; nil if there are none.
    public init(_ options: AerieOptions, local: LocalPages? = nil) {
        self.options = options
        self.local = local
        state = Mutex(
            State(
                check: TokenCheck(
                    secret: options.secret, acceptsLegacy: options.acceptsLegacyToken)))
    }

    /// Opens the listening socket, and begins to serve phones.
    ///
    /// - Throws: An error if the address cannot be used.
    public func start() throws(WebServerError) {
        let server = try WebServer(options.web, self)
        web.withLock { $0 = server }
    }

    /// Closes all connections. Do not call this method from one of the server's callbacks.
    public func stop() {
        let server = web.withLock { web in
            defer { web = nil }
            return web
        }
        server?.stop()
    }

    /// Reads the files of a changed certificate, see `WebServer.renewCertificate`.
    ///
    /// - Returns: Reason why the changed files cannot be used; nil if there is no such problem.
    public func renewCertificate() -> String? {
        let server = web.withLock { $0 }
        return server?.renewCertificate()
    }

    /// Port on which the server listens; 0 before `start()`.
    public var port: Int { web.withLock { $0?.port } ?? 0 }
    /// The web server's connection counters.
    public var connections: WebCounters? { web.withLock { $0?.counters } }
    /// Counters of the phones' messages.
    public var counters: AerieCounters { state.withLock { $0.counters } }
    /// Number of frames that a newer frame of the same phone replaced, and number of frames that
    /// `AerieWorker` took.
    public var examined: (replaced: Int, taken: Int) { frames.counts }
    /// Number of admitted phones.
    public var phones: Int { admitted.count }

    var admitted: [AerieDevice] { state.withLock { $0.devices }.filter(\.isAdmitted) }

    func count(_ counter: any WritableKeyPath<AerieCounters, Int> & Sendable) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }

    func message(_ type: MessageType, _ body: some Encodable) -> Message {
        // Encoding cannot fail, because every number in the server's messages is finite.
        (try? Message(type, timestamp: options.now(), body))
            ?? Message(type: type, timestamp: options.now(), payload: Data())
    }

    /// Sends the positions of the people in one phone's picture to all admitted phones. In the
    /// queue of a slow receiver, a broadcast replaces the waiting broadcast about the same phone.
    func broadcast(_ people: PoseBroadcast, source: String) {
        count(\.broadcasts)
        let message = message(.poseBroadcast, people)
        for device in admitted { device.send(message, replacing: source) }
    }

    // MARK: Connections, on the event-loop thread

    func opened(_ device: AerieDevice) { state.withLock { $0.devices.append(device) } }

    func closed(_ device: AerieDevice) {
        frames.drop(device)
        let isGone = state.withLock { state -> Bool in
            state.devices.removeAll { $0 === device }
            // The session ends with the connection, unless a newer connection continues the
            // session. A client that was not admitted can have the name of an admitted phone.
            guard device.isAdmitted,
                !state.devices.contains(where: { $0.id == device.id && $0.isAdmitted })
            else { return false }
            state.sessions[device.id] = nil
            return true
        }
        if isGone { local?.note([], device: device.id) }
    }

    /// Admits a phone. An earlier connection of the same phone is closed.
    ///
    /// - Returns: `AuthResponse` with the session's ID. If the phone's earlier session has not
    ///   ended, the phone continues this session.
    func admit(_ request: AuthRequest, _ device: AerieDevice) -> AuthResponse {
        let now = options.now()
        let (answer, earlier) = state.withLock { state -> (AuthResponse, [AerieDevice]) in
            guard state.check.isValid(request, device: device.id, now: now) else {
                return (AuthResponse(success: false, error: AerieDevice.Problem.token), [])
            }
            let phones = Set(state.devices.filter(\.isAdmitted).map(\.id)).union([device.id])
            guard phones.count <= options.phones else {
                return (AuthResponse(success: false, error: AerieDevice.Problem.full), [])
            }
            let others = state.devices.filter {
                $0.id == device.id && $0 !== device && $0.isAdmitted
            }
            if let session = state.sessions[device.id], now <= session.end {
                return (AuthResponse(success: true, sessionId: session.id), others)
            }
            let session = Session(id: UUID().uuidString, end: now + options.session)
            state.sessions[device.id] = session
            return (AuthResponse(success: true, sessionId: session.id), others)
        }
        for other in earlier {
            other.close(code: 1008, reason: "the same device has opened a newer connection")
        }
        return answer
    }

    // MARK: WebApplication

    /// Answers requests for the original Aerie server's pages: `/` returns one line of text, and
    /// `/status` returns counters.
    public func respond(
        to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void
    ) {
        switch request.path {
        case "/": answer(WebResponse(200, text: "FalconEye Aerie Server - Running"))
        case "/status": answer(status)
        default:
            let isLocal = request.address == "127.0.0.1" || request.address == "::1"
            answer(
                (isLocal ? local?.answer(request, phones: admitted) : nil)
                    ?? WebResponse(404, text: "There is no such page.\n"))
        }
    }

    /// Accepts a WebSocket at the path `/ws/connect/DEVICE`. The name DEVICE has 1...128 bytes, all
    /// of printable characters, because `airframe-eyes aerie phones` displays the name.
    public func decide(on request: WebRequest) -> WebSocketDecision {
        let prefix = "/ws/connect/"
        let id = String(request.path.dropFirst(prefix.count))
        guard request.path.hasPrefix(prefix), (1...128).contains(id.utf8.count),
            !id.contains("/"), id.unicodeScalars.allSatisfy(\.isPrintable)
        else { return .refuse(WebResponse(404, text: "There is no such socket.\n")) }
        // Until the phone is admitted, a new connection can replace this connection.
        return .accept(AerieDevice(id: id, server: self), isKept: false)
    }

    private var status: WebResponse {
        struct Status: Encodable {
            let running = true
            let activeSessions: Int
            let totalConnections: Int
            let authenticatedConnections: Int
            let timestamp: String
        }
        let now = options.now()
        let status = state.withLock { state in
            Status(
                activeSessions: state.sessions.values.count { now <= $0.end },
                totalConnections: state.devices.count,
                authenticatedConnections: state.devices.count(where: \.isAdmitted),
                timestamp: Date(timeIntervalSince1970: now).formatted(.iso8601))
        }
        let body = (try? JSONEncoder().encode(status)).map { Array($0) } ?? []
        return WebResponse(
            200, headers: [("content-type", "application/json; charset=utf-8")], body: .bytes(body))
    }
}
