/// Measured number in JSON. An infinite or NaN value means "unknown". Unknown numbers are written
/// as `null`, and `null` is read as NaN.
public struct Number: Hashable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// The value in the unit of its key; NaN if unknown.
    public var value: Double

    /// Creates the number with the given value.
    public init(_ value: Double) { self.value = value }
    /// Creates the number with the given value.
    public init(floatLiteral value: Double) { self.value = value }
    /// Creates the number with the given value.
    public init(integerLiteral value: Int) { self.value = Double(value) }

    /// An unknown number.
    public static var unknown: Number { Number(.nan) }

    /// The value; nil if it is unknown.
    public var known: Double? { value.isFinite ? value : nil }

    /// True if the two numbers have the same value, or are both unknown.
    public static func == (a: Number, b: Number) -> Bool { a.known == b.known }
    /// Hashes the number; equal numbers have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(known) }
}

extension Number: Codable {
    /// Reads a number or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? .nan : try container.decode(Double.self)
    }

    /// Writes the number, or `null` if it is infinite or NaN.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if value.isFinite { try container.encode(value) } else { try container.encodeNil() }
    }
}
