/// Configuration of the Bluetooth peripheral; see `[bluetooth]` in etc/airframed.toml.
public struct BluetoothConfiguration: Sendable {
    /// Access for reading and writing.
    public enum Security: String, Sendable {
        /// Everybody in range: what the apps need.
        case open
        /// Phones that were paired with a passkey.
        case encrypted
    }

    /// "hci0"; empty: the first that there is.
    public var adapter = ""
    /// The name that a connected phone reads. The AirLink app connects to this one only.
    public var name = "AirOS Gimbal"
    /// Access for reading and writing.
    public var security = Security.open
    /// Phones connected at the same time; more are disconnected.
    public var maximumCentrals = 4
    /// Writes per second of one phone that are carried out, on average and as a burst.
    public var writesPerSecond = 600.0
    /// Address of the bus; nil: the system bus.
    public var busAddress: String?

    /// The defaults.
    public init() {}
}
