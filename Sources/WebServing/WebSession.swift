import NIOCore
import NIOWebSocket
import Synchronization

/// Open WebSocket of one client. The class is thread-safe.
///
/// Messages wait in a bounded buffer while the client is slow. A message with a key replaces a
/// waiting message with the same key. Therefore a slow client receives the newest values.
public final class WebSession: Sendable {
    /// ID of this session, unique in the server.
    public let id: UInt64
    /// HTTP request that started the session.
    public let request: WebRequest

    /// Frame in the queue for the client.
    private struct Entry {
        let opcode: WebSocketOpcode
        let bytes: [UInt8]
        let key: String?
    }

    private struct Outbox {
        var entries = CircularBuffer<Entry>()
        var size = 0
        var isScheduled = false
        var isClosed = false
        /// Code and reason for the event `closed`, from the first close frame in either direction.
        var end: (code: Int, reason: String)?
        var replaced = 0
    }

    private let outbox = Mutex(Outbox())
    private let channel: any Channel
    private let connection: Ledger.ConnectionID
    private let ledger: Ledger
    private let limit: Int

    init(
        id: UInt64, request: WebRequest, channel: any Channel, connection: Ledger.ConnectionID,
        ledger: Ledger, limits: WebOptions.Limits
    ) {
        self.id = id
        self.request = request
        self.channel = channel
        self.connection = connection
        self.ledger = ledger
        limit = limits.outgoing
    }

    /// True if no further frame can be sent, for example after `close`.
    var isClosed: Bool { outbox.withLock { $0.isClosed } }

    /// Number of waiting messages that were replaced by a newer message because this client was
    /// slow.
    public var replaced: Int { outbox.withLock { $0.replaced } }

    /// Sends a message, immediately or when the client can receive it.
    ///
    /// - Parameters:
    ///   - message: Message of text or of binary data.
    ///   - key: Key of a waiting message to replace; nil to replace no message. If the waiting
    ///     messages exceed `Limits.outgoing`, the session is closed.
    /// - Returns: True if the message will be sent; false if the session is closed.
    @discardableResult
    public func send(_ message: WebMessage, replacing key: String? = nil) -> Bool {
        put(message.isText ? .text : .binary, message.bytes, key: key)
    }

    /// Protects the connection from replacement by a new connection, after the client has
    /// authenticated (see `WebSocketDecision.accept`).
    public func keep() { ledger.keep(connection, isTrusted: false) }

    /// Ends the session: sends the waiting messages and a close frame, then closes the connection.
    ///
    /// - Parameters:
    ///   - code: Code of the close frame, 1000...4999 (RFC 6455, section 7.4).
    ///   - reason: Reason in the close frame, truncated to 123 bytes.
    public func close(code: Int = 1000, reason: String = "") {
        end(code: code, reason: reason, linger: .seconds(2))
    }

    /// Runs `body` on the event-loop thread after the given time, s, unless the connection ends
    /// before.
    public func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
        schedule(in: .nanoseconds(Int64(seconds * 1e9)), body)
    }

    /// Runs `body` after a time. The end of the connection cancels the task; otherwise, the memory
    /// of a closed connection would be used until this time.
    private func schedule(in time: TimeAmount, _ body: @escaping @Sendable () -> Void) {
        let task = channel.eventLoop.scheduleTask(in: time, body)
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    /// Adds a close frame after the waiting messages. The connection closes after the client's
    /// answer to the close frame, at the latest after `linger`.
    func end(code: Int?, reason: String, linger: TimeAmount) {
        var payload: [UInt8] = []
        if let code {
            payload = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
            var rest = 123
            for character in reason {
                guard character.utf8.count <= rest else { break }
                rest -= character.utf8.count
                payload += Array(character.utf8)
            }
        }
        outbox.withLock { if $0.end == nil { $0.end = (code ?? 1005, reason) } }
        // The first of several close frames is sent; the first of their times closes the connection.
        put(.connectionClose, payload, key: nil)
        let channel = channel
        schedule(in: linger) { channel.close(promise: nil) }
    }

    /// Closes the connection of an unresponsive client immediately.
    private func drop() {
        ledger.refuse(.slow)
        outbox.withLock {
            $0.isClosed = true
            $0.entries.removeAll()
            $0.size = 0
            if $0.end == nil { $0.end = (1008, "the client reads too slowly") }
        }
        channel.close(promise: nil)
    }

    /// Sends a frame of any kind.
    @discardableResult
    func put(_ opcode: WebSocketOpcode, _ bytes: [UInt8], key: String?) -> Bool {
        var hasReplaced = false
        let (isOpen, isFull, isFirst) = outbox.withLock { box in
            guard !box.isClosed else { return (false, false, false) }
            let entry = Entry(opcode: opcode, bytes: bytes, key: key)
            if let key, let index = box.entries.firstIndex(where: { $0.key == key }) {
                box.size += bytes.count - box.entries[index].bytes.count
                box.entries[index] = entry
                box.replaced += 1
                hasReplaced = true
            } else {
                box.size += bytes.count
                box.entries.append(entry)
            }
            // No frame follows a close frame, also not a message that another thread sends now: a
            // browser then reports an abnormal end without the reason.
            if opcode == .connectionClose { box.isClosed = true }
            let isFirst = !box.isScheduled
            box.isScheduled = true
            // A single message of any size can wait. Several messages can wait only if their total
            // size is within the limit.
            let isFull = box.entries.count > 1 && box.size + 64 * box.entries.count > limit
            return (true, isFull && opcode != .connectionClose, isFirst)
        }
        if hasReplaced { ledger.count(\.replaced) }
        if isFull {
            drop()
            return false
        }
        if isFirst { channel.eventLoop.execute { self.flush() } }
        return isOpen
    }

    /// Writes waiting frames until the connection accepts no more. Call this method on the event
    /// loop.
    func flush() {
        channel.eventLoop.assertInEventLoop()
        outbox.withLock { $0.isScheduled = false }
        var hasWritten = false
        while channel.isWritable {
            let next = outbox.withLock { box -> Entry? in
                guard let entry = box.entries.popFirst() else { return nil }
                box.size -= entry.bytes.count
                return entry
            }
            guard let next else { break }
            channel.write(
                WebSocketFrame(
                    fin: true, opcode: next.opcode, data: ByteBuffer(bytes: next.bytes)),
                promise: nil)
            hasWritten = true
        }
        if hasWritten { channel.flush() }
    }

    /// Empties the outbox after the end of the connection, and returns code and reason for the
    /// event `closed`.
    func finished() -> (code: Int, reason: String) {
        outbox.withLock { box in
            box.isClosed = true
            box.entries.removeAll()
            box.size = 0
            return box.end ?? (1006, "")
        }
    }

    /// Stores code and reason of the client's close frame, unless there was an earlier close frame.
    func note(code: Int, reason: String) {
        outbox.withLock { if $0.end == nil { $0.end = (code, reason) } }
    }
}
