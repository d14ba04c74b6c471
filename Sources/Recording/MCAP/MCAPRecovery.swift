internal import Glibc
public import SystemPackage

/// Completion of an MCAP file whose writer ended unexpectedly. The recovery keeps the complete
/// part, removes the truncated tail, and appends the missing summary and footer.
///
/// Programs that need the summary, such as PlotJuggler, reject a file without a summary. The
/// recovery reads only the headers of the records and the last chunk. The recovery is therefore
/// fast even for a large file. If the index of the last chunk is incomplete, the recovery writes it
/// again. If the file is damaged before its end, the file remains unchanged, because the part after
/// the damage can be readable. The date of the file does not change.
public enum MCAPRecovery {
    /// Largest size of a truncated tail, bytes: the data between two syncs at the highest rate,
    /// plus a margin. A larger truncated tail is treated as damage.
    private static let longestTear = 8 << 20

    /// Reads the file from its beginning, and completes it if it is incomplete.
    ///
    /// - Parameter path: Path of the file.
    /// - Returns: True if the file was completed. The result is false if the file is complete, if
    ///   `FlightWriter` has locked the file to write it, or if the file's structure differs from
    ///   the structure that `FlightWriter` writes. If the result is false, the file is unchanged.
    /// - Throws: The system's error.
    public static func recover(_ path: FilePath) throws(Errno) -> Bool {
        do {
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.closeOnExec, .noFollow])
            return try file.closeAfter {
                guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { return false }
                var status = stat()
                guard fstat(file.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
                var scan = Scan(file: file, size: Int(try file.seek(offset: 0, from: .end)))
                guard scan.isOpenEnded, scan.readAll() else { return false }
                let end = scan.assembler.size - scan.lastIndex.count
                guard scan.size - end <= longestTear else { return false }
                let rest = scan.lastIndex + scan.assembler.finish()
                // A power cut between the steps of the recovery leaves a file that can be completed
                // later.
                guard ftruncate(file.rawValue, off_t(end)) == 0 else {
                    throw Errno(rawValue: errno)
                }
                _ = try file.writeAll(toAbsoluteOffset: Int64(end), rest)
                // The date of the file remains that of the recording. The present date can be years
                // earlier: a computer without a battery for its clock starts with a wrong date.
                _ = futimens(file.rawValue, [status.st_atim, status.st_mtim])
                guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                return true
            }
        } catch {
            throw (error as? Errno) ?? .ioError
        }
    }

    /// Scan of the records in a file.
    private struct Scan {
        let file: FileDescriptor
        let size: Int
        var assembler = MCAPAssembler.adopting()
        /// Index of the last chunk if the recovery must write the index again; otherwise empty. The
        /// assembler has already counted the last chunk's index.
        private(set) var lastIndex: [UInt8] = []
        private var schemas: [UInt16: (name: String, data: [UInt8])] = [:]

        /// Position and length of a record in the file.
        private struct Record {
            var opcode: MCAPOpcode?
            var start: Int
            /// Length of the record including its opcode and length field, bytes.
            var length: Int
        }

        private static let head = 9
        /// Number of bytes that the scan reads from the beginning of a record: more than any header
        /// needs.
        private static let glimpse = 4096
        /// Largest permitted size of a schema, bytes; a usual schema has a few kilobytes.
        private static let schemaLimit = 1 << 20

        init(file: FileDescriptor, size: Int) {
            self.file = file
            self.size = size
        }

        /// True if the file begins with the magic bytes of MCAP, but does not end with them.
        var isOpenEnded: Bool {
            let magic = MCAPOpcode.magic
            return size > magic.count && bytes(0, magic.count) == magic
                && bytes(size - magic.count, magic.count) != magic
        }

        /// Passes all complete records to the assembler. The result is false if a record differs
        /// from the structure that `FlightWriter` writes.
        mutating func readAll() -> Bool {
            while let record = record(at: assembler.size) {
                switch record.opcode {
                case .dataEnd: return true
                case .header: assembler.note(length: record.length)
                case .schema: guard noteSchema(record) else { return false }
                case .channel: guard noteChannel(record) else { return false }
                case .attachment: guard noteAttachment(record) else { return false }
                case .metadata: guard noteMetadata(record) else { return false }
                case .chunk:
                    switch noteChunk(record) {
                    case .whole: break
                    case .last: return true
                    case .damaged: return false
                    }
                default: return false
                }
            }
            // If the file ends before its first channel, the recovery cannot complete the file.
            return assembler.size > MCAPOpcode.magic.count
        }

        /// The record that begins at `start`; nil if the record is incomplete.
        private func record(at start: Int) -> Record? {
            let bytes = bytes(start, Self.head)
            guard bytes.count == Self.head, bytes[0] != 0 else { return nil }
            let length = bytes.withUnsafeBytes { raw in
                var cursor = MCAPCursor(raw, at: 1)
                return cursor.integer(UInt64.self) ?? .max
            }
            guard length <= UInt64(size - start - Self.head) else { return nil }
            return Record(
                opcode: MCAPOpcode(rawValue: bytes[0]), start: start,
                length: Self.head + Int(length))
        }

        /// Reads the beginning of a record's content.
        private func read<Value>(
            _ record: Record, most: Int = glimpse, _ body: (inout MCAPCursor) -> Value?
        ) -> Value? {
            let content = bytes(record.start + Self.head, min(record.length - Self.head, most))
            return content.withUnsafeBytes { raw in
                var cursor = MCAPCursor(raw)
                return body(&cursor)
            }
        }

        private mutating func noteSchema(_ record: Record) -> Bool {
            let found = read(record, most: Self.schemaLimit) {
                cursor -> (UInt16, String, [UInt8])? in
                guard let id = cursor.integer(UInt16.self), let name = cursor.text(),
                    cursor.text() == MCAPChannel.encoding, let data = cursor.shortBlock()
                else { return nil }
                return (id, name, Array(data))
            }
            guard let found else { return false }
            schemas[found.0] = (found.1, found.2)
            assembler.note(length: record.length)
            return true
        }

        private mutating func noteChannel(_ record: Record) -> Bool {
            let found = read(record) { cursor -> (UInt16, String)? in
                guard let id = cursor.integer(UInt16.self), cursor.integer(UInt16.self) == id,
                    let topic = cursor.text(), cursor.text() == MCAPChannel.encoding
                else { return nil }
                return (id, topic)
            }
            guard let found, let schema = schemas[found.0] else { return false }
            assembler.note(
                MCAPChannel(
                    id: found.0, topic: found.1, schemaName: schema.name, schema: schema.data),
                length: record.length)
            return true
        }

        private mutating func noteAttachment(_ record: Record) -> Bool {
            let found = read(record) { cursor -> (MCAPAttachment, Int)? in
                guard let time = cursor.integer(Int64.self), cursor.integer(Int64.self) != nil,
                    let name = cursor.text(), let type = cursor.text(),
                    let size = cursor.integer(UInt64.self)
                else { return nil }
                return (
                    MCAPAttachment(name: name, mediaType: type, time: time, data: []),
                    Int(clamping: size)
                )
            }
            guard let found else { return false }
            assembler.note(found.0, dataSize: found.1, length: record.length)
            return true
        }

        private mutating func noteMetadata(_ record: Record) -> Bool {
            guard let name = read(record, { $0.text() }) else { return false }
            assembler.note(metadata: name, length: record.length)
            return true
        }

        private enum Chunk {
            case whole
            /// The file ends within the chunk or within the chunk's index.
            case last
            /// The bytes after the chunk are not the index of this chunk.
            case damaged
        }

        private mutating func noteChunk(_ record: Record) -> Chunk {
            guard var place = place(record) else { return .damaged }
            let indexStart = record.start + record.length
            var next = indexStart
            while let index = self.record(at: next), index.opcode == .messageIndex {
                let entry = read(index) { cursor -> (channel: UInt16, length: UInt32)? in
                    guard let channel = cursor.integer(UInt16.self),
                        let length = cursor.integer(UInt32.self)
                    else { return nil }
                    return (channel, length)
                }
                guard let entry else { return .damaged }
                place.indexOffsets[entry.channel] = next
                place.counts[entry.channel] = Int(entry.length) / MCAPMessageIndex.entrySize
                next += index.length
            }
            place.indexSize = next - indexStart
            if next < size, self.record(at: next) != nil {
                guard !place.indexOffsets.isEmpty else { return .damaged }
                assembler.note(place)
                return .whole
            }
            // No complete record follows the chunk, so its index can be incomplete.
            guard let index = messageIndex(record) else { return .last }
            lastIndex = index.bytes
            place.indexOffsets = index.offsets.mapValues { indexStart + $0 }
            place.indexSize = index.bytes.count
            place.counts = index.counts
            assembler.note(place)
            return .last
        }

        /// Fields of a chunk's header; nil if the header is damaged. Damaged times can be in the
        /// wrong order.
        private func place(_ record: Record) -> MCAPChunkPlace? {
            read(record) { cursor -> MCAPChunkPlace? in
                guard let start = cursor.integer(Int64.self), let end = cursor.integer(Int64.self),
                    start <= end, let size = cursor.integer(UInt64.self),
                    cursor.integer(UInt32.self) != nil, let compression = cursor.text(),
                    let compressed = cursor.integer(UInt64.self)
                else { return nil }
                return MCAPChunkPlace(
                    start: start, end: end, position: record.start, length: record.length,
                    indexOffsets: [:], indexSize: 0, compression: compression,
                    compressedSize: Int(clamping: compressed),
                    uncompressedSize: Int(clamping: size), counts: [:])
            }
        }

        /// Compute the index of a chunk from its content; nil if the content is damaged.
        private func messageIndex(_ record: Record) -> MCAPMessageIndex? {
            read(record, most: record.length) { cursor in
                guard cursor.slice(16) != nil, let size = cursor.integer(UInt64.self),
                    size <= MCAPReader.chunkLimit, cursor.slice(4) != nil,
                    let compression = cursor.text(), let payload = cursor.longBlock(),
                    let content = compression.isEmpty
                        ? Array(payload) : Zstd.decompress(payload, size: Int(size))
                else { return nil }
                return content.withUnsafeBytes { raw in
                    var records = MCAPCursor(raw)
                    var entries = MCAPMessageIndex.Entries()
                    while records.rest > 0 {
                        let offset = records.offset
                        guard let opcode = records.integer(UInt8.self),
                            let message = records.longBlock()
                        else { return nil }
                        guard opcode == MCAPOpcode.message.rawValue else { continue }
                        var head = MCAPCursor(message)
                        guard let channel = head.integer(UInt16.self), head.slice(4) != nil,
                            let time = head.integer(Int64.self)
                        else { return nil }
                        entries.add(channel: channel, time: time, offset: offset)
                    }
                    return MCAPMessageIndex(entries)
                }
            }
        }

        /// Read up to `count` bytes of the file.
        private func bytes(_ start: Int, _ count: Int) -> [UInt8] {
            guard start >= 0, start < size, count > 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                let target = UnsafeMutableRawBufferPointer(buffer)
                initialized =
                    (try? file.read(fromAbsoluteOffset: Int64(start), into: target)) ?? 0
            }
        }
    }
}
