/// Access to the Bluetooth services.
public enum BluetoothSecurity: String, Sendable, CaseIterable {
    /// Everybody in range.
    case open
    /// Phones that were paired with a passkey.
    case encrypted
}

extension Settings {
    /// `[bluetooth]`
    public struct Bluetooth: Sendable, Equatable {
        /// Whether phones can connect.
        public var enabled = true
        /// The adapter; "auto": the first one.
        public var adapter = "auto"
        /// Access for reading and writing.
        public var security = BluetoothSecurity.open
        /// Phones at the same time.
        public var maxCentrals = 4
        /// Writes of one phone per second.
        public var maxWritesHz = 600.0
    }
}
