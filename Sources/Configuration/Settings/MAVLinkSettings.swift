/// Whose gimbal it is.
public enum MAVLinkRole: String, Sendable, CaseIterable {
    /// It is device and manager: the peer in control steers it.
    case manager
    /// An autopilot is its manager.
    case device
}

extension Settings {
    /// `[mavlink]`
    public struct MAVLink: Sendable, Equatable {
        /// UDP address for ground stations, or "off".
        public var listen = "off"
        /// Whom it speaks to from the start, or "off".
        public var connect = "off"
        /// A serial port to an autopilot or radio, or "off".
        public var serial = "off"
        /// Its speed, baud.
        public var baud = 57600
        /// Its system.
        public var system = 1
        /// Its component.
        public var component = 154
        /// Role in the gimbal protocol.
        public var role = MAVLinkRole.manager
        /// Whether only signed frames count.
        public var requireSignature = false
    }
}
