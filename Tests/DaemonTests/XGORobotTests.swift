import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// Tests of the real daemon with a model of an XGO robot's board.
@Suite("An XGO robot and the daemon")
struct XGORobotTests {
    private let full = #"{"id":1,"method":"drive","params":{"left":1,"right":1}}"#

    private func withRobot(_ body: (RunningDaemon, XGORobot) throws -> Void) throws {
        let robot = XGORobot(
            at: "/tmp/airframe-xgo-\(getpid())-\(UInt32.random(in: 0...UInt32.max))")
        try withDaemon([
            "--set", "drive.board=xgo", "--set", "drive.port=\(robot.path)",
            "--set", "drive.acceleration=100", "--set", "drive.dead_man_s=0.5",
            "--set", "battery.source=drive",
        ]) { daemon in
            try daemon.status("the robot answers") {
                $0["drive"]?["xgo"]?["state"]?.string == "ready"
            }
            try body(daemon, robot)
        }
    }

    @Test(
        "status, battery, doctor and pose report the robot; driving over the socket ends at its dead-man time"
    )
    func conversation() throws {
        try withRobot { daemon, robot in
            let status = try daemon.status("values") {
                $0["drive"]?["xgo"]?["yaw_deg"]?.number == 90
                    && $0["battery"]?["percent"]?.number == 80
            }
            #expect(status["drive"]?["xgo"]?["firmware"]?.string == "R-1.2.3")
            #expect(status["battery"]?["name"]?.string == "robot")
            let doctor = try daemon.ask("doctor").text
            #expect(doctor.contains("xgo, 0 % 0 %, rider R-1.2.3, battery 80 %"))
            _ = try daemon.ask("set", #"{"key":"drive.balance.height_percent","value":"100"}"#)
            #expect(robot.waits { $0.memory[0x35] == 0xFF })
            let client = try SocketClient(daemon.socket)
            #expect(try client.ask(full)["error"] == nil)
            #expect(robot.waits { $0.memory[0x30] == 0xFF })
            #expect(robot.waits(2) { $0.memory[0x30] == 0x80 })
        }
    }

    @Test(
        "while the robot is unplugged, driving is refused with the reason, and a stop is accepted")
    func unplugged() throws {
        try withRobot { daemon, robot in
            robot.unplug()
            try daemon.status("missing") { $0["drive"]?["xgo"]?["state"]?.string == "missing" }
            let refusal = #expect(throws: Trouble.self) {
                try daemon.ask("drive", #"{"left":1,"right":1}"#)
            }
            #expect(refusal?.description.contains("check drive.port and the cable") == true)
            _ = try daemon.ask("drive", #"{"left":0,"right":0}"#)
            let finding = try daemon.ask("doctor").text
            #expect(finding.contains("check drive.port and the cable"))
            robot.plugIn()
            try daemon.status("ready") { $0["drive"]?["xgo"]?["state"]?.string == "ready" }
        }
    }

    @Test(
        "while an I2C board does not answer, driving is refused with the reason, and a stop is accepted"
    )
    func silentBoard() throws {
        try withDaemon([
            "--set", "drive.board=rider", "--set", "drive.bus=/nowhere/i2c-1",
        ]) { daemon in
            try daemon.status("silent") { $0["drive"]?["board_problem"]?.string != nil }
            let refusal = #expect(throws: Trouble.self) {
                try daemon.ask("drive", #"{"left":1,"right":1}"#)
            }
            #expect(refusal?.description.contains("the wheels' board does not answer") == true)
            _ = try daemon.ask("drive", #"{"left":0,"right":0}"#)
            let finding = try daemon.ask("doctor").text
            #expect(finding.contains("check its supply, drive.bus and the wires"))
        }
    }

    @Test(
        "after airframed was killed, airframed --outputs-off stops the robot, even if another setting is invalid",
        arguments: [("loop.rate_hz=500", 0), ("loop.rate_hz=fast", 78)] as [(String, Int32)])
    func killed(setting: String, exitStatus: Int32) throws {
        try withRobot { daemon, robot in
            let client = try SocketClient(daemon.socket)
            #expect(try client.ask(full)["error"] == nil)
            #expect(robot.waits { $0.memory[0x30] == 0xFF })
            kill(daemon.program.processID, SIGKILL)
            #expect(daemon.program.hasEnded(within: 5))
            robot.with { $0.memory[0x30] = 0xFF }
            let off = try Program(
                [
                    try Program.built("airframed"), "--outputs-off", "--set", "drive.board=xgo",
                    "--set", "drive.port=\(robot.path)", "--set", setting,
                ], in: daemon.directory)
            #expect(off.hasEnded(within: 10) && off.exitStatus == exitStatus, "\(off.errors)")
            #expect(robot[0x30] == 0x80)
        }
    }

    /// Runs `airframed --outputs-off` next to a robot that moves.
    private func turnOff(
        _ robot: XGORobot, in directory: FilePath, environment: [String] = [], file: String
    ) throws -> Program.Result {
        robot.with { $0.memory[0x30] = 0xFF }
        let path = directory.appending("airframed.toml")
        try write(file, to: path)
        return try Program.run(
            ["env"] + environment + [
                Program.built("airframed"), "--outputs-off", "--config", path.string,
            ], in: directory)
    }

    @Test(
        "airframed --outputs-off stops the robot although a line of the file is not TOML, and tells the user to cut the power if the other lines name no motors",
        arguments: [
            ("[loop]\nrate_hz = \n[drive]", 78, 0x80), ("[drive", 74, 0xFF),
        ] as [(String, Int32, UInt8)])
    func brokenFile(beginning: String, exitStatus: Int32, speed: UInt8) throws {
        try withTemporaryDirectory { directory throws in
            let robot = XGORobot(at: "\(directory)/xgo")
            let off = try turnOff(
                robot, in: directory,
                file: "\(beginning)\nboard = \"xgo\"\nport = \"\(robot.path)\"\n")
            #expect(off.status == exitStatus, "\(off)")
            #expect(robot[0x30] == speed)
            #expect(off.errors.contains("not valid TOML"))
            #expect(off.errors.contains("cut their power") == (exitStatus == 74), "\(off)")
            #expect(!off.output.contains("nothing to turn off"))
            #expect(off.output.contains("could not be read") == (exitStatus == 78), "\(off)")
        }
    }

    @Test(
        "after a start that was refused because another airframed runs, the command that systemd runs does not stop the robot",
        arguments: [("73", 0xFF), ("70", 0x80), ("KILL", 0x80)] as [(String, UInt8)])
    func refusedStart(exitStatus: String, speed: UInt8) throws {
        try withTemporaryDirectory { directory throws in
            let robot = XGORobot(at: "\(directory)/xgo")
            let off = try turnOff(
                robot, in: directory, environment: ["EXIT_STATUS=\(exitStatus)"],
                file: "[drive]\nboard = \"xgo\"\nport = \"\(robot.path)\"\n")
            #expect(off.status == 0, "\(off)")
            #expect(robot[0x30] == speed)
        }
    }
}
