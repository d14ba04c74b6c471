import GimbalCore
import Links
import Port
import Synchronization
import Testing
import Wire

@Suite("A robot's remote control") struct RobotRoleTests {
    private final class Motors: RobotBackend {
        let heard = Mutex<[RobotCommand]>([])
        let gone = Mutex<[Central]>([])
        func carryOut(_ command: RobotCommand, by central: Central, now: Instant) throws(Refusal) {
            heard.withLock { $0.append(command) }
            if command == .lift(0) { throw Refusal(.refused, "not now") }
        }
        func disconnected(_ central: Central, now: Instant) {
            gone.withLock { $0.append(central) }
        }
    }

    @Test("two of them may be in the middle of a command at the same time")
    func streams() {
        let motors = Motors()
        let role = RobotRole(backend: motors, logger: LineLog().logger)
        var output = SerialOutput()
        func write(_ text: String, _ central: Central) {
            role.receive(Array(text.utf8), from: central, now: at(0), &output)
        }
        write("R4", .iPhone)
        write("F>U", .iPad)
        write("5>", .iPhone)
        write("0>rubbish>", .iPad)
        #expect(motors.heard.withLock { $0 } == [.slide(forwards: true), .turn(45), .lift(0)])
        #expect(
            role.counts == ["robot_commands": 2, "robot_refused": 1, "robot_malformed": 1])
        #expect(output.count == 0)
    }

    @Test("one that is gone leaves no half of a command behind, and its motors hear of it")
    func disconnection() {
        let motors = Motors()
        let role = RobotRole(backend: motors, logger: LineLog().logger)
        var output = SerialOutput()
        role.receive(Array("R4".utf8), from: .iPad, now: at(0), &output)
        role.disconnected(.iPad, now: at(1))
        role.receive(Array("5>S>".utf8), from: .iPad, now: at(2), &output)
        #expect(motors.heard.withLock { $0 } == [.stop])
        #expect(motors.gone.withLock { $0 } == [.iPad])
    }
}
