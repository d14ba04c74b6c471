/// Output queue for the radio: a bounded queue of messages that drops the oldest complete message
/// when it is full, so that messages are as new as possible and frames are never torn.
public struct SerialOutput: Sendable {
    /// Counters since the start.
    public struct Counters: Sendable, Equatable {
        /// Bytes handed to the radio.
        public var sentBytes: UInt64 = 0
        /// Messages lost because the radio was too slow.
        public var droppedMessages: UInt64 = 0
        /// Their bytes.
        public var droppedBytes: UInt64 = 0
    }

    /// Counted since the start.
    public private(set) var counters = Counters()
    /// Bytes that wait.
    public private(set) var count = 0

    private let capacity: Int
    private var messages: [ArraySlice<UInt8>] = []
    /// Whether a part of the first message has been sent, so that it must be completed first.
    private var isFirstBegun = false

    /// - Parameter capacity: Bytes that may wait; more than the longest message.
    public init(capacity: Int = 1024) { self.capacity = capacity }

    /// Appends a message; the oldest ones make room. One that is longer than the whole queue is lost itself.
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

    /// Takes the next bytes, of several messages if they fit.
    ///
    /// - Parameter limit: Largest number of messages.
    /// - Returns: The bytes; none when nothing waits.
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

    /// Forgets what waits: nobody listens any more.
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
