/// Manual page of a companion program, made from its help texts and its settings.
public struct CompanionPage {
    /// Tables of the configuration file: name, summary, and the settings with their descriptions.
    public typealias Tables = [(
        name: String, summary: String, settings: [(key: String, text: String)]
    )]

    /// The help texts.
    public let help: HelpPage
    private let tables: Tables
    private let manual: String

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - help: The program's help texts.
    ///   - tables: The settings.
    ///   - manual: Name of the manual's chapter: `eyes.md`.
    public init(_ help: HelpPage, _ tables: Tables, manual: String) {
        self.help = help
        self.tables = tables
        self.manual = manual
    }

    /// Text of the page.
    public var text: String {
        let root = help.root
        let name = root.commandName
        let abstract = root.abstract ?? ""
        // Without a command the program executes its default command.
        let options = (root.arguments ?? []) + (root.defaultSubcommand.map(help.options) ?? [])
        let own = options.filter { !["--help", "--version"].contains(HelpPage.spelling($0)) }
        var lines = [
            ".\\\" Made from the help texts; `swift test --filter ManualPage` compares it with them.",
            ".Dd November 25, 2026", ".Dt \(name.uppercased()) 8", ".Os", ".Sh NAME",
            ".Nm \(name)", ".Nd " + sentence(abstract), ".Sh SYNOPSIS", ".Nm",
            ".Op Ar command", ".Op Ar option ...", ".Sh DESCRIPTION",
        ]
        for paragraph in (root.discussion ?? "").split(separator: "\n") {
            lines += [".Pp"] + Mdoc.lines(String(paragraph))
        }
        lines += [".Pp", "Options:"] + HelpPage.list(own)
        let commands = help.sections(without: [])
        if !commands.isEmpty { lines += [".Sh COMMANDS"] + commands }
        lines += [".Sh SETTINGS"]
        lines += Mdoc.lines(
            "The file /etc/airframe/\(name).toml contains these settings. Every setting has a default."
        )
        for table in tables {
            lines += [".Ss " + Mdoc.argument(table.name)] + Mdoc.lines(table.summary)
            lines.append(".Bl -tag -width Ds")
            for (key, text) in table.settings {
                lines += [".It Va " + Mdoc.argument(key)] + Mdoc.lines(text)
            }
            lines.append(".El")
        }
        lines += [
            ".Sh FILES", ".Bl -tag -width Ds", ".It Pa /etc/airframe/\(name).toml",
            "The settings.", ".El", ".Sh SEE ALSO", ".Xr airframectl 1 ,", ".Xr airframed 8 ,",
            "the chapter", ".Pa \(manual)", "of the manual",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Changes an abstract to the rest of a sentence: initial small letter, no full stop.
    private func sentence(_ abstract: String) -> String {
        let text = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
