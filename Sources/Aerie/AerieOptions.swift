public import WebServing

/// Options of the server for phones.
public struct AerieOptions: Sendable {
    /// Meaning of the axes in a phone's pose matrix.
    public enum CameraAxes: String, Sendable, CaseIterable {
        /// Axes of ARKit's `camera.transform`: x right, y up, z towards the viewer.
        case arkit
        /// Axes of HawkSight's projection: x right, y down, z away from the viewer.
        case pinhole
    }

    /// Address, names and limits of the web server.
    public var web: WebOptions
    /// Shared secret for the signatures of the phones' tokens; nil if no signed token is accepted.
    public var secret: [UInt8]?
    /// True if tokens without a timestamp are accepted. The server cannot verify a token without a
    /// timestamp, because the timestamp is part of the signed text.
    public var acceptsLegacyToken = false
    /// Largest number of admitted phones.
    public var phones = 8
    /// Meaning of the axes in a phone's pose matrix.
    public var axes = CameraAxes.arkit
    /// Longest time from the connection to a valid `AuthRequest`, s.
    public var authentication = 10.0
    /// Duration of a session, s. Until this time has passed, a further `AuthRequest` of the phone
    /// continues the session. The phone stays admitted until its connection ends, even if the
    /// session ends earlier.
    public var session = 3600.0
    /// Function that returns the Unix time, s.
    public var now: @Sendable () -> Double = { AerieClock.now() }

    /// Creates options with their default values.
    ///
    /// - Parameter listen: Address and port, such as "0.0.0.0:8765".
    public init(listen: String) {
        web = WebOptions(listen: listen)
        // HawkSight sends pictures of at most 500 kB. Base64 is applied twice, which enlarges a
        // picture of 500 kB to 889 kB.
        web.limits.message = 1_000_000
        web.limits.messagesPerSecond = 120
        web.limits.connections = 16
        web.limits.connectionsPerAddress = 8
        web.limits.outgoing = 131_072
    }
}
