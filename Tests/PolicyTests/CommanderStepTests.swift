import GimbalCore
import Policy
import Port
import Realtime
import Robot
import Synchronization
import Testing

@Suite("Commander: three stepper motors")
struct CommanderStepTests {
    private final class Motors: Sendable {
        let heard = Mutex<[String]>([])
        func take(_ axis: Int, _ goal: StepAxis.Goal) {
            heard.withLock { $0.append("\(axis) \(goal)") }
        }
        func takeHeard() -> [String] {
            heard.withLock { heard in
                defer { heard = [] }
                return heard
            }
        }
    }

    private let robot = CommandSource(link: .rbl, connection: 1)
    private let phone = CommandSource(link: .airos, connection: 2)
    private let motors = Motors()

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    private func door(hasSwitches: Bool = true) -> Commander {
        let motors = motors
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        return Commander(
            ring: ends.writer, bootMode: .inactive, rules: Commander.Rules(),
            steppers: Steppers(hasSwitches: hasSwitches) { motors.take($0, $1) })
    }

    @Test("the slider's speed has a dead-man deadline, a position has none")
    func requests() throws {
        let commander = door()
        try commander.request(.step(axis: 0, .turn(200)), from: robot, now: at(1))
        try commander.request(.step(axis: 1, .position(-45)), from: robot, now: at(1))
        #expect(
            motors.takeHeard() == [
                "0 \(StepAxis.Goal.velocity(200, validUntil: at(1.3)))",
                "1 \(StepAxis.Goal.position(-45))",
            ])
    }

    @Test(
        "a disconnection stops the slider's motor, and the joystick's motors complete their motion")
    func gone() throws {
        let commander = door()
        try commander.request(.step(axis: 1, .position(7)), from: robot, now: at(1))
        try commander.request(.step(axis: 0, .turn(-200)), from: robot, now: at(1))
        _ = motors.takeHeard()
        commander.disconnected(robot, now: at(1.1))
        #expect(motors.takeHeard() == ["0 \(StepAxis.Goal.hold)"])
    }

    @Test("the search for home ends when its client disconnects, and is refused without switches")
    func home() throws {
        let commander = door()
        try commander.request(.step(axis: 2, .home), from: robot, now: at(1))
        #expect(motors.takeHeard() == ["2 \(StepAxis.Goal.home(asked: at(1)))"])
        commander.disconnected(robot, now: at(1.1))
        #expect(motors.takeHeard() == ["2 \(StepAxis.Goal.hold)"])
        #expect(throws: Refusal.noHomeSwitches) {
            try door(hasSwitches: false).request(.step(axis: 2, .home), from: robot, now: at(1))
        }
    }

    @Test("a client that leaves ends its own searches for home, not those of other clients")
    func othersSearch() throws {
        let commander = door()
        let clients = (1...3 as ClosedRange<UInt64>).map {
            CommandSource(link: .diagnostics, connection: $0)
        }
        try commander.request(.step(axis: 1, .home), from: clients[0], now: at(1))
        try commander.request(.step(axis: 2, .home), from: clients[1], now: at(1.1))
        try commander.request(.take, from: clients[0], now: at(1.2))
        _ = motors.takeHeard()
        commander.disconnected(clients[0], now: at(1.3))
        #expect(motors.takeHeard() == ["1 \(StepAxis.Goal.hold)"])
        try commander.request(.take, from: clients[2], now: at(1.4))
        commander.disconnected(clients[1], now: at(1.5))
        #expect(motors.takeHeard() == ["2 \(StepAxis.Goal.hold)"])
    }

    @Test("a search for home ends if every client is silent")
    func silence() throws {
        let commander = door()
        try commander.request(.step(axis: 2, .home), from: robot, now: at(1))
        _ = motors.takeHeard()
        commander.advance(now: at(10))
        #expect(motors.takeHeard().isEmpty)
        commander.advance(now: at(12))
        #expect(motors.takeHeard() == ["2 \(StepAxis.Goal.hold)"])
    }

    @Test("a search for home ends if its client is silent, also if the client in control has left")
    func silenceWithoutControl() throws {
        let commander = door()
        let other = CommandSource(link: .diagnostics, connection: 3)
        try commander.request(.step(axis: 2, .home), from: robot, now: at(1))
        try commander.request(.take, from: robot, now: at(5))
        try commander.request(.take, from: other, now: at(6))
        commander.disconnected(other, now: at(7))
        _ = motors.takeHeard()
        commander.advance(now: at(14))
        #expect(motors.takeHeard().isEmpty)
        commander.advance(now: at(16))
        #expect(motors.takeHeard() == ["2 \(StepAxis.Goal.hold)"])
    }

    @Test("an emergency stop from any source and the shutdown stop all three motors")
    func stops() throws {
        let hold = (0...2).map { "\($0) \(StepAxis.Goal.hold)" }
        let commander = door()
        try commander.request(.step(axis: 2, .position(7)), from: robot, now: at(1))
        _ = motors.takeHeard()
        try commander.request(.emergencyStop, from: phone, now: at(2))
        #expect(motors.takeHeard().sorted() == hold)
        #expect(throws: Refusal.emergencyStopped) {
            try commander.request(.step(axis: 2, .position(7)), from: robot, now: at(3))
        }
        let other = door()
        other.shutDown()
        #expect(motors.takeHeard().sorted() == hold)
    }

    @Test("after the reset of an emergency stop, a slider that is held does not turn its motor")
    func reset() throws {
        let commander = door()
        func turn(_ seconds: Double) throws {
            try commander.request(.step(axis: 0, .turn(200)), from: robot, now: at(seconds))
        }
        try commander.request(.emergencyStop, from: robot, now: at(2))
        #expect(throws: Refusal.emergencyStopped) { try turn(2.1) }
        try commander.request(.resetEmergencyStop, from: robot, now: at(2.2))
        _ = motors.takeHeard()
        #expect(throws: Refusal.stickHeld) { try turn(2.3) }
        try commander.request(.step(axis: 1, .position(7)), from: robot, now: at(2.4))
        #expect(throws: Refusal.stickHeld) { try turn(2.5) }
        #expect(motors.takeHeard() == ["1 \(StepAxis.Goal.position(7))"])
        try commander.request(.step(axis: 0, .hold), from: robot, now: at(2.6))
        try turn(2.7)
        #expect(motors.takeHeard().count == 2)
    }

    @Test("an invalid axis or speed is refused, and every request is refused without motors")
    func refusals() throws {
        #expect(throws: Refusal.outOfRange(field: "axis", allowed: "0...2")) {
            try door().request(.step(axis: 3, .hold), from: robot, now: at(1))
        }
        #expect(throws: Refusal.outOfRange(field: "speed", allowed: "steps per second")) {
            try door().request(.step(axis: 0, .turn(.nan)), from: robot, now: at(1))
        }
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        let none = Commander(ring: ends.writer, bootMode: .inactive, rules: Commander.Rules())
        #expect(throws: Refusal.noSteppers) {
            try none.request(.step(axis: 0, .hold), from: robot, now: at(1))
        }
    }
}
