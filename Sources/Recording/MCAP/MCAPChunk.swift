internal import Persistence

/// Chunk: a compressed sequence of messages with an index. A chunk is built once, and can be
/// written to several files.
public struct MCAPChunk: Sendable {
    /// Number of the chunk; it increases by one with each chunk of a recorder.
    public var number: UInt64
    /// The earliest `log_time` of the messages, ns.
    public var start: Int64
    /// The latest `log_time` of the messages, ns.
    public var end: Int64
    /// Number of messages by channel.
    public var counts: [UInt16: Int]
    /// The content of the chunk record, and the chunk's message index records. The index is also
    /// compressed in memory, because it compresses well.
    fileprivate let block: ChunkMemory.Block
    /// Size of the content in the block, bytes.
    fileprivate let contentSize: Int
    /// Length of the uncompressed index records, bytes.
    let indexSize: Int
    /// Position of each channel's index record, relative to the first index record.
    let indexOffsets: [UInt16: Int]
    let compression: String
    let compressedSize: Int
    let uncompressedSize: Int

    /// Memory that the chunk uses, bytes.
    public var bytes: Int { block.count }

    /// Size of the chunk in a file, bytes.
    public var fileBytes: Int { contentSize + indexSize + 9 }

    /// The content of the chunk record, and the index records after it.
    var parts: (content: [UInt8], index: [UInt8]) {
        let bytes = block.bytes
        guard bytes.count > contentSize else { return ([], []) }
        let packed = bytes[contentSize...]
        if packed.count == indexSize { return (Array(bytes[..<contentSize]), Array(packed)) }
        let index = packed.withUnsafeBytes { Zstd.decompress($0, size: indexSize) }
        return (Array(bytes[..<contentSize]), index ?? [])
    }

    /// Number of messages in the chunk.
    public var messages: Int { counts.values.reduce(0, +) }
}

/// Builder of chunks from messages.
struct MCAPChunkBuilder {
    private var records: [UInt8] = []
    private var entries = MCAPMessageIndex.Entries()
    private var start = Int64.max
    private var end = Int64.min
    private var next: UInt64 = 0
    private let compressor = ZstdCompressor()
    private let memory = ChunkMemory()

    /// True if the builder contains no messages.
    var isEmpty: Bool { records.isEmpty }
    /// Uncompressed size of the builder's messages so far, bytes.
    var size: Int { records.count }
    /// The earliest time of the builder's messages so far, ns; nil without messages.
    var firstTime: Int64? { isEmpty ? nil : start }

    /// Adds a message to the chunk.
    ///
    /// - Parameters:
    ///   - channel: ID of the message's channel.
    ///   - sequence: Number of the tick.
    ///   - time: Time of the message's content, ns.
    ///   - data: Closure that appends the payload.
    mutating func add(
        channel: UInt16, sequence: UInt32, time: Int64, _ data: (inout [UInt8]) -> Void
    ) {
        entries.add(channel: channel, time: time, offset: records.count)
        records.appendRecord(.message) { bytes in
            bytes.appendInteger(channel)
            bytes.appendInteger(sequence)
            bytes.appendInteger(time)
            bytes.appendInteger(time)
            data(&bytes)
        }
        start = min(start, time)
        end = max(end, time)
    }

    /// Compresses the messages into a chunk, and removes them from the builder.
    mutating func seal() -> MCAPChunk {
        var compression = "zstd"
        let crc = CRC32.checksum(records)
        let compressed = records.withUnsafeBytes { compressor.compress($0) }
        if compressed == nil { compression = "" }
        let payload = compressed ?? records
        var content: [UInt8] = []
        content.reserveCapacity(payload.count + 48)
        content.appendInteger(isEmpty ? 0 : start)
        content.appendInteger(isEmpty ? 0 : end)
        content.appendInteger(UInt64(records.count))
        content.appendInteger(crc)
        content.appendText(compression)
        content.appendInteger(UInt64(payload.count))
        content += payload
        let index = MCAPMessageIndex(entries)
        let chunk = MCAPChunk(
            number: next, start: isEmpty ? 0 : start, end: isEmpty ? 0 : end,
            counts: index.counts,
            block: memory.keep(content + pack(index.bytes)), contentSize: content.count,
            indexSize: index.bytes.count, indexOffsets: index.offsets,
            compression: compression, compressedSize: payload.count,
            uncompressedSize: records.count)
        next += 1
        records.removeAll(keepingCapacity: true)
        entries.removeAll()
        start = .max
        end = .min
        return chunk
    }

    /// Compress an index; if compression does not shorten it, return it uncompressed.
    private func pack(_ index: [UInt8]) -> [UInt8] {
        let packed = index.withUnsafeBytes { compressor.compress($0) } ?? index
        return packed.count < index.count ? packed : index
    }
}
