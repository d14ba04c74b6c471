import GimbalCore
import TestSupport
import Testing
import Wire

@Suite("Conditions in etc/manual/safety.md") struct SafetyPageTests {
    /// Condition names in the table row that begins with `effect`.
    private static func names(_ effect: String) throws -> Set<String> {
        let page = try CommittedFile("etc/manual/safety.md").text()
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| \(effect) |") })
        let words = row.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }
        return Set(words.map { String($0.element) })
    }

    @Test(
        "the table lists every condition in the row of its effect",
        arguments: [
            ("off at once", Response.off), ("the torque ramps down to zero", .softOff),
            ("the motors cannot be switched on", .blockStart), ("reported only", .report),
        ])
    func rows(effect: String, response: Response) throws {
        let expected = Conditions.catalogue.filter {
            Supervisor.response(to: $0.condition) == response
        }
        #expect(try Self.names(effect) == Set(expected.map(\.name)))
    }

    @Test("missing samples are explained by a setting and by load, not by the computer's clock")
    func missingSamples() throws {
        let words = try #require(Conditions.catalogue.first { $0.name == "imu_time_fault" })
        #expect(words.sentence.contains("imu.timeout_ms"))
        // In lockstep, `Settings` ignores `imu.timeout_ms`.
        #expect(words.sentence.contains("in lockstep, 20 ms"))
        #expect(words.sentence.contains("other programs"))
        #expect(!words.sentence.contains("clock"))
    }
}
