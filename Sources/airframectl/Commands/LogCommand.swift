import Client
import PlainText
import ArgumentParser
import Glibc
import Wire

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the daemon's recent log.")

    /// Interval between two requests for new log lines with --follow, s.
    private static let period = 0.25

    @OptionGroup var options: GlobalOptions
    @Flag(name: .shortAndLong, help: "Show new lines as they arrive, until Ctrl-C.")
    var follow = false
    @Option(name: .shortAndLong, help: "Number of earlier lines to show first, 1 to 200.")
    var lines = 50

    func validate() throws {
        guard (1...200).contains(lines) else { throw ValidationError("--lines must be 1 to 200.") }
    }

    func run() throws {
        let client = try options.connect()
        let signals = SignalQueue([SIGINT, SIGTERM])
        if options.json, !follow {
            return Output.line(try client.json(.log, ["limit": .int(lines)]).text)
        }
        let style = Style.forOutput()
        var since: Int?
        repeat {
            var params: [String: JSONValue] = ["limit": .int(since == nil ? lines : 200)]
            params["since"] = since.map(JSONValue.int)
            let page: LogPage = try client.request(.log, params)
            since = page.next
            if page.lost > 0, !options.json {
                Output.row(
                    style(
                        .caution,
                        "… \(page.lost) lines were overwritten before this client read them"
                    ))
            }
            for line in page.lines {
                if options.json {
                    try Output.json(line)
                } else {
                    Output.row(Self.text(line, style))
                }
            }
        } while follow && signals.next(within: Self.period) == nil
    }

    static func text(_ line: LogLine, _ style: Style) -> String {
        let role: Style.Role? =
            switch line.level {
            case "error", "critical": .bad
            case "warning": .caution
            case "trace", "debug": .quiet
            default: nil
            }
        let level = Format.left(line.level, 8)
        return style(.quiet, Format.right(Format.fixed(line.t.value, 3), 12)) + "  "
            + (role.map { style($0, level) } ?? level) + "  " + line.message
    }
}

struct SubscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print variables continuously, with the loop's time, until Ctrl-C.",
        discussion: """
            Without names the command lists all variables. `attitude.*` means all variables whose names begin with `attitude.`, `*` means all variables. With --json \
            every line is the daemon's message; otherwise lines have columns separated by tabs; the first column is t in seconds. With --udp each \
            message is a datagram of JSON with the loop's time as `timestamp`, for PlotJuggler's UDP Server on port 9870.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(name: .shortAndLong, help: "Messages per second, 1 to 200.")
    var rate = 10.0
    @Option(help: "Send datagrams to this address instead of printing lines.")
    var udp: String?
    @Argument(help: "Names of variables.", completion: LiveCompletion.variables)
    var names: [String] = []

    func run() throws {
        let sender = try udp.map { try DatagramLink(to: $0) }
        let client = try options.connect()
        if names.isEmpty { return try list(client) }
        let info: SubscriptionInfo = try client.request(
            .subscribe,
            ["names": .array(names.map(JSONValue.string)), "rate": .double(rate)])
        if !options.json, sender == nil {
            Output.line((["t"] + info.names).joined(separator: "\t"))
        }
        while true {
            let message = try client.nextMessage(wait: nil)
            guard message.value["subscription"]?.int == info.subscription else { continue }
            if let sender {
                sender.send(Self.datagram(message.value))
            } else if options.json {
                Output.line(String(decoding: message.line, as: UTF8.self))
            } else {
                let values = info.names.map { Format.value(message.value["values"]?[$0] ?? .null) }
                let t = Format.fixed(message.value["t"]?.number ?? .nan, 6)
                Output.line(([t] + values).joined(separator: "\t"))
            }
        }
    }

    /// Creates a datagram from a message, such as `{"timestamp":12.5,"attitude.pitch":-29.9}`.
    static func datagram(_ message: JSONValue) -> [UInt8] {
        var members = message["values"]?.object ?? [:]
        members["timestamp"] = message["t"] ?? .null
        var bytes: [UInt8] = []
        JSONValue.object(members).write(to: &bytes)
        return bytes
    }

    private func list(_ client: DaemonClient) throws {
        if options.json { return Output.line(try client.json(.variables).text) }
        let variables: [Variable] = try client.request(.variables)
        var table = Table()
        for variable in variables {
            table.add(.init(variable.name), .init(variable.unit), .init(variable.summary, .quiet))
        }
        table.lines(.forOutput()).forEach(Output.line)
    }
}
