import GimbalCore

/// Load of the CAN bus.
///
/// A classic frame has 47 bits plus its data; with a 29-bit identifier, it has 67 bits plus its
/// data. In the stuffed part of the frame, there is at most one stuff bit for each four bits (ISO
/// 11898-1; Tindell, Burns, Wellings: Calculating controller area network message response times,
/// 1995). The data part of a CAN FD frame is sent at 5 Mbit/s.
public struct CANLoad: Sendable, Equatable {
    /// Total duration of one period's frames, s.
    public let periodSeconds: Double
    /// Bus load due to frames that the drives send periodically, 0...1.
    public let fixedLoad: Double

    /// Creates the load of these settings.
    init(_ linux: Settings.Linux) {
        let rate = Double(linux.canKbit) * 1000
        func classic(_ bytes: Int, isExtended: Bool = false) -> Double {
            Double(Self.bits(bytes: bytes, isExtended: isExtended)) / rate
        }
        switch linux.canProtocol {
        case .odrive:
            // In every period, each drive receives a torque frame, and answers a request for the
            // encoder's estimates. In addition, one drive per period answers requests for its error
            // code and for one slow value, such as its voltage.
            periodSeconds =
                3 * (classic(4) + classic(0) + classic(8)) + 2 * (classic(0) + classic(8))
            fixedLoad = 3 * (classic(8) * 10 + classic(8) * 100)
        case .gm6020, .gm6020Voltage:
            let ids = [linux.canId.yaw, linux.canId.roll, linux.canId.pitch]
            let groups = (ids.contains { $0 <= 4 } ? 1.0 : 0) + (ids.contains { $0 > 4 } ? 1 : 0)
            periodSeconds = groups * classic(8)
            fixedLoad = 3 * classic(8) * 1000
        case .mit:
            periodSeconds = 3 * 2 * classic(8)
            fixedLoad = 0
        case .cybergear:
            periodSeconds = 3 * 2 * classic(8, isExtended: true)
            fixedLoad = 0
        case .moteus:
            periodSeconds =
                3 * (Self.fast(bytes: 48, rate: rate) + Self.fast(bytes: 24, rate: rate))
            fixedLoad = 0
        }
    }

    /// Load of the bus at the given loop rate (Hz), 0...1.
    public func load(rate: Double) -> Double { periodSeconds * rate + fixedLoad }

    /// Largest number of bits of a classic frame.
    static func bits(bytes: Int, isExtended: Bool = false) -> Int {
        let stuffed = (isExtended ? 54 : 34) + 8 * bytes
        return (isExtended ? 67 : 47) + 8 * bytes + (stuffed - 1) / 4
    }

    /// Duration of a CAN FD frame with a 29-bit identifier, s. About 60 bits are sent at the lower
    /// bit rate. The data and a checksum of 17 or 21 bits follow. All bit counts include stuff
    /// bits.
    private static func fast(bytes: Int, rate: Double) -> Double {
        60 / rate + Double(8 * bytes + 30) * 1.25 / 5e6
    }
}
