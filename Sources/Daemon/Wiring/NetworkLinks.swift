public import Configuration
import Hardware
import Links
import Logging
import Policy
import Realtime
import ServiceLifecycle
import SystemPackage
import Wire

/// The links over networks and serial ports that the configuration switches on.
struct NetworkLinks: Sendable {
    /// Autopilots and ground stations; nil where nobody can reach the gimbal.
    private let mavlink: MAVLinkServer?
    /// A remote control for the wheels; nil where nobody can reach them.
    private let rider: RiderServer?
    /// A minute where a rider's counter is the time in milliseconds, twenty where it counts datagrams.
    private static let riderMargin: UInt64 = 60_000

    /// The newest time or counter of each key; written behind the links.
    private let freshness: [FreshnessFile]

    /// Opens their sockets; nobody is heard before the services run.
    ///
    /// - Parameters:
    ///   - settings: Which, and where.
    ///   - port: The gimbal.
    ///   - wheels: What a rider's remote control turns.
    ///   - log: Who did what, and what was refused.
    /// - Throws: `SocketError` with what is in the way.
    init(
        _ settings: Settings, port: DaemonPort, wheels: DriveMotors?, log: Logger
    ) throws {
        var freshness: [FreshnessFile] = []
        mavlink = try settings.mavlinkConfiguration.map { configuration in
            var configuration = configuration
            if settings.mavlink.requireSignature {
                let key = try settings.keyFile("mavlink").read()
                let newest = try settings.freshnessFile(
                    "mavlink", margin: MAVLinkSigning.minute, log)
                newest.expect(MAVLinkSigning.time(seconds: WallClock.seconds))
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

    /// The services; stopped in reverse order, so that the newest times are written after the links have ended.
    var services: [any Service] {
        freshness + [mavlink as (any Service)?, rider].compactMap { $0 }
    }

    /// What each has counted.
    var status: [LinkStatus] {
        [mavlink?.status, rider?.status].compactMap { $0 }
    }
}

extension Settings {
    /// The file of a key that a setting requires is missing or unfit, so airframed does not start on this computer: as a sentence. Nil:
    /// none is.
    public var keyProblem: String? {
        var links: [String] = []
        if mavlink.requireSignature, mavlinkConfiguration != nil { links.append("mavlink") }
        if rider.requireSignature, !rider.listen.isEmpty { links.append("rider") }
        for link in links {
            do {
                _ = try keyFile(link).read()
            } catch {
                return error.description
            }
        }
        return nil
    }

    /// Where a link's passphrase is.
    fileprivate func keyFile(_ link: String) -> KeyFile {
        KeyFile(
            path: FilePath(persistence.directory).appending("\(link).key"),
            setting: "\(link).require_signature")
    }

    /// Where a link's newest signature is kept.
    fileprivate func freshnessFile(_ link: String, margin: UInt64, _ log: Logger) throws
        -> FreshnessFile
    {
        try FreshnessFile(
            path: FilePath(persistence.directory).appending("\(link).newest"), margin: margin,
            logger: log)
    }
}

extension DriveMotors {
    /// Speeds of the wheels, per cent, by name.
    fileprivate var percentages: [String: Int] {
        let speeds = speeds
        return [
            "left_percent": Int((speeds.left * 100).rounded()),
            "right_percent": Int((speeds.right * 100).rounded()), "board_errors": errors,
        ]
    }
}
