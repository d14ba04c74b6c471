import GimbalCore
import Links
import Policy
import Port
import Realtime
import Synchronization
import Testing
import Wire

@testable import Daemon

@Suite("A robot's commands on their way to the stepper motors") struct RobotDoorTests {
    /// The goals of the motors after these commands, with these settings.
    private func goals(_ commands: [RobotCommand], _ overrides: [String] = []) throws -> [String] {
        let goals = Goals()
        try withBench(overrides) { bench, _ throws in
            let ends = makeRing(of: TimedCommand.self, capacity: 64)
            let commander = Commander(
                ring: ends.writer, bootMode: .inactive, rules: Commander.Rules(),
                steppers: StepperDoor(hasSwitches: false) { goals.take($0, $1) })
            let door = RobotDoor(commander: commander, tuning: bench.tuning)
            for command in commands {
                try door.carryOut(command, by: BluetoothBench.iPhone, now: bench.now)
            }
        }
        return goals.heard.withLock { $0 }
    }

    private final class Goals: Sendable {
        let heard = Mutex<[String]>([])
        func take(_ axis: Int, _ goal: StepAxis.Goal) {
            let words =
                switch goal {
                case .velocity(let speed, _): "velocity \(speed)"
                default: "\(goal)"
                }
            heard.withLock { $0.append("\(axis) \(words)") }
        }
    }

    @Test("F> and B> are one step each, as in the original, unless a turn is asked for")
    func slider() throws {
        let slide: [RobotCommand] = [.slide(forwards: true), .slide(forwards: false)]
        let steps = [1, -1].map { "0 \(StepAxis.Goal.further($0))" }
        #expect(try goals(slide) == steps)
        let speed = ["robot.slider_motion=rate", "robot.slider_speed=120"]
        #expect(try goals(slide, speed) == ["0 velocity 120.0", "0 velocity -120.0"])
    }
}
