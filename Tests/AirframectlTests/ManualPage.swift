import ArgumentParser
import TestSupport
import Wire

@testable import Observables
@testable import airframectl

/// Expected content of `etc/man/airframectl.1`, generated from the help texts.
enum ManualPage {
    /// Help texts of all commands.
    static func help() throws -> HelpPage { try HelpPage(Airframectl._dumpHelp()) }

    static func text() throws -> String {
        let help = try help()
        let common = help.options(of: "status")
        let (description, exitCodes) = try halves(help.root.discussion ?? "")
        var lines = head + Mdoc.lines(description)
        lines += [".Pp", "Commands that send requests to airframed have these options:"]
        lines += HelpPage.list(common)
        lines.append(".Sh COMMANDS")
        lines += help.sections(without: common)
        lines += variables + environment + [".Sh EXIT STATUS"] + Mdoc.lines(exitCodes)
        return (lines + tail).joined(separator: "\n") + "\n"
    }

    /// List of the variables, with their names in `status` and in recordings. The components of a
    /// vector share one item.
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

    /// Description of the program and the exit codes, from the help text.
    private static func halves(_ discussion: String) throws -> (String, String) {
        let parts = discussion.split(separator: "\n").map(String.init)
        struct Unexpected: Error { var paragraphs: Int }
        guard parts.count == 2 else { throw Unexpected(paragraphs: parts.count) }
        return (parts[0], parts[1])
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
        sends requests to
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
        Why does the camera not move, and what is the remedy?
        .Dl airframectl status
        .Dl airframectl doctor
        .Pp
        Look down by 30 degrees within two seconds:
        .Dl airframectl point \\-\\-pitch \\-30 \\-\\-duration 2
        .Pp
        Try a gain; airframed reverts it after half a minute:
        .Dl airframectl set control.attitude_gain \\(aq[50,50,50]\\(aq \\-\\-rollback 30s
        .Sh SEE ALSO
        .Xr airframed.toml 5 ,
        .Xr airframed 8
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
