import Configuration
import GimbalCore
import Identification
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

/// A gimbal with its own wiring, which a daemon drives in lockstep.
private final class LockstepGimbal {
    private let daemon: RunningDaemon
    private let simulator: SocketClient
    private let client: SocketClient
    private var gimbal: SimulatedGimbal
    private let wiring: TrueWiring
    private var settings: MotorAssignment
    private var tick: Int64 = 0
    private var sample: IMUSample?
    /// Highest rate of the camera so far, deg/s.
    private(set) var fastest = 0.0

    private static let period = 0.005

    init(_ daemon: RunningDaemon, _ wiring: TrueWiring) throws {
        self.daemon = daemon
        self.wiring = wiring
        simulator = try SocketClient("\(daemon.directory)/sim.sock")
        client = try SocketClient(daemon.socket)
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = .servo
        parameters.plant.stepRate = 4000
        parameters.imu.sampleRate = 200
        gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 5)
        settings = MotorAssignment(
            outputs: AxisVector(yaw: 0, roll: 1, pitch: 2), direction: AxisVector(repeating: 1))
        settings.outputs = try setting("hardware.linux.motor_channels")
        settings.direction = try setting("servo.direction")
    }

    private func setting(_ key: String) throws -> AxisVector {
        let found = try daemon.ask("get", #"{"keys":["\#(key)"]}"#)
        let numbers = found.array?.first?["value"]?.array?.compactMap(\.number) ?? []
        guard numbers.count == 3 else { throw Trouble("get \(key): \(found.text)") }
        return AxisVector(yaw: numbers[0], roll: numbers[1], pitch: numbers[2])
    }

    func ask(_ action: String, _ step: String = "") throws -> JSONValue {
        let extra = step.isEmpty ? "" : #","step":"\#(step)""#
        return try client.ask(
            #"{"id":1,"method":"setup","params":{"action":"\#(action)"\#(extra)}}"#)
    }

    /// One step of the report.
    func step(_ name: String) throws -> JSONValue {
        let report = try ask("status")
        guard
            let step = report["result"]?["steps"]?.array?.first(where: {
                $0["name"]?.string == name
            })
        else { throw Trouble(report.text) }
        return step
    }

    /// Lets simulated time pass.
    func pass(_ seconds: Double, each: () throws -> Bool = { false }) throws {
        for _ in 0..<Int(seconds / Self.period) {
            tick += 1
            let now = Instant(nanoseconds: tick * 5_000_000)
            gimbal.advance(to: now) { sample = $0 }
            fastest = max(fastest, gimbal.rate.norm * 180 / .pi)
            guard let sample else { continue }
            let reply = try simulator.ask(
                #"{"t":\#(Double(tick) * Self.period),"gyro":\#(sample.gyro.text),"accel":\#(sample.accel.text)}"#
            )
            var output = MotorOutput.off
            let angles = reply["angle"]?.array?.compactMap(\.number) ?? []
            if reply["enabled"]?.bool == true, angles.count == 3 {
                output.enabled = true
                output.angle = AxisVector(yaw: angles[0], roll: angles[1], pitch: angles[2])
            }
            gimbal.apply(wiring.applied(to: output, settings), at: now)
            if tick % 50 == 0, try each() { return }
        }
    }

    /// Runs a step until it has ended.
    func run(_ name: String) throws -> JSONValue {
        let begun = try ask("start", name)
        guard begun["error"] == nil else { return begun }
        try pass(60) { try self.step(name)["state"]?.string != "running" }
        return try step(name)
    }
}

extension Vector3 {
    fileprivate var text: String { "[\(x),\(y),\(z)]" }
}

@Suite("The set-up, with a daemon") struct DaemonSetupTests {
    private static func daemon(in directory: FilePath) throws -> RunningDaemon {
        try RunningDaemon(
            in: directory,
            Simulator.arguments(in: directory) + [
                "--set", "motors.type=servo", "--set", "loop.rate_hz=200",
                "--set", "mode.boot=inactive",
            ])
    }

    @Test("swapped and reversed servos: measured, saved, checked after a restart, and undone")
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
                // The motors must not come on with the old settings.
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
                // A save of other settings keeps those of the wiring.
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

    @Test("the step ends with the connection, and at an emergency stop, by name")
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
}
