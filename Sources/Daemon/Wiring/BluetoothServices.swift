import Configuration
import GimbalCore
import Links
import Logging
import Policy
import Realtime
import Wire

/// What the gimbal offers over Bluetooth.
enum BluetoothServices {
    /// Every service of the configuration, ready for the radio.
    ///
    /// - Parameters:
    ///   - commander: The door for motion.
    ///   - tuning: The door for parameters.
    ///   - hub: Where the loop's records end up.
    ///   - calibration: Finds the gyroscope's zero.
    ///   - clock: The loop's.
    ///   - log: Who did what, and what was refused.
    /// - Returns: In the order of their handles, which phones remember.
    static func make(
        commander: Commander, tuning: Tuning, hub: TelemetryHub, calibration: CalibrationService,
        clock: LoopClock, log: Logger
    ) -> sending [any GATTService] {
        let door = AirOSDoor(
            commander: commander, tuning: tuning, hub: hub, calibration: calibration, clock: clock,
            log: log)
        let port = DaemonPort(commander: commander, tuning: tuning, calibration: calibration)
        var services: [any GATTService] = [AirOSService(backend: door, logger: log)]
        let roles = Roles(
            settings: tuning.settings,
            mavlink: MAVLinkDoor(
                commander: commander, tuning: tuning, hub: hub, calibration: calibration,
                clock: clock, log: log), port: port,
            now: clock.now, log: log)
        if let role = roles.make(tuning.settings.rbl.role) {
            services.append(
                RBLService(port: port, role: role, logger: log))
        }
        return services
    }

    /// What can stand behind the serial service.
    private struct Roles {
        let settings: Settings
        let mavlink: MAVLinkDoor
        let port: DaemonPort
        let now: Instant
        let log: Logger

        func make(_ role: RBLRole) -> (any SerialRole)? {
            switch role {
            case .off: nil as (any SerialRole)?
            case .auto: AutoRole(mavlink: display, robot: RobotRole(port: port, logger: log))
            case .mavlink: display
            case .robot: RobotRole(port: port, logger: log)
            case .serial:
                BridgeRole(
                    path: settings.rbl.device, tap: settings.rbl.tap ? display : nil, logger: log)
            case .loopback: LoopbackRole()
            }
        }

        private var display: any SerialRole {
            var configuration = MAVLinkConfiguration()
            configuration.address = settings.mavlinkAddress
            return FlightDisplayRole(
                configuration: configuration, backend: mavlink,
                attitudeHz: settings.rbl.attitudeHz,
                hearsStopsOnly: settings.mavlink.requireSignature, logger: log, now: now)
        }
    }
}
