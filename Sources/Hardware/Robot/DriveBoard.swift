internal import GimbalCore
internal import Realtime

/// Board that drives the two wheels of a robot. After its creation, only the drive thread uses the
/// object.
protocol WheelBoard: AnyObject {
    /// Time at which `serve` must be called; nil if the board has nothing to do before the next
    /// `write`.
    var due: Instant? { get }

    /// True while the board's port is missing; all transfers then fail.
    var isMissing: Bool { get }

    /// True if the robot can drive. While this property is false, the speeds that `write` receives
    /// are zero.
    func isReady(now: Instant) -> Bool

    /// Sets the speeds of both wheels, as fractions of full speed, -1...1, forwards positive.
    func write(left: Double, right: Double, now: Instant) throws(BusError)

    /// Continues an exchange with the board.
    func serve(now: Instant) throws(BusError)

    /// Switches both wheels off.
    func allOff() throws(BusError)
}

/// Protocol of the motor board that drives the two wheels.
public enum DriveBoardFormat: Sendable, Equatable {
    /// Speeds in register 0x00 with magnitudes of 0...100, as in the public driver of the
    /// controller board.
    case publicDriver
    /// Speeds in register 0x01 with magnitudes of 0...255, and a separate register to stop, as in
    /// the vendor's driver.
    case vendor

    /// Creates the bytes that set both speeds: the register, then direction (1 is forwards) and
    /// magnitude of the left wheel, then direction and magnitude of the right wheel.
    ///
    /// - Parameters:
    ///   - left: Speed of the left wheel, as a fraction of full speed, -1...1.
    ///   - right: Speed of the right wheel, as a fraction of full speed, -1...1.
    /// - Returns: The bytes of one transfer.
    func bytes(left: Double, right: Double) -> (UInt8, UInt8, UInt8, UInt8, UInt8) {
        let (register, full) = self == .publicDriver ? (UInt8(0x00), 100.0) : (0x01, 255)
        return (
            register, left >= 0 ? 1 : 0, Self.magnitude(left, full), right >= 0 ? 1 : 0,
            Self.magnitude(right, full)
        )
    }

    private static func magnitude(_ speed: Double, _ full: Double) -> UInt8 {
        guard speed.isFinite else { return 0 }
        return UInt8(min(abs(speed) * full, full).rounded())
    }
}

/// Motor board for the two wheels, on an I2C bus. After the creation of a `DriveBoard`, only one
/// thread uses it.
final class DriveBoard: WheelBoard {
    /// I2C address of the board.
    static let address: UInt16 = 0x16
    /// Time without a successful transfer after which the board counts as silent, s. A few
    /// disturbed transfers do not stop the robot.
    static let silentSeconds = 0.1

    private let bus: I2CBus
    private let format: DriveBoardFormat
    /// Time of the first failed transfer since the last successful one; nil while the board
    /// acknowledges its transfers.
    private var failingSince: Instant?
    private var speeds = I2CExchange(capacity: 5)
    private var stand = I2CExchange(capacity: 2)

    /// Creates a board.
    ///
    /// - Parameters:
    ///   - bus: Bus of the board.
    ///   - format: Protocol of the board.
    init(bus: I2CBus, format: DriveBoardFormat) {
        self.bus = bus
        self.format = format
        speeds.write([0, 0, 0, 0, 0], to: Self.address)
        stand.write([0x02, 0], to: Self.address)
    }

    var due: Instant? { nil }

    var isMissing: Bool { false }

    /// True unless the board is silent: it acknowledges each transfer that it receives.
    func isReady(now: Instant) -> Bool {
        failingSince.map { now.seconds(since: $0) <= Self.silentSeconds } ?? true
    }

    func serve(now: Instant) throws(BusError) {}

    /// Sets the speeds of both wheels in one transfer.
    func write(left: Double, right: Double, now: Instant) throws(BusError) {
        do throws(BusError) {
            try write(left: left, right: right)
            failingSince = nil
        } catch {
            failingSince = failingSince ?? now
            throw error
        }
    }

    private func write(left: Double, right: Double) throws(BusError) {
        let bytes = format.bytes(left: left, right: right)
        speeds.bytes[0] = bytes.0
        speeds.bytes[1] = bytes.1
        speeds.bytes[2] = bytes.2
        speeds.bytes[3] = bytes.3
        speeds.bytes[4] = bytes.4
        try bus.run(speeds, .write, at: Self.address)
    }

    /// Switches both wheels off.
    func allOff() throws(BusError) {
        switch format {
        case .publicDriver: try write(left: 0, right: 0)
        case .vendor: try bus.run(stand, .off, at: Self.address)
        }
    }
}
