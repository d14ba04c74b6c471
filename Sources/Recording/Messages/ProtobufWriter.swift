/// Writer of the fields of a message. The writer omits fields whose bits are all zero, as in
/// Protocol Buffers.
///
/// Source: Protocol Buffers, "Encoding".
struct ProtobufWriter: FieldVisitor {
    /// Bytes of the message so far.
    var bytes: [UInt8]

    mutating func double(_ name: FieldName, _ number: Int, _ value: inout Double) {
        bits(name, number, value.bitPattern)
    }

    mutating func float(_ name: FieldName, _ number: Int, _ value: inout Float) {
        guard value.bitPattern != 0 else { return }
        tag(number, .fixed32)
        bytes.appendInteger(value.bitPattern)
    }

    mutating func integer(_ name: FieldName, _ number: Int, _ value: inout Int64) {
        bits(name, number, UInt64(bitPattern: value))
    }

    mutating func bits(_ name: FieldName, _ number: Int, _ value: inout UInt64) {
        bits(name, number, value)
    }

    private mutating func bits(_ name: FieldName, _ number: Int, _ value: UInt64) {
        guard value != 0 else { return }
        tag(number, .fixed64)
        bytes.appendInteger(value)
    }

    mutating func count(_ name: FieldName, _ number: Int, _ value: inout UInt32) {
        guard value != 0 else { return }
        tag(number, .varint)
        bytes.appendVarint(UInt64(value))
    }

    mutating func flag(_ name: FieldName, _ number: Int, _ value: inout Bool) {
        guard value else { return }
        tag(number, .varint)
        bytes.append(1)
    }

    mutating func choice(
        _ name: FieldName, _ number: Int, _ words: FieldWords, _ value: inout UInt32
    ) {
        count(name, number, &value)
    }

    mutating func text(_ name: FieldName, _ number: Int, _ value: inout String) {
        guard !value.isEmpty else { return }
        bytes.appendBlock(number, Array(value.utf8))
    }

    mutating func block(_ name: FieldName, _ number: Int, _ value: inout [UInt8]) {
        guard !value.isEmpty else { return }
        bytes.appendBlock(number, value)
    }

    private mutating func tag(_ number: Int, _ type: ProtobufType) {
        bytes.appendVarint(UInt64(number << 3 | type.rawValue))
    }
}

/// Wire types of the fields.
enum ProtobufType: Int {
    case varint = 0
    case fixed64 = 1
    case block = 2
    case fixed32 = 5
}

extension [UInt8] {
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a length-delimited field: the length, then the bytes.
    mutating func appendBlock(_ number: Int, _ block: [UInt8]) {
        appendVarint(UInt64(number << 3 | ProtobufType.block.rawValue))
        appendVarint(UInt64(block.count))
        self += block
    }

    /// Appends a numeric field.
    mutating func appendNumber(_ number: Int, _ value: Int) {
        appendVarint(UInt64(number << 3 | ProtobufType.varint.rawValue))
        appendVarint(UInt64(value))
    }
}

extension RecordedMessage {
    /// Appends the encoded message.
    func write(to bytes: inout [UInt8]) {
        var copy = self
        var writer = ProtobufWriter(bytes: [])
        swap(&writer.bytes, &bytes)
        copy.visit(&writer)
        swap(&writer.bytes, &bytes)
    }
}
