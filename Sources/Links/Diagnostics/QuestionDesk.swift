import CLinuxShim
import GimbalCore
import Glibc
import Synchronization
import SystemPackage
import Wire

/// Answers questions on a thread of its own, one after the other, in the order in which they came.
///
/// A question changes nothing, but it may be long to read or long to answer: 64 KiB of names, every setting with its range. So the
/// server's thread reads short lines only and answers no question; what moves or stops the camera never waits for one. A
/// connection has one question here at a time, so no client keeps another waiting for more than that.
final class QuestionDesk: Sendable {
    /// A request that is answered here, or read here.
    struct Question: Sendable {
        /// The bytes, or their meaning.
        enum Body: Sendable {
            /// A line that is too long to be read by the server's thread.
            case line([UInt8])
            /// A question, or a method that does not exist.
            case request(Request)
        }

        /// Whose it is.
        var client: Int
        var body: Body
        /// The server's own part of `status`.
        var clients: ClientStatus
    }

    private let questions = Mutex<[Question]>([])
    private let bell: Bell

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws { bell = try Bell() }

    /// Leaves a question. Any thread.
    func ask(_ question: Question) {
        questions.withLock { $0.append(question) }
        bell.ring()
    }

    /// A client's question needs no answer any more, because the client has gone. A line may be more than a question, and stays. Any
    /// thread.
    func abandon(client: Int) {
        questions.withLock { questions in
            for index in questions.indices where questions[index].client == client {
                if case .request = questions[index].body { questions[index].body = .line([]) }
            }
        }
    }

    /// Forgets what a client has asked that has gone. Any thread.
    func forget(client: Int) {
        questions.withLock { $0.removeAll { $0.client == client } }
    }

    /// The body of the thread: answers until `wake` is readable.
    ///
    /// - Parameters:
    ///   - wake: Readable when the thread is to end.
    ///   - handler: Makes the answers.
    ///   - later: Where they go.
    func serve(until wake: FileDescriptor, handler: RequestHandler, later: LateReplies) {
        while wait(for: wake) {
            guard let question = next() else { continue }
            let finish = handler.prepare(question)
            later.post(LateReplies.Reply(client: question.client, finish: finish))
        }
    }

    /// Waits for a question; false at the end.
    private func wait(for wake: FileDescriptor) -> Bool {
        let isBusy = questions.withLock { !$0.isEmpty }
        var entries = [
            pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.descriptor.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        var ready: Int32 = 0
        _ = cl_socket_wait(&entries, entries.count, isBusy ? 0 : 3_600_000_000_000, &ready)
        return entries[0].revents == 0
    }

    private func next() -> Question? {
        bell.silence()
        return questions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
