import GimbalCore
import Synchronization
import Threads
import Wire

/// Queue of deferred answers, from the threads that produce the answers to the server's thread.
final class LateReplies: Sendable {
    /// Deferred answer to a request, and the client that receives it.
    struct Reply: Sendable {
        /// Sends the answer, on the server's thread; `clients` and `now` are the values at the time
        /// of sending.
        typealias Finish =
            @Sendable (RequestHandler, ClientConnection, _ clients: ClientStatus, Instant) -> Void

        /// The client of the request, which may have disconnected.
        var client: Int
        var finish: Finish
    }

    private let replies = Mutex<[Reply]>([])
    /// Descriptor that is readable while answers wait.
    let bell: WakeupPipe

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws { bell = try WakeupPipe() }

    /// Adds a deferred answer, and wakes the server's thread. Any thread can call this method.
    func post(_ reply: Reply) {
        replies.withLock { $0.append(reply) }
        bell.ring()
    }

    /// Removes and returns all answers; only the server's thread calls this method.
    func take() -> [Reply] {
        bell.silence()
        return replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
    }
}
