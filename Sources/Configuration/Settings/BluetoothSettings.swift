/// Access to the Bluetooth services.
public enum BluetoothSecurity: String, Sendable, CaseIterable {
    /// Every phone in range.
    case open
    /// Phones that were paired with a passkey.
    case encrypted
}

extension Settings {
    /// `[bluetooth]`
    public struct Bluetooth: Sendable, Equatable {
        /// Whether phones can connect.
        public var enabled = true
        /// The adapter; "auto" selects the first adapter.
        public var adapter = "auto"
        /// Access for reading and writing.
        public var security = BluetoothSecurity.open
        /// Largest number of connected phones.
        public var maxCentrals = 4
        /// Largest number of writes per second from one phone.
        public var maxWritesHz = 600.0
    }
}
