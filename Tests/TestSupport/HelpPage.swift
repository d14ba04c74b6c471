import Foundation

/// Part of a manual page that is made from a program's help texts.
public struct HelpPage {
    /// Help of a command in ArgumentParser's dump format, reduced to the fields that the page
    /// needs.
    public struct Command: Decodable {
        /// An argument or an option.
        public struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            /// `positional`, `option` or `flag`.
            public var kind: String
            var names: [Name]?
            var valueName: String?
            var abstract: String?
            var defaultValue: String?
            var allValues: [String]?
            var isOptional: Bool
            var isRepeating: Bool
            var shouldDisplay: Bool
        }
        /// Name.
        public var commandName: String
        /// Summary of the command, one sentence.
        public var abstract: String?
        /// Name of the default subcommand.
        public var defaultSubcommand: String?
        /// Explanation of the command.
        public var discussion: String?
        /// Arguments and options.
        public var arguments: [Argument]?
        /// Subcommands.
        public var subcommands: [Command]?
    }

    /// Root command of the program.
    public let root: Command

    /// Reads the help texts.
    ///
    /// - Parameter dump: JSON of ArgumentParser's `_dumpHelp()`.
    /// - Throws: An error if the text is not such JSON.
    public init(_ dump: String) throws {
        struct Dump: Decodable { var command: Command }
        root = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
    }

    /// The commands, each with its usage, help and options.
    ///
    /// - Parameter common: Options that the page lists in another section.
    /// - Returns: Lines of mdoc(7).
    public func sections(without common: [Command.Argument]) -> [String] {
        (root.subcommands ?? []).filter { $0.commandName != "help" }
            .flatMap { section(of: $0, under: "", without: common) }
    }

    /// Finds commands and options that a page does not contain.
    ///
    /// - Parameter page: Text of the page.
    /// - Returns: Names of missing commands, and of commands with a missing option.
    public func missing(in page: String) -> [String] {
        // The page escapes hyphens, so that readers can copy them from the terminal.
        let text = page.replacing("\\-", with: "-")
        func look(_ command: Command, _ parents: String) -> [String] {
            let name = parents + command.commandName
            let children = (command.subcommands ?? []).filter { $0.commandName != "help" }
            let options = (command.arguments ?? []).filter { $0.kind != "positional" }
                .map(Self.spelling)
                .filter { $0 != "--help" && !text.contains($0) }
            let isNamed = !children.isEmpty || text.contains("\n.Dl \"\(root.commandName) \(name)")
            return (isNamed ? [] : [name]) + options.map { "\(name) \($0)" }
                + children.flatMap { look($0, name + " ") }
        }
        return (root.subcommands ?? []).filter { $0.commandName != "help" }
            .flatMap { look($0, "") }
    }

    private func section(
        of command: Command, under parents: String, without common: [Command.Argument]
    ) -> [String] {
        let name = parents + command.commandName
        if let children = command.subcommands, !children.isEmpty {
            return children.flatMap { section(of: $0, under: name + " ", without: common) }
        }
        let arguments = (command.arguments ?? []).filter { argument in
            let spelling = Self.spelling(argument)
            return argument.shouldDisplay && spelling != "--help"
                && !common.contains {
                    Self.spelling($0) == spelling && $0.abstract == argument.abstract
                }
        }
        let synopsis = ([root.commandName, name] + arguments.map(Self.usage)).joined(separator: " ")
        return [".Ss " + Mdoc.argument(name), ".Dl " + Mdoc.argument(synopsis), ".Pp"]
            + Self.paragraphs(command.abstract ?? "")
            + Self.paragraphs(command.discussion ?? "", isFirst: false) + Self.list(arguments)
    }

    /// Options of a command, without `--help`.
    ///
    /// - Parameter command: Name of a command directly below the program.
    /// - Returns: The options; empty if there is no such command.
    public func options(of command: String) -> [Command.Argument] {
        let found = root.subcommands?.first { $0.commandName == command }
        return (found?.arguments ?? []).filter { Self.spelling($0) != "--help" }
    }

    /// Spelling of an option, such as `--rollback`, or the name of a positional value.
    public static func spelling(_ argument: Command.Argument) -> String {
        guard argument.kind != "positional" else { return argument.valueName ?? "" }
        let long = argument.names?.first { $0.kind == "long" }?.name ?? ""
        return "--" + long
    }

    /// Usage of an argument, such as `[--rollback TIME]` or `FILE`.
    private static func usage(_ argument: Command.Argument) -> String {
        let value = (argument.valueName ?? "").uppercased()
        let dots = argument.isRepeating ? "..." : ""
        let words =
            switch argument.kind {
            case "positional": value
            case "flag": spelling(argument)
            default: spelling(argument) + " " + value
            }
        return (argument.isOptional ? "[\(words)]" : words) + dots
    }

    /// Formats a list of options.
    public static func list(_ arguments: [Command.Argument]) -> [String] {
        guard !arguments.isEmpty else { return [] }
        var lines = [".Bl -tag -width Ds"]
        for argument in arguments {
            lines.append(".It " + Mdoc.argument(tag(argument)))
            lines += Mdoc.lines(argument.abstract ?? "")
            if let value = argument.defaultValue { lines += Mdoc.lines("Default \(value).") }
        }
        return lines + [".El"]
    }

    private static func tag(_ argument: Command.Argument) -> String {
        let value = (argument.valueName ?? "").uppercased()
        guard argument.kind != "positional" else { return value }
        let short = argument.names?.first { $0.kind == "short" }.map { "-\($0.name), " } ?? ""
        return short + spelling(argument) + (argument.kind == "flag" ? "" : " " + value)
    }

    /// Formats a help text. A line with a word, two spaces and a meaning is a list item. An
    /// indented line is an example.
    private static func paragraphs(_ text: String, isFirst: Bool = true) -> [String] {
        var lines: [String] = []
        var isInList = false
        for line in text.split(separator: "\n") {
            let parts = line.firstRange(of: #/  +/#).map {
                (line[..<$0.lowerBound], line[$0.upperBound...])
            }
            if let (word, meaning) = parts, !word.isEmpty {
                if !isInList { lines.append(".Bl -tag -width Ds") }
                isInList = true
                lines += [".It " + Mdoc.argument(String(word))] + Mdoc.lines(String(meaning))
                continue
            }
            if isInList { lines.append(".El") }
            isInList = false
            if let (_, example) = parts {
                lines.append(".Dl " + Mdoc.argument(String(example)))
            } else {
                if !lines.isEmpty || !isFirst { lines.append(".Pp") }
                lines += Mdoc.lines(String(line))
            }
        }
        return isInList ? lines + [".El"] : lines
    }
}
