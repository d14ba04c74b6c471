import Configuration
import GimbalCore
import Links
import Logging
import Policy
import Realtime
import Wire

/// The Bluetooth services that the gimbal offers.
enum BluetoothServices {
    /// Creates all configured services.
    ///
    /// - Parameters:
    ///   - port: Port through which the services access the gimbal.
    ///   - log: Log for actions and refusals.
    ///   - battery: Monitor of the battery.
    /// - Returns: The services in a constant order, because their handles depend on the order and
    ///   phones store the handles.
    static func make(
        port: DaemonPort, log: Logger, battery: BatteryMonitor
    ) -> sending [any GATTService] {
        let settings = port.settings
        var services: [any GATTService] = [AirOSService(port: port, logger: log)]
        let roles = Roles(
            settings: settings, port: port, log: log)
        if let role = roles.make(settings.rbl.role) {
            services.append(RBLService(port: port, role: role, logger: log))
        }
        if settings.battery.source != .none {
            services.append(
                BatteryLevelService { battery.status(now: MonotonicClock.now) })
        }
        return services
    }

    /// The possible roles of the serial service.
    private struct Roles {
        let settings: Settings
        let port: DaemonPort
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
            configuration.isManager = settings.mavlink.role == .manager
            return FlightDisplayRole(
                configuration: configuration, port: port,
                attitudeHz: settings.rbl.attitudeHz,
                hearsStopsOnly: settings.mavlink.requireSignature, logger: log, now: port.now)
        }
    }
}
