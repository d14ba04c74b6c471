import Configuration
import Links
import Logging
import Realtime
import ServiceLifecycle
import Wire

/// The links over networks and serial ports that the configuration switches on.
struct NetworkLinks: Sendable {
    /// Autopilots and ground stations; nil where nobody can reach the gimbal.
    private let mavlink: MAVLinkServer?

    /// Opens their sockets; nobody is heard before the services run.
    ///
    /// - Parameters:
    ///   - settings: Which, and where.
    ///   - commander: The door for motion.
    ///   - tuning: The door for parameters.
    ///   - hub: Where the loop's records end up.
    ///   - calibration: Finds the gyroscope's zero.
    ///   - clock: The loop's.
    ///   - log: Who did what, and what was refused.
    /// - Throws: `SocketError` with what is in the way.
    init(
        _ settings: Settings, commander: Commander, tuning: Tuning, hub: TelemetryHub,
        calibration: CalibrationService, clock: LoopClock, log: Logger
    ) throws {
        mavlink = try settings.mavlinkConfiguration.map { configuration in
            try MAVLinkServer(
                configuration: configuration,
                backend: MAVLinkDoor(
                    commander: commander, tuning: tuning, hub: hub, calibration: calibration,
                    clock: clock, log: log), logger: log)
        }
    }

    /// What runs.
    var services: [any Service] { [mavlink].compactMap { $0 } }

    /// What each has counted.
    var status: [LinkStatus] { [mavlink?.status].compactMap { $0 } }
}
