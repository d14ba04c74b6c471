import Configuration
import TestSupport
import Testing

@Suite("Generated manual page airframed.toml(5)")
struct ManualPageTests {
    @Test("the manual page matches the schema")
    func matchesSchema() throws {
        if let drift = try CommittedFile("etc/man/airframed.toml.5").drift(from: ManualPage.text) {
            Issue.record("\(drift)")
        }
    }
}
