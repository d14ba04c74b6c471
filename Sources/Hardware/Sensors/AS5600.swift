internal import GimbalCore
internal import Realtime

/// ams AS5600, an encoder that measures the angle of a magnet on a shaft, with 12 bits per turn.
/// The I2C address of the chip is always 0x36, so several encoders need separate buses. Each
/// channel of a multiplexer with a kernel driver (i2c-mux-pca954x) is a separate bus.
///
/// Data sheet: AS5600, v1-06 (2018), register description.
final class AS5600 {
    private let bus: I2CBus
    private let zero: Double
    private let direction: Double
    private let staleSeconds: Double
    private let report: EncoderReport
    private var exchange = I2CExchange(capacity: 4)
    private var last: Double?
    private var lastTime = Instant(nanoseconds: .min / 2)
    /// A reading too far from `last`, rad, which the next reading must confirm; nil if there is none.
    private var doubtful: Double?

    /// Largest noise of a reading, rad.
    private static let noise = 0.1
    /// Highest rate of a joint, rad/s; a change at a higher rate needs two readings.
    private static let fastest = 50.0

    /// The only I2C address of the chip.
    static let address: UInt16 = 0x36

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - bus: Bus of the chip.
    ///   - zero: Reading of the encoder at joint angle zero, rad.
    ///   - direction: Direction of the encoder; 1, or -1 if the encoder's angle decreases when the
    ///     joint's angle increases.
    ///   - staleSeconds: Time without an answer after which the angle is unknown, s.
    ///   - report: Report of the encoder's state, for other threads.
    init(
        bus: I2CBus, zero: Double, direction: Double, staleSeconds: Double = 0.02,
        report: EncoderReport = EncoderReport()
    ) {
        self.report = report
        self.staleSeconds = staleSeconds
        self.bus = bus
        self.zero = zero
        self.direction = direction
        // The exchange reads the registers STATUS and RAW ANGLE.
        _ = exchange.read(0x0B, count: 3, from: Self.address)
    }

    /// Reads the joint's angle, -π...π, rad; nil if the encoder does not answer, or detects no
    /// magnet.
    func angle(now: Instant) -> Double? {
        do {
            try bus.run(exchange)
            take(
                UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(exchange.bytes)[1..<4]), now
            )
        } catch {
            report.note(.silence)
        }
        return now.seconds(since: lastTime) <= staleSeconds ? last : nil
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ now: Instant) {
        guard let turn = Self.turn(bytes) else { return report.note(.noMagnet) }
        report.note(.angle)
        let angle = Self.joint(turn, zero: zero, direction: direction)
        guard isPlausible(angle, now) else { return doubtful = angle }
        doubtful = nil
        last = angle
        lastTime = now
    }

    /// True if the joint can have turned to the angle since `last`, or if the previous reading
    /// confirms the angle. The bus has no checksum: one damaged byte must not move the camera.
    private func isPlausible(_ angle: Double, _ now: Instant) -> Bool {
        guard let last else { return true }
        let limit = Self.noise + Self.fastest * now.seconds(since: lastTime)
        if Self.distance(angle, last) <= limit { return true }
        return if let doubtful { Self.distance(angle, doubtful) <= limit } else { false }
    }

    /// Distance of two angles on the circle, 0...π rad.
    private static func distance(_ one: Double, _ other: Double) -> Double {
        abs((one - other).remainder(dividingBy: 2 * .pi))
    }

    /// Decodes the angle in the registers STATUS and RAW ANGLE, 0..<2π rad; nil if the chip detects
    /// no magnet (MD, bit 5). The angle is valid even if the magnet is too weak or too strong (bits
    /// ML and MH).
    static func turn(_ bytes: UnsafeRawBufferPointer) -> Double? {
        guard bytes[0] & 0x20 != 0 else { return nil }
        return Double(UInt16(bytes[1] & 0x0F) << 8 | UInt16(bytes[2])) * 2 * .pi / 4096
    }

    /// Converts a reading of the encoder to the joint's angle, -π...π, rad.
    static func joint(_ turn: Double, zero: Double, direction: Double) -> Double {
        ((turn - zero) * direction).remainder(dividingBy: 2 * .pi)
    }

    /// Number of bits that one read of the encoder transfers.
    var wireBits: Int { exchange.wireBits }
}
