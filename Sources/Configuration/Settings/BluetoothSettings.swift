/// Access to the Bluetooth services.
public enum BluetoothSecurity: String, Sendable, CaseIterable {
    /// Every phone in range can use the services.
    case open
    /// Only phones that were paired with a passkey can use the services.
    case encrypted
}

extension Settings {
    /// Settings of `[bluetooth]`.
    public struct Bluetooth: Sendable, Equatable {
        /// True if phones can connect.
        public var enabled = true
        /// Name of the Bluetooth adapter; `auto` selects the first adapter.
        public var adapter = "auto"
        /// Requirement for read and write access.
        public var security = BluetoothSecurity.open
        /// Largest number of connected phones.
        public var maxCentrals = 4
        /// Largest number of writes per second from one phone.
        public var maxWritesHz = 600.0
    }
}
