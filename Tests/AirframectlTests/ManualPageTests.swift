import TestSupport
import Testing

@Suite("Generated manual page airframectl(1)")
struct ManualPageTests {
    private let file = CommittedFile("etc/man/airframectl.1")

    @Test("the manual page matches the help texts")
    func matchesHelp() throws {
        if let drift = try file.drift(from: ManualPage.text()) { Issue.record("\(drift)") }
    }

    @Test("the manual page contains every command, argument and option")
    func everything() throws {
        #expect(try ManualPage.help().missing(in: file.text()) == [])
    }
}
