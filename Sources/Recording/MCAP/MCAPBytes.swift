/// Serialization of the elements of MCAP records, little-endian.
///
/// Source: MCAP File Format Specification, "Serialization".
extension [UInt8] {
    mutating func appendInteger<Integer: FixedWidthInteger>(_ value: Integer) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    mutating func appendText(_ text: String) {
        appendInteger(UInt32(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    /// Appends a map of strings: the total length in bytes, then the key-value pairs, sorted by
    /// key.
    mutating func appendMap(_ map: [String: String]) {
        var pairs: [UInt8] = []
        for (name, value) in map.sorted(by: { $0.key < $1.key }) {
            pairs.appendText(name)
            pairs.appendText(value)
        }
        appendInteger(UInt32(pairs.count))
        append(contentsOf: pairs)
    }

    /// Appends a complete record: opcode, length, and content.
    mutating func appendRecord(_ opcode: MCAPOpcode, _ content: (inout [UInt8]) -> Void) {
        append(opcode.rawValue)
        let place = count
        appendInteger(UInt64(0))
        content(&self)
        let length = UInt64(count - place - 8).littleEndian
        Swift.withUnsafeBytes(of: length) { bytes in
            for (offset, byte) in bytes.enumerated() { self[place + offset] = byte }
        }
    }
}

/// Kinds of MCAP records.
enum MCAPOpcode: UInt8 {
    case header = 1
    case footer
    case schema
    case channel
    case message
    case chunk
    case messageIndex
    case chunkIndex
    case attachment
    case attachmentIndex
    case statistics
    case metadata
    case metadataIndex
    case summaryOffset
    case dataEnd

    /// Magic bytes at the beginning and the end of a file. The character after the letters `MCAP`
    /// is the version.
    static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]
}

/// Reader of the elements of MCAP records; each element is nil if the bytes end too early.
struct MCAPCursor {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Number of bytes that have not been read yet.
    var rest: Int { bytes.count - offset }

    mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ type: Integer.Type = Integer.self
    ) -> Integer? {
        let size = MemoryLayout<Integer>.size
        guard rest >= size else { return nil }
        defer { offset += size }
        return Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// Returns the next `count` bytes without copying them.
    mutating func slice(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, rest >= count else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Reads a 4-byte length prefix, and returns that number of bytes after the prefix.
    mutating func shortBlock() -> UnsafeRawBufferPointer? {
        guard let count = integer(UInt32.self) else { return nil }
        return slice(Int(count))
    }

    /// Reads an 8-byte length prefix, and returns that number of bytes after the prefix.
    mutating func longBlock() -> UnsafeRawBufferPointer? {
        guard let count = integer(UInt64.self), let size = Int(exactly: count) else { return nil }
        return slice(size)
    }

    mutating func text() -> String? {
        shortBlock().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func map() -> [String: String]? {
        guard let block = shortBlock() else { return nil }
        var pairs = MCAPCursor(block)
        var result: [String: String] = [:]
        while pairs.rest > 0 {
            guard let name = pairs.text(), let value = pairs.text() else { return nil }
            result[name] = value
        }
        return result
    }
}
