/// Ring buffer of the newest chunks, in memory. The chunks together cover a given duration.
public struct FlightRing: Sendable {
    /// Time that the ring covers, s.
    public let seconds: Double
    /// The chunks, oldest first.
    public private(set) var chunks: [MCAPChunk] = []
    /// Memory that the chunks in the ring use, bytes.
    public private(set) var bytes = 0

    /// Creates an empty ring.
    ///
    /// - Parameter seconds: Time that the ring covers, s.
    public init(seconds: Double) { self.seconds = seconds }

    /// Time from the beginning of the oldest chunk to the end of the newest chunk, s.
    public var span: Double {
        guard let first = chunks.first, let last = chunks.last else { return 0 }
        return Double(last.end - first.start) * 1e-9
    }

    /// Adds a chunk, and removes chunks that are too old.
    public mutating func append(_ chunk: MCAPChunk) {
        chunks.append(chunk)
        bytes += chunk.bytes
        while let first = chunks.first, Double(chunk.end - first.end) * 1e-9 > seconds {
            bytes -= first.bytes
            chunks.removeFirst()
        }
    }

    /// Find the chunks of the last `seconds`. The result also contains earlier chunks back to a
    /// complete state, from which a replay can begin.
    ///
    /// - Parameter seconds: Requested duration up to the newest message, s.
    /// - Returns: The chunks, oldest first.
    public func last(_ seconds: Double) -> ArraySlice<MCAPChunk> {
        guard let end = chunks.last?.end else { return [] }
        var first = chunks.firstIndex { Double(end - $0.end) * 1e-9 < seconds } ?? chunks.endIndex
        while first > 0, chunks[first].counts[FlightChannels.state] == nil { first -= 1 }
        return chunks[first...]
    }

    /// Chunks in the ring with the given number or a higher number.
    public func since(_ number: UInt64) -> ArraySlice<MCAPChunk> {
        let first = chunks.firstIndex { $0.number >= number } ?? chunks.endIndex
        return chunks[first...]
    }
}
