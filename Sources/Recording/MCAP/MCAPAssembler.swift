internal import Persistence

/// Description of a channel; a reader needs the description to decode the messages.
public struct MCAPChannel: Sendable {
    /// ID of the channel in the file; its schema has the same ID.
    public var id: UInt16
    /// Topic of the channel, for example `/tick`.
    public var topic: String
    /// Full name of the message type.
    public var schemaName: String
    /// Schema of the type: a FileDescriptorSet of Protocol Buffers.
    public var schema: [UInt8]

    /// Encoding of schemas and messages.
    static let encoding = "protobuf"

    func appendSchema(to bytes: inout [UInt8]) {
        bytes.appendRecord(.schema) { bytes in
            bytes.appendInteger(id)
            bytes.appendText(schemaName)
            bytes.appendText(Self.encoding)
            bytes.appendInteger(UInt32(schema.count))
            bytes += schema
        }
    }

    func appendChannel(to bytes: inout [UInt8]) {
        bytes.appendRecord(.channel) { bytes in
            bytes.appendInteger(id)
            bytes.appendInteger(id)
            bytes.appendText(topic)
            bytes.appendText(Self.encoding)
            bytes.appendMap([:])
        }
    }
}

/// A file that is embedded in the recording.
public struct MCAPAttachment: Sendable {
    /// File name, for example `settings.toml`.
    public var name: String
    /// Media type, for example `text/plain`, `application/json`.
    public var mediaType: String
    /// Time from which the content was valid, ns.
    public var time: Int64
    /// Content of the file.
    public var data: [UInt8]

    /// Creates an embedded file with the given content.
    public init(name: String, mediaType: String, time: Int64, data: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.time = time
        self.data = data
    }
}

/// Positions of a chunk and of the chunk's index in a file, with the data for the summary.
struct MCAPChunkPlace {
    var start: Int64
    var end: Int64
    /// Position and length of the chunk's record, bytes.
    var position: Int
    var length: Int
    /// Position of each channel's index in the file.
    var indexOffsets: [UInt16: Int]
    /// Total length of the index records after the chunk, bytes.
    var indexSize: Int
    var compression: String
    var compressedSize: Int
    var uncompressedSize: Int
    /// Number of messages by channel.
    var counts: [UInt16: Int]
}

/// Assembler that creates the bytes of an MCAP file piece by piece. The caller writes the pieces in
/// the order of their creation. The assembler also collects the data for the summary at the end. A
/// file without a summary can be read up to its last complete piece.
///
/// Source: MCAP File Format Specification, https://mcap.dev/spec.
public struct MCAPAssembler: Sendable {
    private var channels: [MCAPChannel]
    /// Length of the file so far, bytes.
    public private(set) var size = 0
    /// Number of messages in the file so far.
    public private(set) var messages = 0
    /// The earliest and latest `log_time` so far, ns; nil without messages.
    public private(set) var span: ClosedRange<Int64>?

    private var chunkIndices: [UInt8] = []
    private var attachmentIndices: [UInt8] = []
    private var metadataIndices: [UInt8] = []
    private var chunks: UInt32 = 0
    private var attachments: UInt32 = 0
    private var metadata: UInt32 = 0
    private var counts: [UInt16: Int] = [:]

    /// Creates an assembler for a file with the given channels.
    public init(channels: [MCAPChannel]) { self.channels = channels }

    /// Create the first bytes of the file.
    ///
    /// - Parameter library: Name and version of the program that writes the file.
    /// - Returns: Magic bytes, header, schemas and channels.
    public mutating func begin(library: String) -> [UInt8] {
        var bytes = MCAPOpcode.magic
        bytes.appendRecord(.header) { bytes in
            bytes.appendText("")
            bytes.appendText(library)
        }
        for channel in channels { channel.appendSchema(to: &bytes) }
        for channel in channels { channel.appendChannel(to: &bytes) }
        size += bytes.count
        return bytes
    }

    /// Creates an assembler for an existing file, at the position of its first record. The caller
    /// then adds each record of the file with `note`.
    static func adopting() -> MCAPAssembler {
        var assembler = MCAPAssembler(channels: [])
        assembler.size = MCAPOpcode.magic.count
        return assembler
    }

    /// Adds an existing channel record, which begins at position `size` of the file, after the
    /// record of its schema.
    mutating func note(_ channel: MCAPChannel, length: Int) {
        channels.append(channel)
        size += length
    }

    /// Create the bytes of a chunk and of the index of its messages.
    public mutating func append(_ chunk: MCAPChunk) -> [UInt8] {
        let parts = chunk.parts
        var bytes: [UInt8] = []
        bytes.reserveCapacity(chunk.fileBytes)
        bytes.appendRecord(.chunk) { $0 += parts.content }
        let length = bytes.count
        let indexStart = size + length
        bytes += parts.index
        note(
            MCAPChunkPlace(
                start: chunk.start, end: chunk.end, position: size, length: length,
                indexOffsets: chunk.indexOffsets.mapValues { indexStart + $0 },
                indexSize: chunk.indexSize, compression: chunk.compression,
                compressedSize: chunk.compressedSize,
                uncompressedSize: chunk.uncompressedSize, counts: chunk.counts))
        return bytes
    }

    /// Adds an existing chunk and its index.
    mutating func note(_ place: MCAPChunkPlace) {
        chunkIndices.appendRecord(.chunkIndex) { index in
            index.appendInteger(place.start)
            index.appendInteger(place.end)
            index.appendInteger(UInt64(place.position))
            index.appendInteger(UInt64(place.length))
            index.appendInteger(UInt32(place.indexOffsets.count * 10))
            for (channel, offset) in place.indexOffsets.sorted(by: { $0.key < $1.key }) {
                index.appendInteger(channel)
                index.appendInteger(UInt64(offset))
            }
            index.appendInteger(UInt64(place.indexSize))
            index.appendText(place.compression)
            index.appendInteger(UInt64(place.compressedSize))
            index.appendInteger(UInt64(place.uncompressedSize))
        }
        chunks += 1
        for (channel, count) in place.counts {
            counts[channel, default: 0] += count
            messages += count
        }
        if !place.counts.isEmpty {
            let old = span ?? place.start...place.end
            span = min(old.lowerBound, place.start)...max(old.upperBound, place.end)
        }
        size = place.position + place.length + place.indexSize
    }

    /// Create the bytes of an embedded file.
    public mutating func append(_ attachment: MCAPAttachment) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendRecord(.attachment) { bytes in
            let start = bytes.count
            bytes.appendInteger(attachment.time)
            bytes.appendInteger(attachment.time)
            bytes.appendText(attachment.name)
            bytes.appendText(attachment.mediaType)
            bytes.appendInteger(UInt64(attachment.data.count))
            bytes += attachment.data
            bytes.appendInteger(CRC32.checksum(bytes[start...]))
        }
        note(attachment, dataSize: attachment.data.count, length: bytes.count)
        return bytes
    }

    /// Adds an existing attachment record, which begins at position `size` of the file; only the
    /// names in `attachment` are used.
    mutating func note(_ attachment: MCAPAttachment, dataSize: Int, length: Int) {
        let position = size
        attachmentIndices.appendRecord(.attachmentIndex) { index in
            index.appendInteger(UInt64(position))
            index.appendInteger(UInt64(length))
            index.appendInteger(attachment.time)
            index.appendInteger(attachment.time)
            index.appendInteger(UInt64(dataSize))
            index.appendText(attachment.name)
            index.appendText(attachment.mediaType)
        }
        attachments += 1
        size += length
    }

    /// Create the bytes of a metadata record with names and values.
    public mutating func append(metadata name: String, _ values: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendRecord(.metadata) { bytes in
            bytes.appendText(name)
            bytes.appendMap(values)
        }
        note(metadata: name, length: bytes.count)
        return bytes
    }

    /// Adds an existing metadata record, which begins at position `size` of the file.
    mutating func note(metadata name: String, length: Int) {
        let position = size
        metadataIndices.appendRecord(.metadataIndex) { index in
            index.appendInteger(UInt64(position))
            index.appendInteger(UInt64(length))
            index.appendText(name)
        }
        metadata += 1
        size += length
    }

    /// Adds an existing record that begins at position `size` of the file and has no entry in the
    /// summary.
    mutating func note(length: Int) { size += length }

    /// Create the last bytes of the file: summary, offsets of the summary, and footer.
    public mutating func finish() -> [UInt8] {
        var bytes: [UInt8] = []
        // The optional checksum of the data section is omitted (0), because every chunk and
        // attachment has its own checksum.
        bytes.appendRecord(.dataEnd) { $0.appendInteger(UInt32(0)) }
        let summaryStart = size + bytes.count
        let dataEnd = bytes.count
        var groups: [(MCAPOpcode, Int, Int)] = []
        func group(_ opcode: MCAPOpcode, _ content: (inout [UInt8]) -> Void) {
            let start = bytes.count
            content(&bytes)
            if bytes.count > start { groups.append((opcode, size + start, bytes.count - start)) }
        }
        group(.schema) { for channel in channels { channel.appendSchema(to: &$0) } }
        group(.channel) { for channel in channels { channel.appendChannel(to: &$0) } }
        group(.statistics) { appendStatistics(to: &$0) }
        group(.chunkIndex) { $0 += chunkIndices }
        group(.attachmentIndex) { $0 += attachmentIndices }
        group(.metadataIndex) { $0 += metadataIndices }
        let offsetStart = size + bytes.count
        for (opcode, start, length) in groups {
            bytes.appendRecord(.summaryOffset) { bytes in
                bytes.append(opcode.rawValue)
                bytes.appendInteger(UInt64(start))
                bytes.appendInteger(UInt64(length))
            }
        }
        bytes.appendRecord(.footer) { bytes in
            bytes.appendInteger(UInt64(summaryStart))
            bytes.appendInteger(UInt64(offsetStart))
            bytes.appendInteger(UInt32(0))
        }
        // The checksum covers the summary, and the footer up to the checksum field. `bytes` already
        // contains the footer's length field.
        let crc = CRC32.checksum(bytes[dataEnd..<bytes.count - 4])
        bytes.removeLast(4)
        bytes.appendInteger(crc)
        bytes += MCAPOpcode.magic
        size += bytes.count
        return bytes
    }

    private func appendStatistics(to bytes: inout [UInt8]) {
        bytes.appendRecord(.statistics) { bytes in
            bytes.appendInteger(UInt64(messages))
            bytes.appendInteger(UInt16(channels.count))
            bytes.appendInteger(UInt32(channels.count))
            bytes.appendInteger(attachments)
            bytes.appendInteger(metadata)
            bytes.appendInteger(chunks)
            bytes.appendInteger(span?.lowerBound ?? 0)
            bytes.appendInteger(span?.upperBound ?? 0)
            bytes.appendInteger(UInt32(counts.count * 10))
            for (channel, count) in counts.sorted(by: { $0.key < $1.key }) {
                bytes.appendInteger(channel)
                bytes.appendInteger(UInt64(count))
            }
        }
    }
}
