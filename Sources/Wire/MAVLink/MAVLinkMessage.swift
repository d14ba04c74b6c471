/// Name, check byte and size of a kind of message.
public struct MAVLinkFormat: Sendable, Equatable {
    /// Its number.
    public let id: UInt32
    /// Its name in the public definitions.
    public let name: String
    /// The byte that ends its checksum: a digest of names and types of its fields, without
    /// extensions.
    public let crcExtra: UInt8
    /// Bytes of its fields without extensions: the payload in v1.
    public let size: Int

    /// A format with these values.
    public init(_ id: UInt32, _ name: String, crcExtra: UInt8, size: Int) {
        self.id = id
        self.name = name
        self.crcExtra = crcExtra
        self.size = size
    }
}

/// One kind of message. `visit` names the fields once, in the order in which they travel; reading
/// and writing both follow it.
///
/// Units, signs and frames are MAVLink's own: radians and rad/s where a field says nothing else,
/// pitch up, roll right and yaw right positive, quaternions w x y z.
public protocol MAVLinkMessage: Sendable, Equatable {
    /// Number, name, check byte, size.
    static var format: MAVLinkFormat { get }
    /// Every field zero.
    init()
    /// Hands every field over, in wire order.
    mutating func visit(_ fields: inout some MAVLinkFields)
}

/// Reads or writes fields in their order.
public protocol MAVLinkFields {
    /// An integer of its own width.
    mutating func integer<Value: FixedWidthInteger>(_ value: inout Value)
    /// A float32.
    mutating func float(_ value: inout Float)
    /// Text in a field of this many bytes, zero-filled; what is too long is cut.
    mutating func text(_ value: inout String, size: Int)
}

extension MAVLinkFields {
    /// Numbers in a row.
    mutating func floats(_ values: inout [Float]) {
        for index in values.indices { float(&values[index]) }
    }

    /// System, then component.
    mutating func address(_ value: inout MAVLinkAddress) {
        integer(&value.system)
        integer(&value.component)
    }
}

/// Reads fields out of a payload; beyond its end everything is zero.
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

/// Writes fields one after the other.
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
