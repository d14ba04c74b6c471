/// Reader of the fields of a message. The reader skips fields that are not requested.
struct ProtobufReader: FieldVisitor {
    /// Upper limit of the field numbers; fields with larger numbers are skipped.
    private static let limit = 128

    private let bytes: UnsafeRawBufferPointer
    /// Content of each field, by field number: the bits of a value, or the range of a block of
    /// bytes.
    private var values = [UInt64](repeating: 0, count: limit)
    private var blocks: [Int: Range<Int>] = [:]

    /// Creates a reader; nil if the message is damaged.
    ///
    /// - Parameter bytes: Bytes of one message.
    init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        var cursor = MCAPCursor(bytes)
        while cursor.rest > 0 {
            guard let tag = Self.varint(&cursor), let type = ProtobufType(rawValue: Int(tag & 7))
            else { return nil }
            let number = Int(clamping: tag >> 3)
            var value: UInt64 = 0
            switch type {
            case .varint:
                guard let read = Self.varint(&cursor) else { return nil }
                value = read
            case .fixed64:
                guard let read = cursor.integer(UInt64.self) else { return nil }
                value = read
            case .fixed32:
                guard let read = cursor.integer(UInt32.self) else { return nil }
                value = UInt64(read)
            case .block:
                guard let length = Self.varint(&cursor), let size = Int(exactly: length) else {
                    return nil
                }
                let start = cursor.offset
                guard cursor.slice(size) != nil else { return nil }
                if number < Self.limit { blocks[number] = start..<start + size }
            }
            if number < Self.limit { values[number] = value }
        }
    }

    private static func varint(_ cursor: inout MCAPCursor) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = cursor.integer(UInt8.self) else { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }

    mutating func double(_ name: FieldName, _ number: Int, _ value: inout Double) {
        value = Double(bitPattern: values[number])
    }

    mutating func float(_ name: FieldName, _ number: Int, _ value: inout Float) {
        value = Float(bitPattern: UInt32(truncatingIfNeeded: values[number]))
    }

    mutating func integer(_ name: FieldName, _ number: Int, _ value: inout Int64) {
        value = Int64(bitPattern: values[number])
    }

    mutating func bits(_ name: FieldName, _ number: Int, _ value: inout UInt64) {
        value = values[number]
    }

    mutating func count(_ name: FieldName, _ number: Int, _ value: inout UInt32) {
        value = UInt32(truncatingIfNeeded: values[number])
    }

    mutating func flag(_ name: FieldName, _ number: Int, _ value: inout Bool) {
        value = values[number] != 0
    }

    mutating func choice(
        _ name: FieldName, _ number: Int, _ words: FieldWords, _ value: inout UInt32
    ) {
        count(name, number, &value)
    }

    mutating func text(_ name: FieldName, _ number: Int, _ value: inout String) {
        value = blocks[number].map { String(decoding: bytes[$0], as: UTF8.self) } ?? ""
    }

    mutating func block(_ name: FieldName, _ number: Int, _ value: inout [UInt8]) {
        value = blocks[number].map { Array(bytes[$0]) } ?? []
    }
}

extension RecordedMessage {
    /// Reads a message; nil if it is damaged.
    ///
    /// - Parameter bytes: Bytes of the message.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard var reader = ProtobufReader(bytes) else { return nil }
        self.init()
        visit(&reader)
    }
}
