import GimbalCore
import Synchronization
import Wire

/// Answers that took their time, on their way from whatever thread made them to the server's.
final class LateReplies: Sendable {
    /// One of them.
    struct Reply: Sendable {
        /// Sends it, on the server's thread; `clients` and the time are those of then.
        typealias Finish =
            @Sendable (RequestHandler, ClientConnection, _ clients: ClientStatus, Instant) -> Void

        /// Whose request it was; the client may have gone.
        var client: Int
        var finish: Finish
    }

    private let replies = Mutex<[Reply]>([])
    /// Readable when there are any.
    let bell: Bell

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws { bell = try Bell() }

    /// Leaves an answer and wakes the server's thread. Any thread.
    func post(_ reply: Reply) {
        replies.withLock { $0.append(reply) }
        bell.ring()
    }

    /// Takes the answers; the server's thread only.
    func take() -> [Reply] {
        bell.silence()
        return replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
    }
}
