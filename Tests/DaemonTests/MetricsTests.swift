import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// Checks the output of `airframectl metrics` with Prometheus's parser.
@Suite("airframectl metrics with a running daemon") struct MetricsTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    private static let isThere =
        access(root.appending(".build/peers/venv/prometheus").string, F_OK) == 0

    /// Settings of a simulated gimbal for each type of motor, with the robots that exist as a
    /// simulation.
    private static let outputs = [
        ["motors.type=torque"], ["motors.type=field", "drive.board=simulated"],
        ["motors.type=servo", "robot.motors=simulated"],
    ]

    @Test(
        "Prometheus's parser accepts every metric, for each type of motor",
        .enabled(
            if: isThere,
            "Prometheus's parser is not installed: make .build/peers/venv/prometheus"
        ), arguments: outputs)
    func parser(settings: [String]) throws {
        try withDaemon(settings.flatMap { ["--set", $0] }) { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            // A companion's name becomes a label.
            let companion = try SocketClient(daemon.socket)
            let report =
                #"{"id":1,"method":"companion","params":{"name":"eyes","level":"warn","finding":"a \"b\" \\c"}}"#
            #expect(try companion.ask(report)["result"] != nil)
            let metrics = try daemon.control("metrics")
            #expect(metrics.status == 0)
            let run = try Program.run(
                [Self.python, Self.root.appending("Tests/Peers/read_metrics.py").string],
                in: daemon.directory, input: metrics.output)
            #expect(run.status == 0, "\(run.errors)\(metrics.output)")
            let families = run.output.split(separator: "\n")
            #expect(families.count > 20, "\(run.output)")
            // The parser removes the suffix _total of counters.
            #expect(families.contains { $0 == "airframe_loop_ticks counter 1" })
            #expect(families.contains { $0 == "airframe_attitude_degrees gauge 3" })
            #expect(families.contains { $0 == "airframe_companion_healthy gauge 1" })
            let hasWheels = families.contains { $0 == "airframe_wheels_ready gauge 1" }
            #expect(hasWheels == settings.contains("drive.board=simulated"))
        }
    }

    @Test("--output replaces a file, even if the daemon does not answer")
    func output() throws {
        try withDaemon { daemon in
            let file = daemon.directory.appending("airframe.prom")
            #expect(try daemon.control("metrics", "--output", file.string).status == 0)
            #expect(try text(of: file).contains("airframe_up 1.0\n"))
            let lost = try Program.run(
                [
                    try Program.built("airframectl"), "--socket", "/nonexistent", "metrics",
                    "--output", file.string,
                ], in: daemon.directory)
            #expect(lost.status == 69)
            #expect(try text(of: file).contains("airframe_up 0.0\n"))
            #expect(try text(of: file).split(separator: "\n").count == 3)
        }
    }

    private func text(of file: FilePath) throws -> String {
        String(decoding: try bytes(of: file), as: UTF8.self)
    }
}
