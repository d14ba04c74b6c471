import TestSupport

@testable import Configuration

/// Expected content of `etc/man/airframed.toml.5`, generated from the schema.
enum ManualPage {
    static var text: String {
        var lines = head
        for (table, summary) in Schema.tables {
            lines.append(".Ss \(Mdoc.argument(table))")
            lines += Mdoc.lines(summary)
            lines.append(".Bl -tag -width Ds")
            for setting in Schema.settings where setting.table == table {
                lines.append(".It Va \(Mdoc.argument(setting.key))")
                lines += Mdoc.lines(setting.summary)
                lines += Mdoc.lines(SampleFile.facts(of: setting))
                if let sentence = setting.assistantSentence { lines += Mdoc.lines(sentence) }
            }
            lines.append(".El")
        }
        return (lines + tail).joined(separator: "\n") + "\n"
    }

    private static let head = """
        .\\" Made from the schema; `swift test --filter ManualPage` says what it should be.
        .Dd November 24, 2026
        .Dt AIRFRAMED.TOML 5
        .Os
        .Sh NAME
        .Nm airframed.toml
        .Nd configuration of the gimbal controller
        .Sh SYNOPSIS
        .Nm /etc/airframe/airframed.toml
        .Nm /etc/airframe/conf.d/*.toml
        .Sh DESCRIPTION
        .Xr airframed 8
        reads these files when it starts, and again on
        .Dv SIGHUP
        or
        .Ql airframectl reload .
        The files have the format TOML 1.0.
        Every setting has a default, so the files may be empty or missing.
        .Pp
        Later sources override earlier sources: default, file,
        .Pa conf.d
        in the order of the names, saved live changes,
        .Fl \\-set
        on the command line, live change.
        .Pp
        A file with an error is refused as a whole.
        .Ql airframed \\-\\-check\\-config
        lists every mistake with its line, the allowed range and a remedy;
        .Ql airframed \\-\\-print\\-config
        shows the values and the source of each, without saved values;
        .Ql airframectl get
        shows the effective values.
        .Pp
        Three numbers in brackets are yaw, roll, pitch unless stated otherwise.
        Ranges include both ends.
        .Pp
        An assistant
        .Pq Ql airframectl mcp
        can change only the settings whose description permits the change.
        If an assistant can only lower or raise a value, the limit is the value without the assistant's change.
        .Sh SETTINGS
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    private static let tail = """
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa /etc/airframe/airframed.toml
        Every setting with its default, commented out, as installed.
        .It Pa /var/lib/airframe
        Saved tuning, baselines and calibration.
        Do not edit these files.
        .El
        .Sh EXAMPLES
        Servos and a BMI088 on an I2C bus:
        .Bd -literal -offset indent
        [hardware]
        backend = "linux"
        [motors]
        type = "servo"
        [imu]
        mounting_deg = [0, 180, 0]
        .Ed
        .Sh SEE ALSO
        .Xr airframectl 1 ,
        .Xr airframed 8
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
