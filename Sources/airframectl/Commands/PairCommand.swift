import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

struct PairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Let a phone or a browser pair; list or remove paired phones and browsers.",
        discussion: """
            list             paired phones (the default)
            allow            let new phones pair for --seconds, and show the passkey to type on the phone
            forget ADDRESS   forget the keys of a phone
            web              show the code for the page of airframe-web, valid for --seconds; with --list, list the paired browsers; with --revoke ID, remove one browser (or all)

            For phones, pairing is needed only with bluetooth.security = "encrypted". Only this command shows the passkey.
            """)

    /// Actions of the command `pair`.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, allow, forget, web
    }

    /// Interval between two requests for the state of the pairing, s.
    private static let period = 0.3

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Action: list, allow, forget or web.")
    var action: Action = .list
    @Argument(help: "For `pair forget`: address of the phone, as `airframectl pair list` shows it.")
    var address: String?
    @Option(
        help:
            "For `pair allow` and `pair web`: time for which pairing is allowed, \(PairingTime.text)."
    )
    var seconds = PairingTime.usual
    @Flag(name: .customLong("list"), help: "For `pair web`: list the paired browsers.")
    var listsBrowsers = false
    @Option(help: "For `pair web`: id of the browser to remove, or `all` for every browser.")
    var revoke: String?
    @Option(help: "For `pair web`: path of airframe-web's socket.", completion: .file())
    var control = "/run/airframe-web/control.sock"

    func validate() throws {
        if action != .web, listsBrowsers || revoke != nil {
            throw ValidationError("--list and --revoke are options of `airframectl pair web`.")
        }
        if (action == .forget) != (address != nil) {
            throw ValidationError(
                "Give an address with the action `forget`, and only with `forget`.")
        }
        guard PairingTime.range.contains(seconds) else {
            throw ValidationError("--seconds must be \(PairingTime.text).")
        }
    }

    func run() throws {
        if action == .web {
            return try WebPairing(path: control, timeout: options.timeout, json: options.json)
                .run(lists: listsBrowsers, revoke: revoke, seconds: seconds)
        }
        let client = try options.connect()
        switch action {
        case .web: break
        case .list: try show(try ask(client, ["action": "status"]))
        case .allow: try allow(client)
        case .forget:
            try show(
                try ask(client, ["action": "forget", "address": .string(address ?? "")]),
                asked: true)
        }
    }

    private func ask(
        _ client: DaemonClient, _ params: [String: JSONValue]
    ) throws -> BluetoothStatus {
        try client.request(.pair, params)
    }

    private func show(_ status: BluetoothStatus, asked: Bool = false) throws {
        if options.json { return try Output.json(status) }
        if asked { return Output.line("Removing the keys of \(address ?? "").") }
        PairView.list(status).forEach(Output.line)
    }

    /// Waits until a phone has paired, the timeout has expired, or the user has pressed Ctrl-C.
    private func allow(_ client: DaemonClient) throws {
        let signals = SignalQueue([SIGINT, SIGTERM])
        let before = try ask(client, ["action": "allow", "seconds": .double(seconds)])
        if !options.json { Output.line("New phones can pair for \(Format.fixed(seconds, 0)) s.") }
        var shown: String?
        var isOpen = false
        while true {
            let signal = signals.next(within: Self.period)
            if signal != nil { _ = try ask(client, ["action": "allow", "seconds": 0]) }
            let status = try ask(client, ["action": "status"])
            if options.json { try Output.json(status) }
            if let passkey = status.pairing?.passkey, passkey != shown {
                shown = passkey
                if !options.json {
                    Output.line("\(status.pairing?.address ?? "A phone"): type \(passkey) on it.")
                }
            }
            if status.pairing != nil { isOpen = true }
            guard signal != nil || (isOpen && status.pairing == nil) else { continue }
            if !options.json { Output.line(PairView.outcome(before, status)) }
            if signal != nil { throw ExitCodes.failure(after: signal) }
            return
        }
    }
}

/// Text output of the paired phones.
enum PairView {
    static func list(_ status: BluetoothStatus) -> [String] {
        var lines = status.bonds.map { bond in
            let isHere = status.centrals.contains { $0.address == bond.address }
            return "\(bond.address)  \(bond.name)\(isHere ? "  (connected)" : "")"
        }
        if lines.isEmpty { lines.append("No phone is paired.") }
        if status.security != "encrypted" {
            lines.append(
                "Phones do not need to pair: bluetooth.security is \"\(status.security)\".")
        }
        return lines
    }

    static func outcome(_ before: BluetoothStatus, _ after: BluetoothStatus) -> String {
        let known = Set(before.bonds.map(\.address))
        let new = after.bonds.filter { !known.contains($0.address) }
        return new.isEmpty
            ? "No new phone has paired."
            : "Paired: " + new.map { "\($0.address) \($0.name)" }.joined(separator: ", ")
    }
}
