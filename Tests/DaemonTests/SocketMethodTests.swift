import Configuration
import GimbalCore
import Port
import TestSupport
import Testing
import Wire

@testable import Daemon
@testable import Links

@Suite("Socket methods for settings and tasks") struct SocketMethodTests {
    private static func methods(_ bench: BluetoothBench) -> [SocketMethod] {
        let tasks = TaskMethods(
            tuning: bench.tuning, commander: bench.commander, calibration: bench.calibration,
            spectra: bench.spectra, autotuning: bench.autotuning, setup: bench.setup,
            recorder: nil, logStore: bench.logStore, radio: nil, clock: bench.clock)
        return SocketMethod.settings(bench.tuning) + tasks.methods
    }

    /// Calls a method in the same way as the server.
    private func ask(
        _ line: String, _ bench: BluetoothBench, mayWrite: Bool = true
    ) throws(Refusal) -> [JSONValue] {
        guard let request = try? Request(line: Array(line.utf8)),
            let method = Self.methods(bench).first(where: { $0.name == request.method })
        else { throw Refusal(.invalidRequest, line) }
        let caller = SocketMethod.Caller(
            client: DiagnosticsClient(id: 1, pid: 1, user: 1000),
            refusal: mayWrite ? nil : Refusal(.permissionDenied, "no"))
        let parameters = try Parameters(request, method.parameters)
        switch method.work {
        case .question(let body): return array(try body(parameters, ClientStatus()))
        case .now(let body): return array(try body(parameters, caller))
        case .later(let body): try body(parameters, caller) { _ in }
        case .subscribe, .unsubscribe, .identify: break
        }
        return []
    }

    private func array(_ answer: any Encodable) -> [JSONValue] {
        (answer as? [Wire.Setting])?.map { .string($0.key) } ?? []
    }

    @Test(
        "an invalid parameter is refused with its name and the reason",
        arguments: [
            (
                #"{"id":1,"method":"get","params":{"keys":["loop.rate_h"]}}"#, "unknown_key",
                "keys", "Did you mean \"loop.rate_hz\"?"
            ),
            (
                #"{"id":1,"method":"set","params":{"key":"loop.rate_hz"}}"#, "invalid_params",
                "value", "needs the parameter"
            ),
            (
                #"{"id":1,"method":"set","params":{"key":"loop.rate_hz","value":1,"rollback":0}}"#,
                "out_of_range", "rollback", "outside 1...3600 s"
            ),
            (
                #"{"id":1,"method":"baseline","params":{"action":"store","name":"../x"}}"#,
                "invalid_params", "name", "letters, digits"
            ),
            (
                #"{"id":1,"method":"calibrate","params":{"action":"start","what":"gyr"}}"#,
                "invalid_params", "what", "Did you mean \"gyro\"?"
            ),
            (
                #"{"id":1,"method":"calibrate","params":{"action":"start"}}"#, "invalid_params",
                "what", "needs the parameter"
            ),
        ] as [(String, String, String, String)])
    func refusal(line: String, code: String, field: String, words: String) throws {
        try withBench { bench, _ throws in
            do throws(Refusal) {
                _ = try ask(line, bench)
                Issue.record("granted: \(line)")
            } catch {
                #expect(error.code.rawValue == code && error.field == field)
                #expect(error.message.contains(words), "\(error.message)")
            }
        }
    }

    @Test(
        "get accepts keys and sections, and returns each setting once")
    func get() throws {
        try withBench { bench, _ throws in
            let names = [String](repeating: "\"airos.pid\"", count: 5900).joined(separator: ",")
            #expect(
                try ask(#"{"id":1,"method":"get","params":{"keys":[\#(names)]}}"#, bench) == [
                    "airos.pid.pitch", "airos.pid.roll", "airos.pid.yaw",
                ])
            #expect(
                try ask(
                    #"{"id":1,"method":"get","params":{"keys":["loop.rate_hz","tracking.*"]}}"#,
                    bench
                ).prefix(2) == ["loop.rate_hz", "tracking.max_rate_dps"])
            #expect(
                try ask(#"{"id":1,"method":"get"}"#, bench).count == Schema.settings.count)
        }
    }

    @Test(
        "actions that change something need write access",
        arguments: [
            ("spectrum", "start"), ("spectrum", "cancel"), ("calibrate", "start"),
            ("calibrate", "cancel"), ("calibrate", "undo"), ("autotune", "start"),
            ("autotune", "cancel"), ("pair", "allow"), ("pair", "forget"), ("record", "last"),
            ("record", "start"), ("record", "stop"), ("baseline", "store"),
            ("baseline", "restore"), ("baseline", "delete"),
        ])
    func readersOnlyLook(method: String, action: String) throws {
        let extra: [String: String] = [
            "calibrate": #","what":"gyro""#, "autotune": #","axis":"yaw""#,
            "pair": #","address":"x""#, "baseline": #","name":"x""#,
        ]
        let line =
            #"{"id":1,"method":"\#(method)","params":{"action":"\#(action)"\#(extra[method] ?? "")}}"#
        try withBench { bench, _ throws in
            do throws(Refusal) {
                _ = try ask(line, bench, mayWrite: false)
                Issue.record("granted: \(line)")
            } catch {
                #expect(error.code == .permissionDenied)
            }
            if method != "pair" {
                _ = try ask(
                    #"{"id":1,"method":"\#(method)","params":{}}"#, bench, mayWrite: false)
            }
        }
    }

    @Test("only the listed methods work without write access")
    func writes() throws {
        try withBench { bench, _ throws in
            let methods =
                Self.methods(bench)
                + SocketMethod.motion(
                    DaemonPort(
                        commander: bench.commander, tuning: bench.tuning,
                        calibrations: bench.calibration, spectra: bench.spectra,
                        autotuning: bench.autotuning, setup: bench.setup, steppers: nil,
                        hub: bench.hub, clock: bench.clock)) + SocketMethod.own([])
            let reads = methods.filter { !$0.isWrite }.map(\.name).sorted()
            #expect(
                reads == [
                    "autotune", "baseline", "calibrate", "client", "diff", "get", "history", "keys",
                    "log", "methods", "pair", "ping", "record", "setup", "spectrum",
                    "subscribe", "unsubscribe", "variables",
                ])
        }
    }
}
