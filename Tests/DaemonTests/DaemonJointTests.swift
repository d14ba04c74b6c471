import Configuration
import GimbalCore
import Glibc
import Port
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

/// The step `joints` of the set-up with a running daemon.
@Suite("Set-up of the joints with a running daemon", .timeLimit(.minutes(3)))
struct DaemonJointTests {
    private static let stops = AxisVector(yaw: 30, roll: 20, pitch: 25)

    private static func daemon(_ type: String, in directory: FilePath) throws -> RunningDaemon {
        try RunningDaemon(
            in: directory,
            Simulator.arguments(in: directory) + [
                "--set", "motors.type=\(type)", "--set", "loop.rate_hz=200",
                "--set", "mode.boot=inactive",
            ])
    }

    private static func range(_ daemon: RunningDaemon) throws -> String {
        try daemon.ask("get", #"{"keys":["joints.range_deg"]}"#).array?.first?["value"]?.text ?? ""
    }

    /// Ways in which the step ends early, each with the resulting state of the step.
    private enum Interruption: String, CaseIterable {
        case disconnect, stop, cancel, undo, skip, again

        var state: String {
            switch self {
            case .stop: "failed"
            case .skip: "skipped"
            case .disconnect, .cancel, .undo, .again: "open"
            }
        }
    }

    /// Interrupts the running step in each way, and checks the motors and the settings after each.
    ///
    /// - Parameters:
    ///   - daemon: The daemon.
    ///   - gimbal: The gimbal.
    ///   - reach: Advances the simulation until the step is in progress.
    /// - Throws: An error of a connection to the daemon.
    private static func interrupt(
        _ daemon: RunningDaemon, _ gimbal: LockstepGimbal, _ reach: (LockstepGimbal) throws -> Void
    ) throws {
        let (range, diff) = (try Self.range(daemon), try daemon.ask("diff").text)
        for way in Interruption.allCases {
            let other = try SocketClient(daemon.socket)
            let line = #"{"id":1,"method":"setup","params":{"action":"start","step":"joints"}}"#
            #expect(try other.ask(line)["error"] == nil, "\(way)")
            try reach(gimbal)
            #expect(try gimbal.step("joints")["state"]?.string == "running", "\(way)")
            // A step that is running cannot be confirmed.
            #expect(try gimbal.ask("confirm", "joints").text.contains("running; "), "\(way)")
            switch way {
            case .disconnect:
                other.finishSending()
                while try other.receiveSome() {}
            case .stop: #expect(try daemon.control("stop").status == 0)
            case .cancel, .again: #expect(try gimbal.ask(way.rawValue)["error"] == nil)
            case .undo, .skip: #expect(try gimbal.ask(way.rawValue, "joints")["error"] == nil)
            }
            try gimbal.pass(0.3)
            #expect(!gimbal.isOn, "\(way): the motors are on")
            let step = try gimbal.step("joints")
            #expect(step["state"]?.string == way.state, "\(way): \(step.text)")
            if way == .stop {
                #expect(step["code"]?.string == "interrupted")
                #expect(try daemon.control("stop", "--reset").status == 0)
            }
            try gimbal.pass(0.3)
            #expect(!gimbal.isOn, "\(way): the motors come on later")
            #expect(try Self.range(daemon) == range && daemon.ask("diff").text == diff, "\(way)")
            #expect(try gimbal.ask("undo", "joints")["error"] == nil)
            #expect(gimbal.fastest < 70, "\(way): a fling of \(gimbal.fastest)°/s")
            // The camera returns to the middle, because a servo jumps there with its first pulse.
            gimbal.rewire()
            try gimbal.pass(1)
        }
    }

    @Test(
        "motors that turn a joint go off at a disconnect, a stop, a cancel, an undo and a skip, and no setting changes; after a crash the step can be run, and its result can be undone"
    )
    func servos() throws {
        try withTemporaryDirectory { directory in
            let first = try Self.daemon("servo", in: directory)
            let range = try Self.range(first)
            do {
                let gimbal = try LockstepGimbal(first, TrueWiring(), stops: Self.stops)
                try gimbal.pass(1)
                let turning: (LockstepGimbal) throws -> Void = { gimbal in
                    try gimbal.pass(10) { gimbal.isOn }
                    #expect(gimbal.isOn)
                    try gimbal.pass(1)
                }
                try Self.interrupt(first, gimbal, turning)
                #expect(try gimbal.ask("start", "joints")["error"] == nil)
                try turning(gimbal)
                #expect(gimbal.fastest < 70, "a fling of \(gimbal.fastest)°/s")
            }
            _ = try first.stop(SIGKILL)

            let second = try Self.daemon("servo", in: directory)
            do {
                let gimbal = try LockstepGimbal(second, TrueWiring(), stops: Self.stops)
                try gimbal.pass(1)
                #expect(try gimbal.step("joints")["state"]?.string == "open")
                #expect(try Self.range(second) == range)
                let joints = try gimbal.run("joints")
                #expect(joints["state"]?.string == "done", "\(joints.text)")
                #expect(joints.text.contains(#""key":"joints.range_deg""#), "\(joints.text)")
                #expect(gimbal.fastest < 70, "a fling of \(gimbal.fastest)°/s")
                // The new range takes effect at the next start.
                #expect(try Self.range(second) == range)
                #expect(try gimbal.ask("start", "joints").text.contains("restart"))
            }
            #expect(try second.stop().status == 0)

            let third = try Self.daemon("servo", in: directory)
            let measured = try JSONValue(parsing: Array(Self.range(third).utf8)).array ?? []
            for (axis, ends) in zip([GimbalAxis.yaw, .roll, .pitch], measured) {
                let (lower, upper) = (ends.array?.first?.number, ends.array?.last?.number)
                #expect(abs((upper ?? 0) - Self.stops[axis] + 2) < 2.5, "\(measured)")
                #expect(abs((lower ?? 0) + Self.stops[axis] - 2) < 2.5, "\(measured)")
            }
            #expect(try third.control("setup", "undo", "joints").status == 0)
            #expect(try third.stop().status == 0)
            #expect(try Self.range(Self.daemon("servo", in: directory)) == range)
        }
    }

    @Test("a measurement by hand ends in the same ways; a complete one gives the range")
    func byHand() throws {
        try withTemporaryDirectory { directory in
            let daemon = try Self.daemon("torque", in: directory)
            let gimbal = try LockstepGimbal(
                daemon, TrueWiring(), type: .torque, stops: Self.stops)
            try gimbal.pass(2)
            try Self.interrupt(daemon, gimbal) { gimbal in
                gimbal.turnByHand(.yaw)
                try gimbal.pass(2)
                gimbal.turnByHand(nil)
                #expect(!gimbal.isOn)
            }
            #expect(try gimbal.ask("start", "joints")["error"] == nil)
            try gimbal.pass(200) {
                let step = try gimbal.step("joints")
                let text = step["instruction"]?.string ?? ""
                gimbal.turnByHand(
                    GimbalAxis.allCases.first { text.contains("the joint \($0.name) ") })
                return step["state"]?.string != "running"
            }
            let step = try gimbal.saved("joints")
            #expect(step["state"]?.string == "done", "\(step.text)")
            #expect(!gimbal.isOn)
            for axis in GimbalAxis.allCases {
                let upper = step["values"]?.array?.first {
                    $0["name"]?.string == "\(axis.name) to"
                }?["value"]?.number
                #expect(abs((upper ?? 0) - Self.stops[axis]) < 3, "\(axis.name): \(step.text)")
            }
        }
    }
}
