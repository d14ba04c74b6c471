import Configuration
import GimbalCore
import Hardware
import Links
import Policy
import Port
import Realtime
import Wire

/// A rider's remote control's way to the wheels.
struct RiderDoor: RiderBackend {
    let commander: Commander
    let tuning: Tuning
    /// Nil: there are none, and every wish is refused.
    let wheels: DriveMotors?

    var deadManSeconds: Double { tuning.settings.drive.deadManS }

    func carryOut(_ command: RiderCommand, from source: UInt64, now: Instant) throws(Refusal) {
        let request: MotionRequest =
            switch command {
            case .drive(let left, let right): .drive(left: left, right: right)
            case .emergencyStop: .emergencyStop
            case .resetEmergencyStop: .resetEmergencyStop
            }
        let source = CommandSource(link: .udp, connection: source)
        try commander.request(request, from: source, now: now)
    }

    var speeds: [String: Int] {
        guard let wheels else { return [:] }
        let speeds = wheels.speeds
        return [
            "left_percent": Int((speeds.left * 100).rounded()),
            "right_percent": Int((speeds.right * 100).rounded()),
            "board_errors": wheels.errors,
        ]
    }
}
