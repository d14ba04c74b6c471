/// Role of the gimbal in MAVLink's gimbal protocol.
public enum MAVLinkRole: String, Sendable, CaseIterable {
    /// The gimbal is both gimbal device and gimbal manager, and executes the commands of the peer
    /// in control.
    case manager
    /// The gimbal is only a gimbal device; an autopilot is its gimbal manager.
    case device
}

extension Settings {
    /// Settings of `[mavlink]`.
    public struct MAVLink: Sendable, Equatable {
        /// UDP address for ground stations, or `off`.
        public var listen = "off"
        /// UDP address of a peer, or `off`. The gimbal sends the first datagram to this peer.
        public var connect = "off"
        /// Device file of a serial port to an autopilot or radio, or `off`.
        public var serial = "off"
        /// Baud rate of the serial port.
        public var baud = 57600
        /// System ID of the gimbal.
        public var system = 1
        /// Component ID of the gimbal.
        public var component = 154
        /// Role in the gimbal protocol.
        public var role = MAVLinkRole.manager
        /// True if airframed accepts only signed frames.
        public var requireSignature = false
    }
}
