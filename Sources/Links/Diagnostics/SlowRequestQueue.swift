import GimbalCore
import Synchronization
import SystemPackage
import Threads
import Wire

/// Queue of read-only requests to the daemon. A separate thread answers the requests one at a time,
/// in the order of their arrival.
///
/// The queue contains read-only requests that can be slow to parse or to answer, such as a request
/// with 64 KiB of names or a request for all settings. Therefore the server's thread parses only
/// short lines, and leaves read-only requests to the queue's thread. A request that moves or stops
/// the camera never waits for a read-only request. Each connection can have only one request in the
/// queue. Therefore one client does not delay other clients for long.
final class SlowRequestQueue: Sendable {
    /// Client's request that waits for the queue's thread.
    struct PendingRequest: Sendable {
        /// The request, as bytes or already parsed.
        enum Body: Sendable {
            /// Unparsed request line, which is too long for the server's thread to parse.
            case line([UInt8])
            /// Parsed request, which is read-only or names an unknown method.
            case request(Request)
        }

        /// The client that sent the request.
        var client: Int
        var body: Body
        /// State of the server's connections, for `status`.
        var clients: ClientStatus
    }

    private let questions = Mutex<[PendingRequest]>([])
    private let bell: WakeupPipe

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws { bell = try WakeupPipe() }

    /// Adds a read-only request to the queue. Any thread can call this method.
    func ask(_ question: PendingRequest) {
        questions.withLock { $0.append(question) }
        bell.ring()
    }

    /// Drops the waiting read-only request of a client that has disconnected. An unparsed line
    /// remains in the queue, because the line can contain a request that changes something. Any
    /// thread can call this method.
    func abandon(client: Int) {
        questions.withLock { questions in
            for index in questions.indices where questions[index].client == client {
                if case .request = questions[index].body { questions[index].body = .line([]) }
            }
        }
    }

    /// Drops all requests of a client that has disconnected. Any thread can call this method.
    func forget(client: Int) {
        questions.withLock { $0.removeAll { $0.client == client } }
    }

    /// Body of the queue's thread, which answers requests until `wake` is readable.
    ///
    /// - Parameters:
    ///   - wake: Descriptor that becomes readable when the thread must end.
    ///   - handler: Handler that computes the answers.
    ///   - later: Queue for the answers.
    func serve(until wake: FileDescriptor, handler: RequestHandler, later: LateReplies) {
        PollLoop(wake: wake).run { set in
            set.add(bell.descriptor)
            let isBusy = questions.withLock { !$0.isEmpty }
            if isBusy { set.end(by: Instant(nanoseconds: .min)) }
        } turn: { _ in
            guard let question = next() else { return }
            let finish = handler.prepare(question)
            later.post(LateReplies.Reply(client: question.client, finish: finish))
        }
    }

    private func next() -> PendingRequest? {
        bell.silence()
        return questions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
