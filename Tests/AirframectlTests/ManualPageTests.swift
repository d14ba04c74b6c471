import TestSupport
import Testing

@Suite("The manual page airframectl(1)")
struct ManualPageTests {
    private let file = CommittedFile("etc/man/airframectl.1")

    @Test("says what the help texts say")
    func matchesHelp() throws {
        if let drift = try file.drift(from: ManualPage.text()) { Issue.record("\(drift)") }
    }

    @Test("names every command, argument and option")
    func everything() throws {
        #expect(try ManualPage.help().missing(in: file.text()) == [])
    }
}
