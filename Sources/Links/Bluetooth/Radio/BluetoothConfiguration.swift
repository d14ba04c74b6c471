/// Configuration of the Bluetooth peripheral; see `[bluetooth]` in etc/airframed.toml.
public struct BluetoothConfiguration: Sendable {
    /// Access for reading and writing.
    public enum Security: String, Sendable {
        /// Every phone in range, as the apps require.
        case open
        /// Phones that were paired with a passkey.
        case encrypted
    }

    /// Adapter, such as "hci0"; empty for the first adapter.
    public var adapter = ""
    /// The name that a connected phone reads. The AirLink app connects only to this name.
    public var name = "AirOS Gimbal"
    /// Access for reading and writing.
    public var security = Security.open
    /// Largest number of connected phones; more are disconnected.
    public var maximumCentrals = 4
    /// Largest number of accepted writes per second of one phone, on average and as a burst.
    public var writesPerSecond = 600.0
    /// Address of the bus; nil for the system bus.
    public var busAddress: String?

    /// The defaults.
    public init() {}
}
