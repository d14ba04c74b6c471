public import Configuration
import Hardware
import Links
import Logging
import Policy
import Port
import Realtime
import ServiceLifecycle
import SystemPackage
import Wire

/// The configured links over networks, serial ports and input devices.
struct NetworkLinks: Sendable {
    /// MAVLink for autopilots and ground stations; nil if no peer can reach the gimbal.
    private let mavlink: MAVLinkServer?
    /// Link to a remote control of the wheels; nil if no remote control can reach the wheels.
    private let rider: RiderServer?
    /// Link to buttons, sticks, dials and gamepads.
    let controls: ControlsServer
    /// Margin that is added to the saved counter of a remote control. For a time in milliseconds,
    /// the margin is one minute; for a counter of 50 datagrams per second, it is 20 minutes.
    private static let riderMargin: UInt64 = 60_000

    /// Files with the newest accepted time or counter of each link's key.
    private let freshness: [FreshnessFile]

    /// Opens the sockets of all configured links. Peers are served only while the services run.
    ///
    /// - Parameters:
    ///   - settings: Settings with the enabled links and their addresses.
    ///   - port: Port through which the links access the gimbal.
    ///   - wheels: Wheels that the remote control drives.
    ///   - companions: Companion programs, one of which can offer the video stream that MAVLink
    ///     announces.
    ///   - battery: Monitor of the battery, which MAVLink reports.
    ///   - effects: Actions of input controls that do not move the camera, such as saving the
    ///     settings.
    ///   - log: Log for actions and refusals.
    /// - Throws: `SocketError` with the problem.
    init(
        _ settings: Settings, port: DaemonPort, wheels: DriveMotors?, companions: Companions,
        battery: BatteryMonitor, effects: ControlEffects, log: Logger
    ) throws {
        controls = try ControlsServer(port: port, effects: effects, logger: log)
        var freshness: [FreshnessFile] = []
        mavlink = try settings.mavlinkConfiguration.map { configuration in
            var configuration = configuration
            configuration.camera = { companions.stream(now: MonotonicClock.now) }
            configuration.battery = { battery.status(now: MonotonicClock.now) }
            configuration.following = {
                companions.follower(now: MonotonicClock.now)?.report.following
            }
            configuration.captured = { companions.camera(now: MonotonicClock.now)?.state }
            configuration.capture = { (action, _) throws(Refusal) in
                _ = try companions.orders.add(action, for: companions, now: MonotonicClock.now)
            }
            let methods = FollowingMethods(
                port: port, hub: port.hub, companions: companions, clock: port.clock)
            configuration.follow = { (action, x, y, source) throws(Refusal) in
                try methods.choice(action, x: x, y: y, for: source)
            }
            if settings.mavlink.requireSignature {
                let key = try settings.keyFile("mavlink").read()
                let newest = try settings.freshnessFile(
                    "mavlink", margin: MAVLinkSigning.minute, log)
                freshness.append(newest)
                configuration.signing = MAVLinkSigning(key: key, newest: newest.value)
                configuration.freshness = newest
                configuration.timeOfDay = { MAVLinkSigning.time(seconds: WallClock.seconds) }
            }
            return try MAVLinkServer(configuration: configuration, port: port, logger: log)
        }
        rider = try DatagramAddress(setting: settings.rider.listen).map { address in
            var key: SharedKey?
            var newest: FreshnessFile?
            if settings.rider.requireSignature {
                key = try settings.keyFile("rider").read()
                newest = try settings.freshnessFile("rider", margin: Self.riderMargin, log)
            }
            if let newest { freshness.append(newest) }
            return try RiderServer(
                address: address, port: port,
                speeds: { wheels?.percentages ?? [:] },
                key: key, freshness: newest, logger: log)
        }
        self.freshness = freshness
    }

    /// Services of the links. Services are stopped in reverse order, so each file with the newest
    /// time or counter of a key is written after the links have ended.
    var services: [any Service] {
        freshness + [mavlink as (any Service)?, rider, controls].compactMap { $0 }
    }

    /// Status of each link.
    var status: [LinkStatus] {
        [mavlink?.status, rider?.status, controls.status].compactMap { $0 }
    }
}

extension Settings {
    /// Sentence about a missing or invalid key file, which prevents airframed from starting; nil if
    /// there is no problem.
    public var keyProblem: String? {
        var links: [String] = []
        if mavlink.requireSignature, mavlinkConfiguration != nil { links.append("mavlink") }
        if rider.requireSignature, NetworkEndpoint(rider.listen) != nil { links.append("rider") }
        for link in links {
            do {
                _ = try keyFile(link).read()
            } catch {
                return error.description
            }
        }
        return nil
    }

    /// File with the passphrase of a link.
    fileprivate func keyFile(_ link: String) -> KeyFile {
        KeyFile(
            path: FilePath(persistence.directory).appending("\(link).key"),
            setting: "\(link).require_signature")
    }

    /// File with the newest accepted time or counter of a link's key.
    fileprivate func freshnessFile(_ link: String, margin: UInt64, _ log: Logger) throws
        -> FreshnessFile
    {
        try FreshnessFile(
            path: FilePath(persistence.directory).appending("\(link).newest"), margin: margin,
            logger: log)
    }
}

extension DriveMotors {
    /// Values by name: the speeds of both wheels, per cent of full speed, and the number of errors
    /// of the motor board.
    fileprivate var percentages: [String: Int] {
        let speeds = speeds
        return [
            "left_percent": Int((speeds.left * 100).rounded()),
            "right_percent": Int((speeds.right * 100).rounded()), "board_errors": errors,
        ]
    }
}
