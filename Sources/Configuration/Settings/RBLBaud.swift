/// Baud rate of the serial port behind RedBearLab's serial service. The raw value is the byte in a
/// client's request.
public enum RBLBaud: UInt8, Sendable, CaseIterable {
    /// 9600 baud.
    case baud9600
    /// 19200 baud.
    case baud19200
    /// 38400 baud.
    case baud38400
    /// 57600 baud, the default.
    case baud57600
    /// 115200 baud.
    case baud115200

    /// Baud rate of the port, bits per second.
    public var bitsPerSecond: Int {
        switch self {
        case .baud9600: 9600
        case .baud19200: 19200
        case .baud38400: 38400
        case .baud57600: 57600
        case .baud115200: 115200
        }
    }
}
