import GimbalCore
import Synchronization
import SystemPackage
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
    let bell: FileDescriptor
    private let bellWriter: FileDescriptor

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws {
        (bell, bellWriter) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        try? bell.close()
        try? bellWriter.close()
    }

    /// Leaves an answer and wakes the server's thread. Any thread.
    func post(_ reply: Reply) {
        replies.withLock { $0.append(reply) }
        // A full pipe rings as well.
        _ = try? bellWriter.writeAll([1])
    }

    /// Takes the answers; the server's thread only.
    func take() -> [Reply] {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { buffer in
            _ = try? bell.read(into: buffer)
        }
        return replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
    }
}
