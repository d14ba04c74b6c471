public import WebServing

/// Options of the server for phones.
public struct AerieOptions: Sendable {
    /// Meaning of the axes in a phone's pose matrix.
    public enum CameraAxes: String, Sendable, CaseIterable {
        /// Those of ARKit's `camera.transform`: x right, y up, z towards the viewer.
        case arkit
        /// Those of HawkSight's own projection: x right, y down, z away from the viewer.
        case pinhole
    }

    /// Address, names and limits.
    public var web: WebOptions
    /// Secret that signs tokens; nil: no signed token is accepted.
    public var secret: [UInt8]?
    /// Whether tokens without a time are accepted, which cannot be checked.
    public var acceptsLegacyToken = false
    /// Largest number of admitted phones.
    public var phones = 8
    /// Meaning of the axes in a phone's pose matrix.
    public var axes = CameraAxes.arkit
    /// Time from the connection to a valid `AuthRequest`, s.
    public var authentication = 10.0
    /// Duration of a session, s; a new `AuthRequest` begins the next.
    public var session = 3600.0
    /// Unix time, s.
    public var now: @Sendable () -> Double = { AerieClock.now() }

    /// Options with their default values.
    ///
    /// - Parameter listen: Address and port.
    public init(listen: String) {
        web = WebOptions(listen: listen)
        // A JPEG of 500 kB, which HawkSight names as its limit, is 889 kB after base64 twice.
        web.limits.message = 1_000_000
        web.limits.messagesPerSecond = 120
        web.limits.connections = 16
        web.limits.connectionsPerAddress = 8
        web.limits.outgoing = 131_072
    }
}
