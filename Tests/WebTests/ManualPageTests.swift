import ArgumentParser
import Configuration
import TestSupport
import Testing

@testable import Web

@Suite("The manual page airframe-web(8)")
struct WebManualPageTests {
    private let file = CommittedFile("etc/man/airframe-web.8")

    private func page() throws -> CompanionPage {
        CompanionPage(
            try HelpPage(AirframeWeb._dumpHelp()),
            WebSchema.table.documentation, manual: "web.md")
    }

    @Test("the manual page matches the help texts and the settings")
    func matches() throws {
        if let drift = try file.drift(from: page().text) { Issue.record("\(drift)") }
    }

    @Test("the manual page contains every command and option")
    func everything() throws {
        #expect(try page().help.missing(in: file.text()) == [])
    }
}
