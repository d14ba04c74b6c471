import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything, and state a remedy for each problem.",
        discussion:
            "The checks take a second. The exit code is 2 if a check fails, for example because a problem keeps the motors off."
    )

    /// Output of the command with --json.
    private struct Report: Encodable {
        var checks: [DoctorCheck]
        var worst: DoctorCheck.Level
    }

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let begin = DaemonClient.now()
        let client: DaemonClient
        do {
            client = try options.connect()
        } catch {
            try finish([
                DoctorCheck("socket", .fail, options.socket, remedy: error.requestError.message)
            ])
            throw ExitCode(error.exitCode)
        }
        let version: VersionInfo = try client.request(.version)
        let answered = (DaemonClient.now() - begin) * 1e3
        var checks = [
            DoctorCheck(
                "socket", .ok, "\(options.socket) answers in \(Format.fixed(answered, 1)) ms"),
            protocolCheck(version),
        ]
        // Two requests are sent, because the daemon compares the counters at the second request
        // with those at the first.
        _ = try client.request(.doctor, as: [DoctorCheck].self)
        _ = SignalQueue([]).next(within: 1)
        checks += try client.request(.doctor, as: [DoctorCheck].self)
        try finish(checks)
        if checks.contains(where: { $0.level == .fail }) { throw ExitCode(ExitCodes.inhibited) }
    }

    private func protocolCheck(_ version: VersionInfo) -> DoctorCheck {
        let finding = "\(version.program) \(version.version), protocol \(version.protocolVersion)"
        let isSame = version.protocolVersion == VersionInfo.currentProtocol
        return DoctorCheck(
            "version", isSame ? .ok : .warn, finding,
            remedy: isSame
                ? ""
                : "This airframectl uses protocol \(VersionInfo.currentProtocol): install the same version of airframectl and airframed."
        )
    }

    private func finish(_ checks: [DoctorCheck]) throws {
        if options.json {
            let levels = checks.map(\.level)
            let worst: DoctorCheck.Level =
                levels.contains(.fail) ? .fail : levels.contains(.warn) ? .warn : .ok
            return try Output.json(Report(checks: checks, worst: worst))
        }
        DoctorView.lines(checks, .forOutput(), width: Output.columns).forEach(Output.row)
    }
}

/// Text output of `airframectl doctor`.
enum DoctorView {
    static func lines(
        _ checks: [DoctorCheck], _ style: Style, width terminal: Int = .max
    ) -> [String] {
        let width = checks.map(\.name.count).max() ?? 0
        let indent = width + 8
        var lines: [String] = []
        for check in checks {
            let role: Style.Role =
                switch check.level {
                case .ok: .good
                case .warn: .caution
                case .fail: .bad
                }
            let level = style(role, Format.left(check.level.rawValue, 4))
            lines.append("\(level)  \(Format.left(check.name, width))  \(check.finding)")
            guard !check.remedy.isEmpty else { continue }
            for part in Format.wrapped(check.remedy, min(72, terminal - indent)) {
                lines.append(String(repeating: " ", count: indent) + part)
            }
        }
        let (fails, warnings) = (
            checks.count { $0.level == .fail }, checks.count { $0.level == .warn }
        )
        let verdict: String
        switch (fails, warnings) {
        case (0, 0): verdict = style(.good, "No problem found.")
        case (0, _):
            verdict = style(
                .caution, "No check has failed; warnings to check: \(warnings).")
        default: verdict = style(.bad, "Checks that have failed: \(fails).")
        }
        return lines + ["", verdict]
    }
}
