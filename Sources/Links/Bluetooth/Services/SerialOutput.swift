/// Bounded queue of messages to the radio. When the queue is full, it drops its oldest complete
/// messages. Therefore the remaining messages are recent, and no frame is truncated.
public struct SerialOutput: Sendable {
    /// Counters of the output queue since the start of airframed.
    public struct Counters: Sendable, Equatable {
        /// Number of bytes passed to the radio.
        public var sentBytes: UInt64 = 0
        /// Number of messages that were dropped because the radio was too slow.
        public var droppedMessages: UInt64 = 0
        /// Total size of the dropped messages, bytes.
        public var droppedBytes: UInt64 = 0
    }

    /// Counters of the output queue since the start of airframed.
    public private(set) var counters = Counters()
    /// Number of bytes that wait in the queue.
    public private(set) var count = 0

    private let capacity: Int
    private var messages: [ArraySlice<UInt8>] = []
    /// True if a part of the first message has been sent; the rest of the message must then be sent
    /// next.
    private var isFirstBegun = false

    /// Creates a queue.
    ///
    /// - Parameter capacity: Largest number of waiting bytes; it must exceed the length of the
    ///   longest message.
    public init(capacity: Int = 1024) { self.capacity = capacity }

    /// Appends a message to the queue, and drops the oldest waiting messages if necessary. A
    /// message that is longer than the whole queue is dropped.
    public mutating func append(_ message: [UInt8]) {
        guard !message.isEmpty else { return }
        guard message.count <= capacity else { return noteDrop(message.count) }
        let oldest = isFirstBegun ? 1 : 0
        while count + message.count > capacity, messages.count > oldest {
            drop(messages.remove(at: oldest).count)
        }
        guard count + message.count <= capacity else { return noteDrop(message.count) }
        messages.append(message[...])
        count += message.count
    }

    /// Removes and returns the next bytes; they can belong to several messages.
    ///
    /// - Parameter limit: Largest number of bytes to return.
    /// - Returns: The removed bytes; empty if no bytes wait.
    public mutating func next(_ limit: Int) -> [UInt8] {
        var piece: [UInt8] = []
        while piece.count < limit, let first = messages.first {
            let part = first.prefix(limit - piece.count)
            piece += part
            isFirstBegun = part.count < first.count
            if isFirstBegun {
                messages[0] = first.dropFirst(part.count)
            } else {
                messages.removeFirst()
            }
        }
        count -= piece.count
        counters.sentBytes &+= UInt64(piece.count)
        return piece
    }

    /// Discards the waiting bytes, because no client is subscribed.
    public mutating func clear() {
        messages = []
        count = 0
        isFirstBegun = false
    }

    private mutating func drop(_ bytes: Int) {
        count -= bytes
        noteDrop(bytes)
    }

    private mutating func noteDrop(_ bytes: Int) {
        counters.droppedMessages &+= 1
        counters.droppedBytes &+= UInt64(bytes)
    }
}
