import NIOCore
import NIOWebSocket
import Synchronization

/// Open WebSocket of one client. Thread-safe.
///
/// Messages wait in a bounded buffer while the client is slow. A message with a key replaces the
/// waiting one with the same key, so a slow client gets the newest values instead of a backlog.
public final class WebSession: Sendable {
    /// Number of this session, unique in its server.
    public let id: UInt64
    /// The request that began it.
    public let request: WebRequest

    /// Frame that waits for the client.
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
        /// Code and text for `closed`: those of the first close frame, in either direction.
        var end: (code: Int, reason: String)?
        var replaced = 0
    }

    private let outbox = Mutex(Outbox())
    private let channel: any Channel
    private let ledger: Ledger
    private let limit: Int

    init(
        id: UInt64, request: WebRequest, channel: any Channel, ledger: Ledger,
        limits: WebOptions.Limits
    ) {
        self.id = id
        self.request = request
        self.channel = channel
        self.ledger = ledger
        limit = limits.outgoing
    }

    /// Number of messages that a newer one replaced, because this client was slow.
    public var replaced: Int { outbox.withLock { $0.replaced } }

    /// Sends a message, at once or when the client is ready.
    ///
    /// - Parameters:
    ///   - message: Text or bytes.
    ///   - key: A waiting message with this key is replaced; nil: nothing is replaced. If messages without
    ///     a key, or with many different keys, exceed `Limits.outgoing`, the session is closed.
    /// - Returns: false if the session is closed.
    @discardableResult
    public func send(_ message: WebMessage, replacing key: String? = nil) -> Bool {
        put(message.isText ? .text : .binary, message.bytes, key: key)
    }

    /// Ends the session: waiting messages, then a close frame, then the connection.
    ///
    /// - Parameters:
    ///   - code: 1000 to 4999 (RFC 6455, section 7.4).
    ///   - reason: At most 123 bytes; the rest is cut.
    public func close(code: Int = 1000, reason: String = "") {
        end(code: code, reason: reason, linger: .seconds(2))
    }

    /// Runs `body` on the event-loop thread after some time, also if the session has ended by then.
    public func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
        channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9)), body)
    }

    /// Puts a close frame behind the waiting messages and closes the connection when the client has
    /// answered, or after `linger`.
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
        guard put(.connectionClose, payload, key: nil) else { return }
        outbox.withLock { $0.isClosed = true }
        let channel = channel
        channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
    }

    /// Closes the connection at once, because the client does not read.
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
            let isFirst = !box.isScheduled
            box.isScheduled = true
            // One message of any size can wait; more only within the limit.
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

    /// Writes waiting frames while the connection takes them. On the event loop.
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

    /// Code and text for `closed`, after the connection has ended; the outbox is empty then.
    func finished() -> (code: Int, reason: String) {
        outbox.withLock { box in
            box.isClosed = true
            box.entries.removeAll()
            box.size = 0
            return box.end ?? (1006, "")
        }
    }

    /// Notes the client's close frame; the first frame counts.
    func note(code: Int, reason: String) {
        outbox.withLock { if $0.end == nil { $0.end = (code, reason) } }
    }
}
