/// Properties of a kind of message: number, name, CRC_EXTRA and size.
public struct MAVLinkFormat: Sendable, Equatable {
    /// Message number.
    public let id: UInt32
    /// Name of the message in MAVLink's definitions.
    public let name: String
    /// CRC_EXTRA, the last byte in the checksum: a digest of the names and types of the message's
    /// fields, without extensions.
    public let crcExtra: UInt8
    /// Size of the message's fields without extensions, bytes. In MAVLink 1, the payload has
    /// exactly this size.
    public let size: Int

    /// Creates a format.
    public init(_ id: UInt32, _ name: String, crcExtra: UInt8, size: Int) {
        self.id = id
        self.name = name
        self.crcExtra = crcExtra
        self.size = size
    }
}

/// MAVLink message of one kind, with its fields. `visit` passes the fields to a reader or a writer,
/// in wire order.
///
/// Units, signs and frames are those of MAVLink: rad and rad/s, unless a field has another unit.
/// Pitch up, roll right and yaw right are positive. Quaternions have the order w x y z.
public protocol MAVLinkMessage: Sendable, Equatable {
    /// Properties of this kind of message: number, name, CRC_EXTRA and size.
    static var format: MAVLinkFormat { get }
    /// Creates a message with all fields zero.
    init()
    /// Passes every field to a visitor, in wire order.
    mutating func visit(_ fields: inout some MAVLinkFields)
}

/// Reader or writer of a message's consecutive fields.
public protocol MAVLinkFields {
    /// Reads or writes an integer with the width of its type.
    mutating func integer<Value: FixedWidthInteger>(_ value: inout Value)
    /// Reads or writes a float32.
    mutating func float(_ value: inout Float)
    /// Reads or writes text in a field of `size` bytes, padded with zeros; longer text is
    /// truncated.
    mutating func text(_ value: inout String, size: Int)
}

extension MAVLinkFields {
    /// Reads or writes consecutive numbers.
    mutating func floats(_ values: inout [Float]) {
        for index in values.indices { float(&values[index]) }
    }

    /// Reads or writes an address: system, followed by component.
    mutating func address(_ value: inout MAVLinkAddress) {
        integer(&value.system)
        integer(&value.component)
    }
}

/// Reader of fields from a payload. Bytes after the end of the payload count as zero.
struct MAVLinkReader: MAVLinkFields {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func next() -> UInt8 {
        defer { position += 1 }
        return position < bytes.count ? bytes[position] : 0
    }

    mutating func integer<Value: FixedWidthInteger>(_ value: inout Value) {
        var bits: UInt64 = 0
        for index in 0..<Value.bitWidth / 8 { bits |= UInt64(next()) << UInt64(8 * index) }
        value = Value(truncatingIfNeeded: bits)
    }

    mutating func float(_ value: inout Float) {
        var bits: UInt32 = 0
        integer(&bits)
        value = Float(bitPattern: bits)
    }

    mutating func text(_ value: inout String, size: Int) {
        let field = (0..<size).map { _ in next() }
        value = String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// Writer of consecutive fields to a payload.
struct MAVLinkWriter: MAVLinkFields {
    private(set) var bytes: [UInt8] = []

    mutating func integer<Value: FixedWidthInteger>(_ value: inout Value) {
        let bits = UInt64(truncatingIfNeeded: value)
        for index in 0..<Value.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)))
        }
    }

    mutating func float(_ value: inout Float) {
        var bits = value.bitPattern
        integer(&bits)
    }

    mutating func text(_ value: inout String, size: Int) {
        let field = Array(value.utf8.prefix(size))
        bytes += field + [UInt8](repeating: 0, count: size - field.count)
    }
}
