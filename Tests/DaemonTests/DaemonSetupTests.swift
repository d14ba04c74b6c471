import Configuration
import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("airframectl setup with a running daemon") struct DaemonSetupTests {
    private static func daemon(in directory: FilePath) throws -> RunningDaemon {
        try RunningDaemon(
            in: directory,
            Simulator.arguments(in: directory) + [
                "--set", "motors.type=servo", "--set", "loop.rate_hz=200",
                "--set", "mode.boot=inactive",
            ])
    }

    @Test("swapped and reversed servos are measured, saved, checked after a restart, and undone")
    func wizard() throws {
        let wiring = TrueWiring(joints: [.roll, .yaw, .pitch], directions: [1, 1, -1])
        try withTemporaryDirectory { directory in
            let first = try Self.daemon(in: directory)
            do {
                let gimbal = try LockstepGimbal(first, wiring)
                #expect(try gimbal.run("chips")["state"]?.string == "failed")
                try gimbal.pass(1)
                #expect(try gimbal.run("chips")["state"]?.string == "done")
                #expect(try gimbal.ask("skip", "mounting")["error"] == nil)
                let motors = try gimbal.run("motors")
                #expect(motors["state"]?.string == "restart", "\(motors.text)")
                #expect(
                    motors.text.contains(#""key":"hardware.linux.motor_channels""#)
                        && motors.text.contains("[1, 0, 2]"), "\(motors.text)")
                #expect(motors.text.contains("[1, 1, -1]"), "\(motors.text)")
                #expect(gimbal.fastest < 70, "a fling of \(gimbal.fastest)°/s")
                // The motors must not turn on with the old settings.
                #expect(try gimbal.ask("start", "locked")["error"] != nil)
            }
            #expect(try first.stop().status == 0)

            let second = try Self.daemon(in: directory)
            do {
                let gimbal = try LockstepGimbal(second, wiring)
                try gimbal.pass(1)
                #expect(try gimbal.step("chips")["state"]?.string == "done")
                #expect(try gimbal.step("mounting")["state"]?.string == "skipped")
                #expect(try gimbal.step("motors")["state"]?.string == "open")
                let motors = try gimbal.run("motors")
                #expect(motors["state"]?.string == "done", "\(motors.text)")
                let locked = try gimbal.run("locked")
                #expect(locked["state"]?.string == "done", "\(locked.text)")
                #expect(gimbal.fastest < 70, "a fling of \(gimbal.fastest)°/s")
                #expect(try gimbal.ask("start", "balance").text.contains("by hand"))
                #expect(try gimbal.run("save")["state"]?.string == "done")
                // A save of other settings keeps the wiring settings.
                #expect(try second.control("setup", "undo", "motors").status == 0)
            }
            #expect(try second.stop().status == 0)

            let third = try Self.daemon(in: directory)
            let list = try third.control("setup", "status")
            #expect(list.output.contains("motors         open"), "\(list.output) \(list.errors)")
            let diff = try third.ask("diff")
            #expect(!diff.text.contains("motor_channels") && !diff.text.contains("servo.direction"))
        }
    }

    @Test("the steps of a sensor are open with another sensor, and done again with their own")
    func otherSensor() throws {
        func state(_ daemon: RunningDaemon, _ name: String) throws -> String? {
            let steps = try daemon.ask("setup")["steps"]?.array
            return steps?.first { $0["name"]?.string == name }?["state"]?.string
        }
        try withTemporaryDirectory { directory in
            let first = try RunningDaemon(in: directory)
            for step in ["gyro", "balance"] {
                _ = try first.ask("setup", #"{"action":"confirm","step":"\#(step)"}"#)
                #expect(try state(first, step) == "done")
            }
            #expect(try first.stop().status == 0)
            // The simulator's sensor is not that of the simulated gimbal.
            let second = try RunningDaemon(in: directory, Simulator.arguments(in: directory))
            #expect(try state(second, "gyro") == "open")
            #expect(try state(second, "balance") == "done")
            #expect(try second.stop().status == 0)
            let third = try RunningDaemon(in: directory)
            #expect(try state(third, "gyro") == "done")
        }
    }

    @Test("a step ends when its connection closes, and fails at an emergency stop")
    func ends() throws {
        try withTemporaryDirectory { directory in
            let daemon = try Self.daemon(in: directory)
            let gimbal = try LockstepGimbal(daemon, TrueWiring())
            try gimbal.pass(1)
            #expect(try gimbal.ask("start", "motors")["error"] == nil)
            try gimbal.pass(2)
            #expect(try gimbal.step("motors")["state"]?.string == "running")
            #expect(try gimbal.ask("start", "chips").text.contains("running"))
            #expect(try daemon.control("stop").status == 0)
            try gimbal.pass(0.5)
            let stopped = try gimbal.step("motors")
            #expect(stopped["state"]?.string == "failed", "\(stopped.text)")
            #expect(stopped["code"]?.string == "interrupted")
            #expect(try daemon.control("stop", "--reset").status == 0)

            let other = try SocketClient(daemon.socket)
            let line = #"{"id":1,"method":"setup","params":{"action":"start","step":"motors"}}"#
            #expect(try other.ask(line)["error"] == nil)
            other.finishSending()
            while try other.receiveSome() {}
            try gimbal.pass(1)
            #expect(try gimbal.step("motors")["state"]?.string != "running")
        }
    }

    @Test("the step motors is refused while the encoders of torque motors do not measure")
    func withoutEncoders() throws {
        let arguments = ["--set", "motors.type=torque", "--set", "mode.boot=inactive"]
        try withLockstep(arguments) { daemon in
            let simulator = try Simulator(daemon)
            simulator.extra = ""
            try simulator.rest(50)
            let answer = try daemon.control("setup", "motors")
            #expect(answer.status == 1)
            #expect(
                answer.errors.contains("The encoders do not measure the joints"),
                "\(answer.output) \(answer.errors)")
        }
    }

    /// Settings and calibrations of the daemon.
    private static func values(_ daemon: RunningDaemon) throws -> String {
        let keys = #"{"keys":["joints.range_deg","motion.max_rate_dps"]}"#
        return try [
            daemon.ask("diff").text, daemon.ask("get", keys).text,
            daemon.ask("calibrate")["saved"]?.text ?? "none",
        ].joined(separator: "\n")
    }

    /// Orientations of a camera on each of its six sides.
    private static let sides = [
        Quaternion.identity, turn(.pi, 1, 0), turn(.pi / 2, 1, 0), turn(-.pi / 2, 1, 0),
        turn(.pi / 2, 0, 1), turn(-.pi / 2, 0, 1),
    ]

    private static func turn(_ angle: Double, _ x: Double, _ y: Double) -> Quaternion {
        Quaternion(w: cos(angle / 2), x: x * sin(angle / 2), y: y * sin(angle / 2), z: 0)
    }

    @Test(
        "every step survives a crash of airframed, and every step can be undone; then all values are as before"
    )
    func everyStep() throws {
        let stops = AxisVector(yaw: 30, roll: 20, pitch: 25)
        let names = SetupStepName.allCases.map(\.rawValue)
        try withTemporaryDirectory { directory in
            let first = try Self.daemon(in: directory)
            let original = try Self.values(first)
            do {
                let gimbal = try LockstepGimbal(first, TrueWiring(), stops: stops)
                try gimbal.pass(1)
                #expect(try gimbal.run("chips")["state"]?.string == "done")
                for name in ["gyro", "mounting", "accelerometer"] {
                    gimbal.hold(.identity)
                    try gimbal.pass(4)
                    #expect(try gimbal.ask("start", name)["error"] == nil)
                    // The pose of the mounting after level: the lens points down.
                    let poses = name == "mounting" ? [.identity, Self.turn(-1, 0, 1)] : Self.sides
                    for pose in poses where try gimbal.step(name)["state"]?.string == "running" {
                        if name != "gyro" { gimbal.hold(pose) }
                        try gimbal.pass(10) {
                            try gimbal.step(name)["state"]?.string != "running"
                        }
                    }
                    let step = try gimbal.saved(name)
                    #expect(step["state"]?.string == "done", "\(step.text)")
                }
                gimbal.hold(nil)
                try gimbal.pass(2)
                for name in ["motors", "joints"] {
                    let step = try gimbal.run(name)
                    #expect(step["state"]?.string == "done", "\(step.text)")
                }
            }
            _ = try first.stop(SIGKILL)

            let second = try Self.daemon(in: directory)
            do {
                let gimbal = try LockstepGimbal(second, TrueWiring(), stops: stops)
                try gimbal.pass(1)
                let locked = try gimbal.run("locked")
                #expect(locked["state"]?.string == "done", "\(locked.text)")
                #expect(try gimbal.ask("confirm", "balance")["error"] == nil)
                _ = try second.ask("set", #"{"key":"motion.max_rate_dps","value":[31,32,33]}"#)
                #expect(try gimbal.run("save")["state"]?.string == "done")
            }
            _ = try second.stop(SIGKILL)

            let third = try Self.daemon(in: directory)
            do {
                let gimbal = try LockstepGimbal(third, TrueWiring(), stops: stops)
                try gimbal.pass(1)
                for name in names {
                    let step = try gimbal.step(name)
                    #expect(step["state"]?.string == "done", "\(name): \(step.text)")
                }
                #expect(try Self.values(third).contains("31"))
                #expect(try gimbal.ask("status")["result"]?["next"]?.string == nil)
                for name in names.reversed() {
                    #expect(try gimbal.ask("undo", name)["error"] == nil)
                    let step = try gimbal.step(name)
                    #expect(step["state"]?.string == "open", "\(name): \(step.text)")
                }
                #expect(try !Self.values(third).contains("[31"), "the value of the step save")
            }
            _ = try third.stop(SIGKILL)
            let last = try Self.daemon(in: directory)
            #expect(try Self.values(last) == original)
        }
    }
}
