import GimbalCore
import Wire

/// State of the gimbal that the light and the buzzer signal.
enum SignalCode: Equatable {
    /// The loop has not delivered a snapshot yet, or the start-up checks run.
    case starting
    /// The motors are on, and no source moves the camera.
    case ready
    /// The motors are on, and a source moves the camera.
    case moving
    /// The motors are on, and the battery or the motors' supply is low.
    case low
    /// The motors are off because the mode is `inactive` or the camera is retracted.
    case resting
    /// The motors are off because of a fault; the number of flashes identifies the fault's group.
    case fault(Int)

    /// Groups of conditions that keep the motors off, in ascending order of the number of flashes,
    /// beginning with 1: emergency stop; sensor; buses and drives; motors and controllers; joints;
    /// supply; all others.
    static let groups: [Conditions] = [
        .emergencyStop,
        .imuMissing | .imuStale | .imuFrozen | .imuImplausible | .imuTimeFault | .imuSaturated
            | .gyroContradicted,
        .busError | .driveSilent | .driveUnguarded | .driveFault | .driveOverload
            | .driveOverheated | .canBusOff | .canErrors | .motorPortLost,
        .responseReversed | .motorStalled | .controlFault | .rotorLost | .loopUnreliable
            | .motorSlipped,
        .jointsOutOfReach | .encoderMissing | .jointLimit,
        .supplyEmpty | .driveVoltage,
    ]

    /// Creates the signal state.
    ///
    /// - Parameters:
    ///   - snapshot: Newest state of the loop; nil before the first one.
    ///   - isBatteryLow: True if the charge of the battery is low.
    init(_ snapshot: StabilizerSnapshot?, isBatteryLow: Bool = false) {
        guard let snapshot, snapshot.samples.accepted > 0 || !snapshot.conditions.isEmpty else {
            self = .starting
            return
        }
        let inhibiting = Conditions.catalogue.filter { words in
            guard snapshot.conditions.intersects(words.condition) else { return false }
            switch Supervisor.response(to: words.condition) {
            case .off, .brake, .softOff, .blockStart: return true
            case .report: return false
            }
        }.reduce(Conditions.none) { $0 | $1.condition }
        if inhibiting.isEmpty, snapshot.output.enabled {
            if isBatteryLow || snapshot.conditions.intersects(.supplyLow) {
                self = .low
                return
            }
            let rate = snapshot.pointing.rates
            let fastest = max(abs(rate.yaw), abs(rate.roll), abs(rate.pitch))
            self = fastest > Angle.degrees(1).radians ? .moving : .ready
            return
        }
        let faults = inhibiting.subtracting(
            .inactiveMode | .retracted | .calibrating | .autotuning | .estimateNotConverged
                | .inertiaUnknown | .shutdown | .drivesStarting)
        if !faults.isEmpty {
            let group = Self.groups.firstIndex { $0.intersects(faults) } ?? Self.groups.count
            self = .fault(group + 1)
        } else if inhibiting.intersects(.inactiveMode | .retracted) {
            self = .resting
        } else {
            self = .starting
        }
    }

    /// True if the light must be on.
    ///
    /// - Parameter time: Time since the state began, s.
    /// - Returns: True if the light must be on at this time.
    func isLit(at time: Double) -> Bool {
        switch self {
        case .ready: true
        case .moving: time.truncatingRemainder(dividingBy: 0.5) < 0.25
        case .low: !Self.isFlash(time.truncatingRemainder(dividingBy: 3), 2)
        case .starting: time.truncatingRemainder(dividingBy: 2) < 1
        case .resting: time.truncatingRemainder(dividingBy: 3) < 0.1
        case .fault(let count):
            // Flashes of 0.2 s, and a pause of 1.5 s after the last flash.
            Self.isFlash(
                time.truncatingRemainder(dividingBy: 0.4 * Double(count) + 1.5), count)
        }
    }

    /// True if the buzzer must sound. The buzzer sounds once for each new state. While the battery
    /// is low, the buzzer sounds once per minute.
    ///
    /// - Parameter time: Time since the state began, s.
    /// - Returns: True if the buzzer must sound at this time.
    func isSounding(at time: Double) -> Bool {
        switch self {
        case .ready: time < 0.15
        case .low: time.truncatingRemainder(dividingBy: 60) < 0.8
        case .fault(let count): Self.isFlash(time, count)
        case .starting, .moving, .resting: false
        }
    }

    /// True during each of `count` flashes of 0.2 s, which are separated by gaps of 0.2 s.
    private static func isFlash(_ time: Double, _ count: Int) -> Bool {
        time < 0.4 * Double(count) && time.truncatingRemainder(dividingBy: 0.4) < 0.2
    }
}
