public import Wire

/// Identity of the gimbal among MAVLink components, and addresses of its peers.
public struct MAVLinkConfiguration: Sendable {
    /// System and component: 1/154 is the first gimbal of the first vehicle.
    public var address = MAVLinkAddress(system: 1, component: 154)
    /// Whether the gimbal is its own manager; otherwise the autopilot is.
    public var isManager = true
    /// Address for ground stations; nil: none.
    public var listen: DatagramAddress?
    /// A ground station or autopilot that is spoken to from the start; nil: nobody.
    public var connect: DatagramAddress?
    /// Device file of a serial port; nil: none.
    public var serial: String?
    /// Its speed.
    public var baud = 57600

    /// Key and times of signatures; nil: frames are not signed, and signatures of others are ignored.
    public var signing: MAVLinkSigning?
    /// The newest time of a signature, kept over restarts.
    public var freshness: FreshnessFile?
    /// The time of day for signatures, units of 10 µs since 2015.
    public var timeOfDay: @Sendable () -> UInt64 = { 0 }

    /// The defaults: nobody is reached.
    public init() {}

    /// The number of this gimbal device, where a message asks for one: 1, because it is the manager's own component.
    static let device: UInt8 = 1
}
