import ArgumentParser
import Configuration
import TestSupport
import Testing

@testable import Eyes

@Suite("The manual page airframe-eyes(8)")
struct EyesManualPageTests {
    private let file = CommittedFile("etc/man/airframe-eyes.8")

    private func page() throws -> CompanionPage {
        CompanionPage(
            try HelpPage(AirframeEyes._dumpHelp()),
            EyesSchema.table.documentation, manual: "eyes.md")
    }

    @Test("the page matches the help texts and the settings")
    func matches() throws {
        if let drift = try file.drift(from: page().text) { Issue.record("\(drift)") }
    }

    @Test("the page contains every command and option")
    func everything() throws {
        #expect(try page().help.missing(in: file.text()) == [])
    }
}
