import Configuration
import GimbalCore
import Links
import Port
import Synchronization
import Testing
import Wire

@Suite("A robot's remote control") struct RobotRoleTests {
    @Test("two clients can send parts of commands at the same time")
    func streams() {
        let motors = FakePort()
        let role = RobotRole(port: motors, logger: LineLog().logger)
        var output = SerialOutput()
        func write(_ text: String, _ central: Central) {
            role.receive(Array(text.utf8), from: central, now: at(0), &output)
        }
        write("R4", .iPhone)
        write("F>U", .iPad)
        write("5>", .iPhone)
        motors.memory.withLock { $0.refusal = Refusal(.refused, "not now") }
        write("0>rubbish>", .iPad)
        let asked: [MotionRequest] = [.step(axis: 0, .by(1)), .step(axis: 1, .position(45))]
        #expect(motors.asked == asked.map(\.words))
        #expect(
            role.counts == ["robot_commands": 2, "robot_refused": 1, "robot_malformed": 1])
        #expect(output.count == 0)
    }

    @Test("`E>` is recognised as an emergency stop before it is executed")
    func stop() {
        let role = RobotRole(port: FakePort(), logger: LineLog().logger)
        for (text, isStop) in [("E>", true), ("S>E>", true), ("S>", false), ("E", false)] {
            #expect(role.isEmergencyStop(Array(text.utf8)) == isStop, "\(text)")
        }
    }

    @Test("`E>` in one write stops the motors, even after an incomplete command")
    func stopAfterPart() {
        let motors = FakePort()
        let role = RobotRole(port: motors, logger: LineLog().logger)
        var output = SerialOutput()
        role.receive(Array("R4".utf8), from: .iPad, now: at(0), &output)
        role.receive(Array("E>".utf8), from: .iPad, now: at(1), &output)
        #expect(motors.asked == [MotionRequest.emergencyStop.words])
        role.receive(Array("S>".utf8), from: .iPad, now: at(2), &output)
        #expect(motors.asked.last == MotionRequest.step(axis: 0, .hold).words)
    }

    @Test("a disconnection discards an incomplete command, and is reported to the motors")
    func disconnection() {
        let motors = FakePort()
        let role = RobotRole(port: motors, logger: LineLog().logger)
        var output = SerialOutput()
        role.receive(Array("R4".utf8), from: .iPad, now: at(0), &output)
        role.disconnected(.iPad, now: at(1))
        role.receive(Array("5>S>".utf8), from: .iPad, now: at(2), &output)
        #expect(motors.asked == [MotionRequest.step(axis: 0, .hold).words])
        let iPad = CommandSource(link: .rbl, connection: UInt64(Central.iPad.connection))
        #expect(motors.memory.withLock { $0.gone } == [iPad])
    }

    @Test("F> and B> are one step each, as in the original, unless a rotation is configured")
    func slider() {
        let motors = FakePort()
        let role = RobotRole(port: motors, logger: LineLog().logger)
        var output = SerialOutput()
        role.receive(Array("F>B>".utf8), from: .iPad, now: at(0), &output)
        motors.memory.withLock { memory in
            memory.settings.robot.sliderMotion = .rate
            memory.settings.robot.sliderSpeed = 120
        }
        role.receive(Array("F>B>".utf8), from: .iPad, now: at(1), &output)
        let requests: [StepRequest] = [.by(1), .by(-1), .turn(120), .turn(-120)]
        #expect(motors.asked == requests.map { MotionRequest.step(axis: 0, $0).words })
    }
}
