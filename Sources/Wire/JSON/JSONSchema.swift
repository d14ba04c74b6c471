/// JSON Schema (2020-12) of the socket's answers, derived from the declarations of the answers'
/// types.
///
/// The schema describes the server's JSON output: member names, numbers that can be `null`, and
/// members that can be absent. Observables add members to `status`, so an object can contain more
/// members than its schema.
public enum JSONSchema {
    /// Schema of a type; nil if the type of a property is not supported.
    public static func of<Value: Decodable>(_ type: Value.Type) -> JSONValue? {
        try? sketch(type).schema
    }

    /// Schema of a type, and a sample value of the type.
    fileprivate static func sketch<Value: Decodable>(
        _ type: Value.Type
    ) throws -> (schema: JSONValue, sample: Value) {
        if let known = type as? any SchemaProviding.Type, let sample = try known.sample() as? Value
        {
            return (try known.schema(), sample)
        }
        if let choice = type as? any (CaseIterable & RawRepresentable).Type {
            let (words, first) = words(choice)
            if let sample = first as? Value {
                return (["type": "string", "enum": .array(words)], sample)
            }
        }
        let recorder = Recorder()
        let sample = try Value(from: recorder)
        return (recorder.schema, sample)
    }

    private static func words<Choice: CaseIterable & RawRepresentable>(
        _ type: Choice.Type
    ) -> (words: [JSONValue], first: Choice?) {
        (
            type.allCases.compactMap { ($0.rawValue as? String).map(JSONValue.string) },
            type.allCases.first
        )
    }
}

/// Type that declares a schema; this schema replaces the schema derived from the type's properties.
private protocol SchemaProviding {
    static func schema() throws -> JSONValue
    static func sample() throws -> Self
}

extension Bool: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": "boolean"] }
    fileprivate static func sample() -> Bool { false }
}

extension Int: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": "integer"] }
    fileprivate static func sample() -> Int { 0 }
}

extension UInt64: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": "integer", "minimum": 0] }
    fileprivate static func sample() -> UInt64 { 0 }
}

extension Double: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": "number"] }
    fileprivate static func sample() -> Double { 0 }
}

extension String: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": "string"] }
    fileprivate static func sample() -> String { "" }
}

extension Number: SchemaProviding {
    fileprivate static func schema() -> JSONValue { ["type": ["number", "null"]] }
    fileprivate static func sample() -> Number { .unknown }
}

extension JSONValue: SchemaProviding {
    fileprivate static func schema() -> JSONValue { [:] }
    fileprivate static func sample() -> JSONValue { .null }
}

extension Array: SchemaProviding where Element: Decodable {
    fileprivate static func schema() throws -> JSONValue {
        ["type": "array", "items": try JSONSchema.sketch(Element.self).schema]
    }
    fileprivate static func sample() -> [Element] { [] }
}

extension Dictionary: SchemaProviding where Key == String, Value: Decodable {
    fileprivate static func schema() throws -> JSONValue {
        ["type": "object", "additionalProperties": try JSONSchema.sketch(Value.self).schema]
    }
    fileprivate static func sample() -> [String: Value] { [:] }
}

/// Decoder that records the decoded properties of a type, and returns sample values.
private final class Recorder: Decoder {
    /// Type whose values are not objects with named members.
    struct Unsupported: Error {}

    private var properties: [String: JSONValue] = [:]
    private var required: [String] = []
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    var schema: JSONValue {
        var schema: [String: JSONValue] = [
            "type": "object", "properties": .object(properties),
        ]
        if !required.isEmpty {
            schema["required"] = .array(required.sorted().map(JSONValue.string))
        }
        return .object(schema)
    }

    func note(_ key: any CodingKey, _ schema: JSONValue, isRequired: Bool) {
        let name = MessageKey.encoding([key]).stringValue
        properties[name] = schema
        if isRequired { required.append(name) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordedMembers<Key>(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unsupported() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Unsupported() }
}

/// Members of an object that is being recorded.
private struct RecordedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, sample) = try JSONSchema.sketch(type)
        recorder.note(key, schema, isRequired: true)
        return sample
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        recorder.note(key, try JSONSchema.sketch(type).schema, isRequired: false)
        return nil
    }

    // The protocol `KeyedDecodingContainerProtocol` declares separate methods for `Bool`, `String`
    // and numbers; their default implementations would call `decode`.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        recorder.note(key, Bool.schema(), isRequired: false)
        return nil
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        recorder.note(key, String.schema(), isRequired: false)
        return nil
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        recorder.note(key, Double.schema(), isRequired: false)
        return nil
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        recorder.note(key, Int.schema(), isRequired: false)
        return nil
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        recorder.note(key, UInt64.schema(), isRequired: false)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw Recorder.Unsupported() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw Recorder.Unsupported()
    }

    func superDecoder() throws -> any Decoder { throw Recorder.Unsupported() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Recorder.Unsupported() }
}
