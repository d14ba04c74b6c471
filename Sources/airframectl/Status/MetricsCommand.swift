import ArgumentParser
import Client
import Glibc
import SystemPackage
import Wire

struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print metrics in Prometheus's text format.",
        discussion: """
            With --output the command replaces a file atomically, for the textfile collector of node_exporter. If airframed does \
            not answer or refuses the request, the file contains only airframe_up 0, and the exit code is 69, 75 or 1. The page metrics.md of the \
            manual shows the set-up.
            """)

    @Option(
        help: "File to replace, for example airframe.prom in the collector's folder.",
        completion: .file())
    var output: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !options.json else {
            throw ValidationError(
                "metrics prints Prometheus's text format. Omit --json, or use status.")
        }
    }

    func run() throws {
        let status: Status
        do throws(ClientError) {
            status = try options.connect().request(.status)
        } catch {
            // Old metrics would hide the failure.
            if output != nil { try write(PrometheusText.unreachable) }
            throw error
        }
        try write(PrometheusText(status).lines)
    }

    private func write(_ lines: [String]) throws(ClientError) {
        guard let output else { return lines.forEach(Output.line) }
        let part = FilePath(output + ".\(getpid()).tmp")
        do {
            let file = try FileDescriptor.open(
                part, .writeOnly, options: [.create, .truncate],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try file.closeAfter {
                _ = try file.writeAll((lines.joined(separator: "\n") + "\n").utf8)
            }
            // Programs that read the file get the old or the new file, never an incomplete file.
            guard rename(part.string, output) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(part.string)
            throw .file("\(output): \(error)", field: "output")
        }
    }
}
