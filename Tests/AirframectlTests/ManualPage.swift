import ArgumentParser
import Foundation
import TestSupport
import Wire

@testable import Observables
@testable import airframectl

/// What `etc/man/airframectl.1` is to say, made from the help texts.
enum ManualPage {
    /// A command as ArgumentParser dumps its help, as far as the page needs it.
    struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var names: [Name]?
            var valueName: String?
            var abstract: String?
            var defaultValue: String?
            var allValues: [String]?
            var isOptional: Bool
            var isRepeating: Bool
        }
        var commandName: String
        var abstract: String?
        var discussion: String?
        var arguments: [Argument]?
        var subcommands: [Command]?
    }

    /// The whole tree of commands.
    static func commands() throws -> Command {
        struct Dump: Decodable { var command: Command }
        return try JSONDecoder().decode(Dump.self, from: Data(Airframectl._dumpHelp().utf8)).command
    }

    static func text() throws -> String {
        let root = try commands()
        let common = try commonOptions(of: root)
        let (description, exitCodes) = try halves(root.discussion ?? "")
        var lines = head + Mdoc.lines(description)
        lines += [".Pp", "Every command takes:"] + list(common) + [".Sh COMMANDS"]
        for command in root.subcommands ?? [] where command.commandName != "help" {
            lines += section(of: command, under: "", without: common)
        }
        lines += variables + environment + [".Sh EXIT STATUS"] + Mdoc.lines(exitCodes)
        return (lines + tail).joined(separator: "\n") + "\n"
    }

    /// The variables, the components of a vector together, with their names elsewhere.
    private static var variables: [String] {
        var lines = [".Sh VARIABLES"]
        lines += Mdoc.lines(
            "The loop has these variables. `subscribe` shows each of them; `status` and the table "
                + "of `record export` show some."
        )
        lines.append(".Bl -tag -width Ds")
        var rest = Observable.all[...]
        while let first = rest.first {
            let (name, unit) = (first.variable.name, first.variable.unit)
            let isVector = name.hasSuffix(".yaw")
            let all = rest.prefix(isVector ? 3 : 1)
            rest = rest.dropFirst(all.count)
            let names = all.map(\.variable.name).joined(separator: ", ")
            let summary = first.variable.summary.dropLast(isVector ? 5 : 0)
            lines.append(".It " + Mdoc.argument(names + (unit.isEmpty ? "" : " (\(unit))")))
            lines += Mdoc.lines("\(summary).")
            if let member = first.member {
                let place = [member.group, member.name].compactMap(\.self).joined(separator: ".")
                lines += Mdoc.lines("In `status`: \(place).")
            }
            if let field = first.field {
                let column = isVector ? field.name.replacing("_yaw_", with: "_*_") : field.name
                lines += Mdoc.lines("In recordings: \(column).")
            }
        }
        return lines + [".El"]
    }

    /// What the help text says about the program, and about its exit codes.
    private static func halves(_ discussion: String) throws -> (String, String) {
        let parts = discussion.split(separator: "\n").map(String.init)
        struct Unexpected: Error { var paragraphs: Int }
        guard parts.count == 2 else { throw Unexpected(paragraphs: parts.count) }
        return (parts[0], parts[1])
    }

    private static func section(
        of command: Command, under parents: String, without common: [Command.Argument]
    ) -> [String] {
        let name = parents + command.commandName
        if let children = command.subcommands, !children.isEmpty {
            return children.flatMap { section(of: $0, under: name + " ", without: common) }
        }
        let known = Set(common.map(spelling))
        let arguments = (command.arguments ?? []).filter {
            !known.contains(spelling($0)) && spelling($0) != "--help"
        }
        let synopsis = (["airframectl", name] + arguments.map(usage)).joined(separator: " ")
        return [".Ss " + Mdoc.argument(name), ".Dl " + Mdoc.argument(synopsis), ".Pp"]
            + paragraphs(command.abstract ?? "")
            + paragraphs(command.discussion ?? "", isFirst: false) + list(arguments)
    }

    private static func commonOptions(of root: Command) throws -> [Command.Argument] {
        let status = root.subcommands?.first { $0.commandName == "status" }
        return (status?.arguments ?? []).filter { spelling($0) != "--help" }
    }

    /// `--rollback`, or the name of a value.
    static func spelling(_ argument: Command.Argument) -> String {
        guard argument.kind != "positional" else { return argument.valueName ?? "" }
        let long = argument.names?.first { $0.kind == "long" }?.name ?? ""
        return "--" + long
    }

    /// `[--rollback TIME]`, `FILE`.
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

    private static func list(_ arguments: [Command.Argument]) -> [String] {
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

    /// Lines of a help text: a word and what it means, set apart by two blanks, are a list; an
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

    private static let head = """
        .\\" Made from the help texts; `swift test --filter ManualPage` says what it should be.
        .Dd November 24, 2026
        .Dt AIRFRAMECTL 1
        .Os
        .Sh NAME
        .Nm airframectl
        .Nd observe and tune the gimbal controller, and move the camera
        .Sh SYNOPSIS
        .Nm
        .Ar command
        .Op Fl \\-socket Ar path
        .Op Fl \\-json
        .Op Fl \\-timeout Ar seconds
        .Op Ar argument ...
        .Sh DESCRIPTION
        .Nm
        talks to
        .Xr airframed 8
        over its socket.
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    private static let environment = """
        .Sh ENVIRONMENT
        .Bl -tag -width Ds
        .It Ev AIRFRAME_SOCKET
        The socket, unless
        .Fl \\-socket
        is given.
        .It Ev NO_COLOR
        Disables colours, if it is set and not empty.
        .El
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    private static let tail = """
        .Sh EXAMPLES
        Why does it not move, and what is the remedy?
        .Dl airframectl status
        .Dl airframectl doctor
        .Pp
        Look down by 30 degrees within two seconds:
        .Dl airframectl point \\-\\-pitch \\-30 \\-\\-duration 2
        .Pp
        Try a gain, which reverts after half a minute:
        .Dl airframectl set control.attitude_gain \\(aq[50,50,50]\\(aq \\-\\-rollback 30s
        .Sh SEE ALSO
        .Xr airframed.toml 5 ,
        .Xr airframed 8
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
