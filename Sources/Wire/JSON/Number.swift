/// A measured number in JSON: a value that is not finite means "unknown", is written as `null`, and
/// read as NaN.
public struct Number: Hashable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// The value in the unit of its key; NaN if unknown.
    public var value: Double

    /// The number with this value.
    public init(_ value: Double) { self.value = value }
    /// The number with this value.
    public init(floatLiteral value: Double) { self.value = value }
    /// The number with this value.
    public init(integerLiteral value: Int) { self.value = Double(value) }

    /// Not known.
    public static var unknown: Number { Number(.nan) }

    /// The value, nil when not known.
    public var known: Double? { value.isFinite ? value : nil }

    /// Equal when both are unknown or both have the same value.
    public static func == (a: Number, b: Number) -> Bool { a.known == b.known }
    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(known) }
}

extension Number: Codable {
    /// Reads a number or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? .nan : try container.decode(Double.self)
    }

    /// Writes a number, or `null` where it is not finite.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if value.isFinite { try container.encode(value) } else { try container.encodeNil() }
    }
}
