import GimbalCore

/// Name of a field. The text of the name is composed only when it is needed.
struct FieldName: ExpressibleByStringLiteral {
    let stem: String
    var axis = ""
    var unit = ""

    init(_ stem: String, _ axis: String = "", _ unit: String = "") {
        self.stem = stem
        self.axis = axis
        self.unit = unit
    }

    init(stringLiteral value: String) { self.init(value) }

    /// The text of the name: the non-empty parts, joined by underscores.
    var text: String {
        [stem, axis, unit].filter { !$0.isEmpty }.joined(separator: "_")
    }
}

/// Visitor that describes, writes or reads the fields of a message. The visitors that describe,
/// write and read a message use the same list of fields; they therefore always agree.
protocol FieldVisitor {
    mutating func double(_ name: FieldName, _ number: Int, _ value: inout Double)
    mutating func float(_ name: FieldName, _ number: Int, _ value: inout Float)
    /// Visits a field with a signed 64-bit integer.
    mutating func integer(_ name: FieldName, _ number: Int, _ value: inout Int64)
    /// Visits a 64-bit field with a bit set or an unsigned integer.
    mutating func bits(_ name: FieldName, _ number: Int, _ value: inout UInt64)
    /// Visits a field with an unsigned 32-bit integer.
    mutating func count(_ name: FieldName, _ number: Int, _ value: inout UInt32)
    mutating func flag(_ name: FieldName, _ number: Int, _ value: inout Bool)
    /// Visits a field with an enumeration value: the index of a name in `words`.
    mutating func choice(
        _ name: FieldName, _ number: Int, _ words: FieldWords, _ value: inout UInt32)
    mutating func text(_ name: FieldName, _ number: Int, _ value: inout String)
    mutating func block(_ name: FieldName, _ number: Int, _ value: inout [UInt8])
}

/// Names of an enumeration's values.
struct FieldWords: Sendable {
    /// Name of the enumeration type.
    var name: String
    /// Words by index.
    var words: [String]
}

/// Message that the recorder writes and a replay reads, encoded with Protocol Buffers, version 3.
///
/// A reader skips unknown fields. A field that is missing in a message has the value zero. Field
/// numbers never change.
protocol RecordedMessage {
    /// Name of the type, within the package `airframe`.
    static var name: String { get }
    /// Topic of the channel.
    static var topic: String { get }

    /// Creates a message with all fields zero.
    init()
    /// Passes every field to a visitor.
    mutating func visit(_ visitor: inout some FieldVisitor)
}

extension FieldVisitor {
    /// Visits three fields with consecutive numbers.
    @inline(__always)
    mutating func axes(
        _ stem: String, _ unit: String, _ number: Int, _ value: inout AxisVector
    ) {
        double(FieldName(stem, "yaw", unit), number, &value.yaw)
        double(FieldName(stem, "roll", unit), number + 1, &value.roll)
        double(FieldName(stem, "pitch", unit), number + 2, &value.pitch)
    }

    /// Visits three fields with consecutive numbers.
    @inline(__always)
    mutating func vector(
        _ stem: String, _ unit: String, _ number: Int, _ value: inout Vector3
    ) {
        double(FieldName(stem, "x", unit), number, &value.x)
        double(FieldName(stem, "y", unit), number + 1, &value.y)
        double(FieldName(stem, "z", unit), number + 2, &value.z)
    }

    /// Visits four fields with consecutive numbers.
    @inline(__always)
    mutating func quaternion(_ stem: String, _ number: Int, _ value: inout Quaternion) {
        double(FieldName(stem, "w"), number, &value.w)
        double(FieldName(stem, "x"), number + 1, &value.x)
        double(FieldName(stem, "y"), number + 2, &value.y)
        double(FieldName(stem, "z"), number + 3, &value.z)
    }
}
