internal import Persistence

/// Reader of the records of an MCAP file, in order from its beginning. In a damaged file, the
/// reader reads the part before the damage.
///
/// The reader does not need the summary at the end. The reader can therefore also read a file whose
/// writer ended unexpectedly.
public struct MCAPReader: Sendable {
    /// One item in an MCAP file.
    public enum Item {
        /// A metadata record with names and values.
        case metadata(name: String, values: [String: String])
        /// An embedded file.
        case attachment(MCAPAttachment)
        /// A message with its topic and schema. The data is valid only during the call of `visit`.
        case message(topic: String, schema: String, time: Int64, data: UnsafeRawBufferPointer)
    }

    /// Readable part of the file, and the reasons why the file is not complete.
    public struct Outcome: Sendable, Equatable {
        /// Number of valid bytes from the beginning of the file.
        public var readBytes = 0
        /// Number of chunks that were read completely.
        public var chunks = 0
        /// Problems of the file, as sentences; empty for a complete file.
        public var remarks: [String] = []
        /// True if the data section is complete, and the file ends with the magic bytes.
        public var isComplete = false
        /// Largest permitted size of the remaining chunks after decompression, bytes.
        var room = Int.max
    }

    private struct Channel {
        var topic: String
        var schema: String
    }

    private let bytes: [UInt8]
    /// Largest size of a chunk, bytes. The limit prevents a damaged length field from exhausting
    /// the memory. The chunks of the recorder have a size of about 300 kB.
    static let chunkLimit: UInt64 = 1 << 24
    /// Limit of the decompressed size of all chunks: `factor` times the size of the file, plus
    /// `bytes`. The compressed size of a recording is between a tenth and a half of its
    /// uncompressed size.
    static let expansion = (factor: 50, bytes: 4_000_000)

    /// Creates a reader.
    ///
    /// - Parameter bytes: Content of a whole file, including its magic bytes.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Visits all items in the data section, in the order of the file.
    ///
    /// - Parameter visit: Function that receives each item. If the function returns false, no
    ///   further items are passed to it.
    /// - Returns: The readable part of the file.
    public func read(_ visit: (Item) -> Bool) -> Outcome {
        bytes.withUnsafeBytes { raw in
            var outcome = Outcome()
            outcome.room = Self.expansion.bytes + Self.expansion.factor * raw.count
            var channels: [UInt16: Channel] = [:]
            var schemas: [UInt16: String] = [:]
            var cursor = MCAPCursor(raw, at: MCAPOpcode.magic.count)
            outcome.readBytes = cursor.offset
            while cursor.rest > 0 {
                guard let opcode = cursor.integer(UInt8.self), let content = cursor.longBlock()
                else {
                    outcome.remarks.append(
                        "the file ends in the middle of a record: the last \(raw.count - outcome.readBytes) of \(raw.count) bytes are lost"
                    )
                    return outcome
                }
                if case .dataEnd? = MCAPOpcode(rawValue: opcode) {
                    outcome.isComplete = raw.suffix(8).elementsEqual(MCAPOpcode.magic)
                    outcome.readBytes = raw.count
                    if !outcome.isComplete {
                        outcome.remarks.append(
                            "the summary of the file is cut off; the data is complete")
                    }
                    return outcome
                }
                let problem = Self.take(
                    opcode, content, &schemas, &channels, &outcome, visit)
                if let problem {
                    if problem.isEmpty { return outcome }
                    outcome.remarks.append("at byte \(outcome.readBytes) \(problem)")
                }
                outcome.readBytes = cursor.offset
            }
            outcome.remarks.append(
                "the writing program did not complete the file: summary and index are missing")
            return outcome
        }
    }

    /// Reads one record, and passes its items to the visitor.
    ///
    /// - Returns: Description of the record's error; nil if the record is valid; empty if the
    /// visitor returned false.
    private static func take(
        _ opcode: UInt8, _ content: UnsafeRawBufferPointer, _ schemas: inout [UInt16: String],
        _ channels: inout [UInt16: Channel], _ outcome: inout Outcome, _ visit: (Item) -> Bool
    ) -> String? {
        var cursor = MCAPCursor(content)
        switch MCAPOpcode(rawValue: opcode) {
        case .schema:
            guard let id = cursor.integer(UInt16.self), let name = cursor.text() else {
                return "a schema record is too short"
            }
            schemas[id] = name
        case .channel:
            guard let id = cursor.integer(UInt16.self), let schema = cursor.integer(UInt16.self),
                let topic = cursor.text()
            else { return "a channel record is too short" }
            channels[id] = Channel(topic: topic, schema: schemas[schema] ?? "")
        case .metadata:
            guard let name = cursor.text(), let values = cursor.map() else {
                return "a metadata record is too short"
            }
            return visit(.metadata(name: name, values: values)) ? nil : ""
        case .attachment:
            guard let attachment = attachment(content) else {
                return "an attachment is damaged, and is skipped"
            }
            return visit(.attachment(attachment)) ? nil : ""
        case .chunk:
            return chunk(content, &schemas, &channels, &outcome, visit)
        case .message:
            guard let id = cursor.integer(UInt16.self), cursor.slice(4) != nil,
                let time = cursor.integer(Int64.self), cursor.slice(8) != nil,
                let data = cursor.slice(cursor.rest)
            else { return "a message record is too short" }
            guard let channel = channels[id] else { return "a message has no channel" }
            return visit(
                .message(topic: channel.topic, schema: channel.schema, time: time, data: data))
                ? nil : ""
        default: break
        }
        return nil
    }

    private static func attachment(_ content: UnsafeRawBufferPointer) -> MCAPAttachment? {
        var cursor = MCAPCursor(content)
        guard let time = cursor.integer(Int64.self), cursor.slice(8) != nil,
            let name = cursor.text(), let type = cursor.text(), let data = cursor.longBlock()
        else { return nil }
        let end = cursor.offset
        guard let crc = cursor.integer(UInt32.self) else { return nil }
        if crc != 0, CRC32.checksum(content[..<end]) != crc { return nil }
        return MCAPAttachment(name: name, mediaType: type, time: time, data: Array(data))
    }

    private static func chunk(
        _ content: UnsafeRawBufferPointer, _ schemas: inout [UInt16: String],
        _ channels: inout [UInt16: Channel], _ outcome: inout Outcome, _ visit: (Item) -> Bool
    ) -> String? {
        var cursor = MCAPCursor(content)
        guard cursor.slice(16) != nil, let size = cursor.integer(UInt64.self),
            let crc = cursor.integer(UInt32.self), let compression = cursor.text(),
            let payload = cursor.longBlock(), size <= chunkLimit
        else { return "a chunk is damaged, and is skipped" }
        guard size <= outcome.room else {
            return
                "the decompressed size of a chunk is more than \(expansion.factor) times the size of the file; the chunk is skipped"
        }
        outcome.room -= Int(size)
        let records: [UInt8]
        switch compression {
        case "": records = Array(payload)
        case "zstd":
            guard let plain = Zstd.decompress(payload, size: Int(size)) else {
                return "a chunk cannot be decompressed, and is skipped"
            }
            records = plain
        default:
            return "a chunk is compressed with \(compression), which this version does not support"
        }
        if crc != 0, CRC32.checksum(records) != crc {
            return "a chunk has a wrong checksum, and is skipped"
        }
        outcome.chunks += 1
        return records.withUnsafeBytes { raw in
            var inner = MCAPCursor(raw)
            while inner.rest > 0 {
                guard let opcode = inner.integer(UInt8.self), let content = inner.longBlock() else {
                    return "a chunk ends in the middle of a record"
                }
                // A chunk within a chunk is refused, because chunks could otherwise be nested to
                // any depth.
                if opcode == MCAPOpcode.chunk.rawValue { return "a chunk contains another chunk" }
                let problem = take(opcode, content, &schemas, &channels, &outcome, visit)
                if let problem { return problem }
            }
            return nil
        }
    }
}
