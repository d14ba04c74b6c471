import Testing
import Wire

@Suite("JSON schemas derived from Swift types")
struct JSONSchemaTests {
    private enum Colour: String, Codable, CaseIterable { case red, green }

    private struct Inner: Codable { var angleDeg: Number }

    private struct Answer: Codable {
        var sentence: String
        var isOn: Bool
        var count: Int
        var share: Double?
        var note: String?
        var colour: Colour
        var list: [Inner]
        var byName: [String: Int]
        var inner: Inner?
        var anything: JSONValue
    }

    @Test("a schema has the JSON members' names and types, and requires non-optional ones")
    func answer() throws {
        let schema = try #require(JSONSchema.of(Answer.self))
        let inner: JSONValue = [
            "type": "object", "properties": ["angle_deg": ["type": ["number", "null"]]],
            "required": ["angle_deg"],
        ]
        #expect(
            schema == [
                "type": "object",
                "properties": [
                    "sentence": ["type": "string"], "is_on": ["type": "boolean"],
                    "count": ["type": "integer"], "share": ["type": "number"],
                    "note": ["type": "string"],
                    "colour": ["type": "string", "enum": ["red", "green"]],
                    "list": ["type": "array", "items": inner],
                    "by_name": [
                        "type": "object", "additionalProperties": ["type": "integer"],
                    ],
                    "inner": inner, "anything": [:],
                ],
                "required": [
                    "anything", "by_name", "colour", "count", "is_on", "list", "sentence",
                ],
            ])
    }

    @Test("the result types of the diagnostics socket have schemas")
    func answers() {
        #expect(JSONSchema.of(Status.self)?["properties"]?["attitude"]?["properties"] != nil)
        #expect(JSONSchema.of([DoctorCheck].self)?["items"]?["properties"]?["level"] != nil)
        #expect(JSONSchema.of(AutotuneReport.self) != nil)
        #expect(JSONSchema.of(CalibrationReport.self) != nil)
        #expect(JSONSchema.of(SpectrumReport.self) != nil)
        #expect(JSONSchema.of(ControlsReport.self) != nil)
    }

    @Test("a type that contains an enumeration without a list of its cases has no schema")
    func unknown() {
        enum Shade: String, Codable { case dark }
        struct Answer: Codable { var shade: Shade }
        #expect(JSONSchema.of(Answer.self) == nil)
    }
}
