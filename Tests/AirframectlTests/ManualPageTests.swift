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
        // Hyphens are escaped, so that they can be copied from the terminal.
        let text = try file.text().replacing("\\-", with: "-")
        func look(_ command: ManualPage.Command, _ parents: String) {
            let name = parents + command.commandName
            for child in command.subcommands ?? [] where child.commandName != "help" {
                look(child, name + " ")
            }
            if command.subcommands?.isEmpty ?? true {
                #expect(text.contains("\n.Dl \"airframectl \(name)"), "\(name)")
            }
            for argument in command.arguments ?? [] where argument.kind != "positional" {
                let option = ManualPage.spelling(argument)
                #expect(option == "--help" || text.contains(option), "\(name) \(option)")
            }
        }
        for command in try ManualPage.commands().subcommands ?? []
        where command.commandName != "help" {
            look(command, "")
        }
    }
}
