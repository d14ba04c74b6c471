/// Configuration of the Bluetooth peripheral; see `[bluetooth]` in etc/airframed.toml.
public struct BluetoothConfiguration: Sendable {
    /// Security level that a phone needs for read and write access.
    public enum Security: String, Sendable {
        /// Every phone in range can use the services; existing apps require open access.
        case open
        /// Only phones that were paired with a passkey can use the services.
        case encrypted
    }

    /// Name of the Bluetooth adapter, such as "hci0"; empty for the first adapter.
    public var adapter = ""
    /// Name of the peripheral that a connected phone reads. The AirLink app connects only to this
    /// name.
    public var name = "AirOS Gimbal"
    /// Security level that a phone needs for read and write access.
    public var security = Security.open
    /// Largest number of connected phones; further phones are disconnected.
    public var maximumCentrals = 4
    /// Largest number of accepted writes per second from one phone; also the largest number of
    /// writes in a burst.
    public var writesPerSecond = 600.0
    /// Address of the D-Bus daemon; nil for the system bus.
    public var busAddress: String?

    /// Creates the default configuration.
    public init() {}
}
