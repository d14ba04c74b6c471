/// JSON name of a message's member, from its property's name: `gainMarginDb` becomes
/// `gain_margin_db`, and `isAtRest` becomes `at_rest`. Encoders and decoders of messages use this
/// type's two functions.
public struct MessageKey: CodingKey {
    /// The name of the member in JSON.
    public let stringValue: String
    /// Always nil, because members have no indices.
    public var intValue: Int? { nil }

    /// Names of the properties with the prefix `is`, by JSON name.
    private static let flags: [String: String] = [
        "at_rest": "isAtRest", "converged": "isConverged", "enabled": "isEnabled",
        "learning": "isLearning",
        "gyro_saturated": "isGyroSaturated", "low": "isLow", "memory_locked": "isMemoryLocked",
        "preempt_rt": "isPreemptRt", "recording": "isRecording", "registered": "isRegistered",
    ]

    private static let properties = Set(flags.values)

    /// Creates a key with this name.
    public init(stringValue: String) { self.stringValue = stringValue }

    /// Returns nil, because members have no indices.
    public init?(intValue: Int) { nil }

    /// Converts the last property name of a coding path to the JSON name.
    @Sendable public static func encoding(_ path: [any CodingKey]) -> any CodingKey {
        guard let key = path.last, key.intValue == nil else { return path.last ?? MessageKey("") }
        let name = key.stringValue
        var result = ""
        for letter in name.utf8.dropFirst(properties.contains(name) ? 2 : 0) {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
            if isCapital, !result.isEmpty { result += "_" }
            result.unicodeScalars.append(Unicode.Scalar(isCapital ? letter + 32 : letter))
        }
        return MessageKey(result)
    }

    /// Converts the last JSON name of a coding path to the property's name.
    @Sendable public static func decoding(_ path: [any CodingKey]) -> any CodingKey {
        guard let key = path.last, key.intValue == nil else { return path.last ?? MessageKey("") }
        if let flag = flags[key.stringValue] { return MessageKey(flag) }
        let words = key.stringValue.split(separator: "_")
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return MessageKey((words.first.map(String.init) ?? "") + rest.joined())
    }

    private init(_ name: String) { stringValue = name }
}
