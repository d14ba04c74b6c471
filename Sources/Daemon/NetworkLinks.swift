import Configuration
import Hardware
import Links
import Logging
import Realtime
import ServiceLifecycle
import Wire

/// The links over networks and serial ports that the configuration switches on.
struct NetworkLinks: Sendable {
    /// Autopilots and ground stations; nil where nobody can reach the gimbal.
    private let mavlink: MAVLinkServer?
    /// A remote control for the wheels; nil where nobody can reach them.
    private let rider: RiderServer?

    /// Opens their sockets; nobody is heard before the services run.
    ///
    /// - Parameters:
    ///   - settings: Which, and where.
    ///   - commander: The door for motion.
    ///   - tuning: The door for parameters.
    ///   - hub: Where the loop's records end up.
    ///   - calibration: Finds the gyroscope's zero.
    ///   - wheels: What a rider's remote control turns.
    ///   - clock: The loop's.
    ///   - log: Who did what, and what was refused.
    /// - Throws: `SocketError` with what is in the way.
    init(
        _ settings: Settings, commander: Commander, tuning: Tuning, hub: TelemetryHub,
        calibration: CalibrationService, wheels: DriveMotors?, clock: LoopClock, log: Logger
    ) throws {
        mavlink = try settings.mavlinkConfiguration.map { configuration in
            try MAVLinkServer(
                configuration: configuration,
                backend: MAVLinkDoor(
                    commander: commander, tuning: tuning, hub: hub, calibration: calibration,
                    clock: clock, log: log), logger: log)
        }
        rider = try DatagramAddress(setting: settings.rider.listen).map { address in
            try RiderServer(
                address: address,
                backend: RiderDoor(commander: commander, tuning: tuning, wheels: wheels),
                logger: log)
        }
    }

    /// What runs.
    var services: [any Service] {
        [mavlink as (any Service)?, rider].compactMap { $0 }
    }

    /// What each has counted.
    var status: [LinkStatus] {
        [mavlink?.status, rider?.status].compactMap { $0 }
    }
}
