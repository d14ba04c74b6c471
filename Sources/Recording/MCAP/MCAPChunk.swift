internal import Persistence

/// A stretch of messages as it stands in a file: compressed, with its index. Made once, written as
/// often as wanted.
public struct MCAPChunk: Sendable {
    /// Counts up by one with each chunk of a recorder.
    public var number: UInt64
    /// The earliest `log_time`, ns.
    public var start: Int64
    /// The latest `log_time`, ns.
    public var end: Int64
    /// Messages by channel.
    public var counts: [UInt16: Int]
    /// The content of the chunk record, then its message index records, compressed: they are
    /// regular.
    fileprivate let block: ChunkMemory.Block
    /// How much of the block is the content.
    fileprivate let contentSize: Int
    /// How long the index records are in a file.
    let indexSize: Int
    /// Where each channel's index record stands, from the first.
    let indexOffsets: [UInt16: Int]
    let compression: String
    let compressedSize: Int
    let uncompressedSize: Int

    /// Memory that it takes, bytes.
    public var bytes: Int { block.count }

    /// What it takes in a file, bytes.
    public var fileBytes: Int { contentSize + indexSize + 9 }

    /// The content of the chunk record, and the index records that follow it.
    var parts: (content: [UInt8], index: [UInt8]) {
        let bytes = block.bytes
        guard bytes.count > contentSize else { return ([], []) }
        let packed = bytes[contentSize...]
        if packed.count == indexSize { return (Array(bytes[..<contentSize]), Array(packed)) }
        let index = packed.withUnsafeBytes { Zstd.decompress($0, size: indexSize) }
        return (Array(bytes[..<contentSize]), index ?? [])
    }

    /// Messages in it.
    public var messages: Int { counts.values.reduce(0, +) }
}

/// Collects messages, and makes chunks of them.
struct MCAPChunkBuilder {
    private var records: [UInt8] = []
    private var entries = MCAPMessageIndex.Entries()
    private var start = Int64.max
    private var end = Int64.min
    private var next: UInt64 = 0
    private let compressor = ZstdCompressor()
    private let memory = ChunkMemory()

    /// Whether there is nothing yet.
    var isEmpty: Bool { records.isEmpty }
    /// Uncompressed bytes so far.
    var size: Int { records.count }
    /// The earliest time so far, ns; nil without messages.
    var firstTime: Int64? { isEmpty ? nil : start }

    /// Adds a message.
    ///
    /// - Parameters:
    ///   - channel: Its number.
    ///   - sequence: The tick.
    ///   - time: When it was true, ns.
    ///   - data: Appends the payload.
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

    /// What has been added, compressed; starts afresh.
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

    /// Compressed, or as it is where that is not shorter.
    private func pack(_ index: [UInt8]) -> [UInt8] {
        let packed = index.withUnsafeBytes { compressor.compress($0) } ?? index
        return packed.count < index.count ? packed : index
    }
}
