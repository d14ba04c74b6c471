import FoundationEssentials
import Synchronization
import WebServing

/// Connection to one phone. The connection receives the phone's messages, and stores the phone's
/// newest pose and admission state. The class is thread-safe.
final class AerieDevice: WebSocketEndpoint {
    /// Error messages that the phone's app displays. The messages have the same wording as in the
    /// original Aerie server.
    enum Problem {
        static let token = "Invalid authentication token"
        static let notAuthenticated = "Device not authenticated"
        static let full = "Too many devices"
        static let encoding = "Invalid message encoding"
        static let format = "The data couldn’t be read because it isn’t in the correct format."
        static let missing = "The data couldn’t be read because it is missing."
    }

    private struct State {
        var session: WebSession?
        var isAdmitted = false
        var info: DeviceInfo?
        var pose: DevicePose?
        var poseTime = 0.0
        var poses = 0
        var frames = 0
    }

    /// Name of the phone, from the path of the phone's request.
    let id: String
    private let server: AerieServer
    private let state = Mutex(State())

    init(id: String, server: AerieServer) {
        self.id = id
        self.server = server
    }

    var isAdmitted: Bool { state.withLock { $0.isAdmitted } }
    var info: DeviceInfo? { state.withLock { $0.info } }
    /// Number of frames received from the phone.
    var frames: Int { state.withLock { $0.frames } }
    /// Newest pose of the phone, its time of arrival on CLOCK_MONOTONIC, s, and its number. The
    /// number counts only the frames whose pose `AerieWorker` has read; it can be smaller than
    /// `frames`, because a newer frame replaces a waiting frame.
    var pose: (pose: DevicePose, time: Double, number: Int)? {
        state.withLock { state in state.pose.map { ($0, state.poseTime, state.poses) } }
    }

    func note(_ pose: DevicePose, arrival: Double) {
        state.withLock {
            $0.pose = pose
            $0.poseTime = arrival
            $0.poses += 1
        }
    }

    /// Sends a message to the phone. A message with a key replaces a waiting message that has the
    /// same key.
    func send(_ message: Message, replacing key: String? = nil) {
        state.withLock { $0.session }?.send(.text(utf8: message.text), replacing: key)
    }

    /// Sends an error message to the phone, in the format of the original Aerie server.
    func refuse(_ problem: String) {
        send(server.message(.authResponse, AuthResponse(success: false, error: problem)))
    }

    func close(code: Int, reason: String) {
        state.withLock { $0.session }?.close(code: code, reason: reason)
    }

    // MARK: Events, on the event-loop thread

    func opened(_ session: WebSession) {
        state.withLock { $0.session = session }
        server.opened(self)
        session.after(server.options.authentication) { [weak self] in
            guard let self, !isAdmitted else { return }
            server.count(\.unauthenticated)
            session.close(code: 1008, reason: "no valid authRequest in time")
        }
    }

    func closed(_ session: WebSession, code: Int, reason: String) {
        state.withLock { $0.session = nil }
        server.closed(self)
    }

    func received(_ message: WebMessage, from session: WebSession) {
        guard message.isText else { return refuse(Problem.encoding) }
        do {
            let envelope = try JSONDecoder().decode(Message.self, from: Data(message.bytes))
            switch envelope.type {
            case .heartbeat:
                send(
                    Message(
                        type: .heartbeat, timestamp: server.options.now(),
                        payload: Data(#"{"pong": true}"#.utf8)), replacing: "heartbeat")
            case .authRequest:
                admit(try JSONDecoder().decode(AuthRequest.self, from: envelope.payload))
            case .cameraFrame:
                guard isAdmitted else {
                    server.count(\.unauthenticated)
                    return refuse(Problem.notAuthenticated)
                }
                state.withLock { $0.frames += 1 }
                server.count(\.frames)
                server.frames.put(
                    .init(
                        device: self, payload: envelope.payload, arrival: AerieClock.monotonic()))
            case .authResponse, .poseBroadcast: server.count(\.unexpected)
            }
        } catch {
            server.count(\.malformed)
            refuse(Self.sentence(error))
        }
    }

    /// Text for a decoding error, with the original Aerie server's wording.
    static func sentence(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound, DecodingError.valueNotFound: Problem.missing
        default: Problem.format
        }
    }

    private func admit(_ request: AuthRequest) {
        let answer = server.admit(request, self)
        if answer.success {
            let session = state.withLock {
                $0.isAdmitted = true
                $0.info = request.deviceInfo.printable
                return $0.session
            }
            session?.keep()
        } else {
            server.count(\.unauthenticated)
        }
        send(server.message(.authResponse, answer))
    }
}
