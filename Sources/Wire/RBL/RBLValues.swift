/// Characteristics of RedBearLab's serial service, in the order of their handles. The raw values
/// are the characteristics' UUIDs.
///
/// Source: RedBearLab, "Biscuit" firmware 2.0 (BLE Mini), `txrxservice.c`.
public enum RBLCharacteristic: String, Sendable, CaseIterable {
    /// Characteristic that sends bytes to the app.
    case transmit = "713d0002-503e-4c75-ba94-3148f18d941e"
    /// Characteristic that receives bytes from the app.
    case receive = "713d0003-503e-4c75-ba94-3148f18d941e"
    /// Baud rate of the serial port. Clients write the baud rate as one byte, and read it as text,
    /// such as `BAUD_57600`.
    case baud = "713d0004-503e-4c75-ba94-3148f18d941e"
    /// The advertised name, at most 20 bytes.
    case name = "713d0005-503e-4c75-ba94-3148f18d941e"
    /// The version of the firmware, `Biscuit_2.0`.
    case version = "713d0006-503e-4c75-ba94-3148f18d941e"
    /// Transmit power of the radio. Clients write the power as one byte, and read it as text, see
    /// `RBLTransmitPower`.
    case transmitPower = "713d0007-503e-4c75-ba94-3148f18d941e"

    /// UUID of the service; apps scan for it.
    public static let service = "713d0000-503e-4c75-ba94-3148f18d941e"
    /// Text of the characteristic `version`.
    public static let firmware = "Biscuit_2.0"
    /// Largest size of a name, bytes.
    public static let longestName = 20
}

/// Transmit power of the radio. The raw value is the written byte.
public enum RBLTransmitPower: UInt8, Sendable, CaseIterable {
    /// Power of -23 dBm.
    case minus23
    /// Power of -6 dBm.
    case minus6
    /// Transmit power of 0 dBm, the default.
    case zero
    /// Power of +4 dBm.
    case plus4

    /// Text for a client, such as "0 dBm".
    public var bytes: [UInt8] {
        switch self {
        case .minus23: Array("-23 dBm".utf8)
        case .minus6: Array("-6 dBm".utf8)
        case .zero: Array("0 dBm".utf8)
        case .plus4: Array("+4 dBm".utf8)
        }
    }
}
