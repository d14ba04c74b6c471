import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import Wire

/// A robot's remote control's way to the stepper motors: slider, joystick's x, joystick's y.
struct RobotDoor: RobotBackend {
    let commander: Commander
    let tuning: Tuning

    func carryOut(_ command: RobotCommand, by central: Central, now: Instant) throws(Refusal) {
        let robot = tuning.settings.robot
        func steps(_ units: Int) -> Int { Int((Double(units) * robot.stepsPerUnit).rounded()) }
        let request: MotionRequest =
            switch command {
            case .slide(let forwards):
                switch robot.sliderMotion {
                case .step: .step(axis: 0, .by(forwards ? 1 : -1))
                case .rate:
                    .step(axis: 0, .turn(forwards ? robot.sliderSpeed : -robot.sliderSpeed))
                }
            case .stop: .step(axis: 0, .hold)
            case .turn(let units): .step(axis: 1, .position(steps(units)))
            case .lift(let units): .step(axis: 2, .position(steps(units)))
            case .emergencyStop: .emergencyStop
            case .resetEmergencyStop: .resetEmergencyStop
            }
        try commander.request(request, from: Self.source(central), now: now)
    }

    func disconnected(_ central: Central, now: Instant) {
        commander.disconnected(Self.source(central), now: now)
    }

    private static func source(_ central: Central) -> CommandSource {
        CommandSource(link: .rbl, connection: UInt64(central.connection))
    }
}
