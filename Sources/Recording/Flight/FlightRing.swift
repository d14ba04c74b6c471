/// The newest chunks of the recorder, as many as make the wanted time.
public struct FlightRing: Sendable {
    /// How long it reaches back, s.
    public let seconds: Double
    /// Oldest first.
    public private(set) var chunks: [MCAPChunk] = []
    /// Memory that the chunks take.
    public private(set) var bytes = 0

    /// An empty ring.
    ///
    /// - Parameter seconds: How long it reaches back.
    public init(seconds: Double) { self.seconds = seconds }

    /// From the beginning of the oldest message to the end of the newest, s.
    public var span: Double {
        guard let first = chunks.first, let last = chunks.last else { return 0 }
        return Double(last.end - first.start) * 1e-9
    }

    /// Adds a chunk, and forgets those that are too old.
    public mutating func append(_ chunk: MCAPChunk) {
        chunks.append(chunk)
        bytes += chunk.bytes
        while let first = chunks.first, Double(chunk.end - first.end) * 1e-9 > seconds {
            bytes -= first.bytes
            chunks.removeFirst()
        }
    }

    /// The chunks that reach back so far, and to the whole state before, so that all of it can be
    /// replayed.
    ///
    /// - Parameter seconds: Before the newest message.
    /// - Returns: The chunks, oldest first.
    public func last(_ seconds: Double) -> ArraySlice<MCAPChunk> {
        guard let end = chunks.last?.end else { return [] }
        var first = chunks.firstIndex { Double(end - $0.end) * 1e-9 < seconds } ?? chunks.endIndex
        while first > 0, chunks[first].counts[FlightChannels.state] == nil { first -= 1 }
        return chunks[first...]
    }

    /// The chunks from this number on that are still there.
    public func since(_ number: UInt64) -> ArraySlice<MCAPChunk> {
        let first = chunks.firstIndex { $0.number >= number } ?? chunks.endIndex
        return chunks[first...]
    }
}
