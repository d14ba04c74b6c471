import FoundationEssentials
import Synchronization
public import WebServing

/// Counters of phones' messages since the start.
public struct AerieCounters: Sendable, Equatable {
    /// Frames of admitted phones.
    public internal(set) var frames = 0
    /// Refused requests to be admitted, frames before it, and connections without one.
    public internal(set) var unauthenticated = 0
    /// Messages that could not be decoded.
    public internal(set) var malformed = 0
    /// Messages that only the server sends.
    public internal(set) var unexpected = 0
    /// Frames with a pose, optics or picture that cannot be used.
    public internal(set) var unusable = 0
    /// Broadcasts.
    public internal(set) var broadcasts = 0
}

/// Server for phones with HawkSight, compatible with Aerie: admits phones, receives their frames and
/// broadcasts people. Thread-safe.
///
/// It does not examine frames; `AerieWorker` does.
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
    let desk = FrameDesk()
    private let state: Mutex<State>
    private let web = Mutex<WebServer?>(nil)
    private let local: LocalPages?

    /// Creates a server that does not listen.
    ///
    /// - Parameters:
    ///   - options: Address, secret and limits.
    ///   - local: Pages for programs on this computer; nil: none.
    public init(_ options: AerieOptions, local: LocalPages? = nil) {
        self.options = options
        self.local = local
        state = Mutex(
            State(
                check: TokenCheck(
                    secret: options.secret, acceptsLegacy: options.acceptsLegacyToken)))
    }

    /// Listens.
    ///
    /// - Throws: An address that cannot be used.
    public func start() throws(WebServerError) {
        let server = try WebServer(options.web, self)
        web.withLock { $0 = server }
    }

    /// Closes all connections. Not from a callback.
    public func stop() {
        let server = web.withLock { web in
            defer { web = nil }
            return web
        }
        server?.stop()
    }

    /// Port on which the server listens; 0 before `start()`.
    public var port: Int { web.withLock { $0?.port } ?? 0 }
    /// Counters of the connections.
    public var connections: WebCounters? { web.withLock { $0?.counters } }
    /// Counters of the messages.
    public var counters: AerieCounters { state.withLock { $0.counters } }
    /// Number of frames that were not examined because a newer one of the same phone came, and of
    /// those that were.
    public var examined: (replaced: Int, taken: Int) { desk.counts }
    /// Number of admitted phones.
    public var phones: Int { admitted.count }

    var admitted: [AerieDevice] { state.withLock { $0.devices }.filter(\.isAdmitted) }

    func count(_ counter: any WritableKeyPath<AerieCounters, Int> & Sendable) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }

    func message(_ type: MessageType, _ body: some Encodable) -> Message {
        // Every number of the server's messages is finite.
        (try? Message(type, timestamp: options.now(), body))
            ?? Message(type: type, timestamp: options.now(), payload: Data())
    }

    /// Sends people to every admitted phone. At a slow phone a newer broadcast about the same source
    /// replaces the waiting one.
    func broadcast(_ people: PoseBroadcast, source: String) {
        count(\.broadcasts)
        let message = message(.poseBroadcast, people)
        for device in admitted { device.send(message, replacing: source) }
    }

    // MARK: Connections, on the event-loop thread

    func opened(_ device: AerieDevice) { state.withLock { $0.devices.append(device) } }

    func closed(_ device: AerieDevice) {
        desk.drop(device)
        local?.note([], device: device.id)
        state.withLock { state in
            state.devices.removeAll { $0 === device }
            // The session ends with the connection, unless a newer one has taken it over.
            if device.isAdmitted,
                !state.devices.contains(where: { $0.id == device.id && $0.isAdmitted })
            {
                state.sessions[device.id] = nil
            }
        }
    }

    /// Admits a phone. An earlier connection of the same phone is closed.
    ///
    /// - Returns: The answer with the name of the session, which is the earlier one if that has not ended.
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
        for other in earlier { other.close(code: 1008, reason: "the device has connected again") }
        return answer
    }

    // MARK: WebApplication

    /// Answers the original's pages: a line of text at `/`, numbers at `/status`.
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

    /// Accepts `/ws/connect/DEVICE`; the name of the device has 1...128 printable bytes.
    public func decide(on request: WebRequest) -> WebSocketDecision {
        let prefix = "/ws/connect/"
        let id = String(request.path.dropFirst(prefix.count))
        guard request.path.hasPrefix(prefix), (1...128).contains(id.utf8.count),
            !id.contains("/")
        else { return .refuse(WebResponse(404, text: "There is no such socket.\n")) }
        return .accept(AerieDevice(id: id, server: self))
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
