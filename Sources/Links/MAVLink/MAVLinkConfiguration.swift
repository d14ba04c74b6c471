public import Port
public import Wire

/// Identity of the gimbal among MAVLink components, and addresses of its peers.
public struct MAVLinkConfiguration: Sendable {
    /// The gimbal's system ID and component ID: 1/154 is the first gimbal of the first vehicle.
    public var address = MAVLinkAddress(system: 1, component: 154)
    /// Link over which the peers' frames arrive.
    public var link = CommandSource.Link.mavlink
    /// True if the gimbal is the gimbal manager; false if the autopilot is the gimbal manager.
    public var isManager = true
    /// Local UDP address at which ground stations can reach the gimbal; nil if ground stations are
    /// not served.
    public var listen: DatagramAddress?
    /// A ground station or autopilot that the gimbal contacts first; nil if there is none.
    public var connect: DatagramAddress?
    /// Device file of the serial port to an autopilot; nil without a serial link.
    public var serial: String?
    /// Baud rate of the serial port.
    public var baud = 57600

    /// Signer of frames, with the key and the newest signature times. If the property is nil, the
    /// gimbal does not sign frames, and ignores the signatures of received frames.
    public var signing: MAVLinkSigning?
    /// Newest time of a signature, stored across restarts.
    public var freshness: FreshnessFile?
    /// Function that returns the time of day for signatures, in units of 10 µs since 2015.
    public var timeOfDay: @Sendable () -> UInt64 = { 0 }

    /// Function that returns the video stream of a companion program; nil without a stream. A
    /// MAVLink camera component announces the stream to ground stations.
    public var camera: @Sendable () -> VideoStream? = { nil }
    /// State of the companion program that takes photos and records video; nil without one.
    public var captured: @Sendable () -> CaptureState? = { nil }
    /// Function that receives a command for a photo or a recording, and the source of the command.
    /// The function throws a refusal if the command cannot be executed.
    public var capture:
        @Sendable (_ action: CameraOrder.Action, _ source: CommandSource) throws(Refusal) -> Void =
            {
                (_, _) throws(Refusal) in
                throw Refusal(.refused, "no program that records video is connected")
            }
    /// Function that returns the state of the battery; nil if there is no battery.
    public var battery: @Sendable () -> BatteryStatus? = { nil }
    /// Function that returns the state of the companion program that follows a person; nil if there
    /// is no such program.
    public var following: @Sendable () -> FollowingState? = { nil }
    /// Function that selects the person to follow. The function's arguments are a position in the
    /// picture (0...1 from the left and from the top) and the source of the request. The function
    /// throws a refusal if the person cannot be selected.
    public var follow:
        @Sendable (
            _ action: FollowingChoice.Action, _ x: Double?, _ y: Double?, _ source: CommandSource
        ) throws(Refusal) -> Void = { (_, _, _, _) throws(Refusal) in
            throw Refusal(.refused, "no program that finds people is connected")
        }

    /// Creates the default configuration, without any peer.
    public init() {}

    /// Device ID of the gimbal in the manager's messages: 1, because the manager is the gimbal's
    /// component.
    static let device: UInt8 = 1
}
