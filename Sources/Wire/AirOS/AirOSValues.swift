public import GimbalCore
public import Port

/// Mode as apps write and read it: one byte.
public enum AirOSMode: UInt8, Sendable, CaseIterable {
    /// Outputs off.
    case inactive = 0
    /// The camera holds its direction.
    case locked = 1
    /// The heading follows the handle.
    case panFollow = 2
    /// All axes follow the handle.
    case fpv = 3
    /// The app turns the camera after a person.
    case personTracking = 4

    /// Creates the mode for one of the gimbal's. The rest poses, `neutral` and `retract`, have no
    /// byte: an app, which cannot request them, reads `inactive`.
    public init(_ mode: Mode) {
        self =
            switch mode {
            case .inactive, .neutral, .retract: .inactive
            case .locked: .locked
            case .panFollow: .panFollow
            case .fpv: .fpv
            case .tracking: .personTracking
            }
    }

    /// Parses a written mode.
    ///
    /// - Parameter bytes: Exactly one, 0...4.
    /// - Throws: `length` or `outOfRange`.
    public init(bytes: [UInt8]) throws(Refusal) {
        guard bytes.count == 1 else { throw .length(expected: 1, found: bytes.count) }
        guard let mode = Self(rawValue: bytes[0]) else {
            throw .outOfRange(Int(bytes[0]), allowed: "0...4")
        }
        self = mode
    }

    /// Bytes for reading.
    public var bytes: [UInt8] { [rawValue] }
}

/// Status as apps decode it: one byte. The sample firmware sends the mode's byte here, so apps show
/// `calibrating` for `locked`. Apps expect these numbers.
public enum AirOSStatus: UInt8, Sendable, CaseIterable {
    /// Outputs off.
    case inactive = 0
    /// The gyroscope is being calibrated; the app's button is grey during the calibration.
    case calibrating = 1
    /// Mode `locked`.
    case locked = 2
    /// Mode `panFollow`.
    case panFollow = 3
    /// Mode `fpv`.
    case fpv = 4
    /// Mode `personTracking`.
    case personTracking = 5
    /// A phone's calibration has just failed. The original firmware never sends this: its app
    /// ignores the value, and detects the end of the calibration from the next value.
    case calibrationFailed = 6

    /// Creates the status of a mode without a calibration.
    public init(_ mode: AirOSMode) {
        self =
            switch mode {
            case .inactive: .inactive
            case .locked: .locked
            case .panFollow: .panFollow
            case .fpv: .fpv
            case .personTracking: .personTracking
            }
    }

    /// Bytes for reading and notifications.
    public var bytes: [UInt8] { [rawValue] }
}

/// Camera angles for apps, degrees; pitch down, roll right and yaw right are positive.
public struct AirOSAngles: Sendable, Equatable {
    /// Pitch, -180...180.
    public var pitch: Float
    /// Roll, -90...90.
    public var roll: Float
    /// Yaw, -180...180.
    public var yaw: Float

    /// Creates the angles.
    ///
    /// - Parameters:
    ///   - angles: Earth frame, Z-X-Y, rad, pitch up positive; any number of turns.
    ///   - sign: 1, or -1 for an axis with the opposite sign in the app.
    public init(_ angles: AxisVector, sign: AxisVector = AxisVector(repeating: 1)) {
        let degrees = angles * sign * (180 / .pi)
        pitch = Self.wrapped(-degrees.pitch)
        roll = Self.wrapped(degrees.roll)
        yaw = Self.wrapped(degrees.yaw)
    }

    /// Bytes of one angle, for reading and notifications.
    public static func bytes(_ angle: Float) -> [UInt8] { angle.littleEndianBytes }

    /// The angle in -180...180. Minus zero becomes zero.
    private static func wrapped(_ degrees: Double) -> Float {
        Float(degrees.remainder(dividingBy: 360) + 0)
    }
}

/// Three numbers that apps write and read as three float32.
public protocol AirOSTriple {
    /// The numbers with their names, in the order of the bytes.
    static var parts: [(name: String, path: WritableKeyPath<Self, Double>)] { get }
    /// A triple whose numbers are to be replaced.
    init()
}

extension AirOSTriple {
    /// Parses a written triple, in the decimal digits that the sender meant: the float32 nearest to
    /// 1.2 becomes 1.2, not 1.2000000476837158, so that a default compares equal and a saved file is
    /// readable.
    ///
    /// - Parameter bytes: Exactly three float32, least significant byte first.
    /// - Throws: `length` or `notFinite`.
    public init(bytes: [UInt8]) throws(Refusal) {
        guard bytes.count == 12 else { throw .length(expected: 12, found: bytes.count) }
        self.init()
        for (index, part) in Self.parts.enumerated() {
            let pattern = (0..<4).reduce(UInt32(0)) {
                $0 | UInt32(bytes[4 * index + $1]) << (8 * UInt32($1))
            }
            let value = Float(bitPattern: pattern)
            guard value.isFinite, let decimal = Double(value.description) else {
                throw .notFinite(part.name)
            }
            self[keyPath: part.path] = decimal
        }
    }

    /// Bytes for reading.
    public var bytes: [UInt8] {
        Self.parts.flatMap { Float(self[keyPath: $0.path]).littleEndianBytes }
    }
}

extension PIDTriple: AirOSTriple {
    /// The order p, i, d.
    public static var parts: [(name: String, path: WritableKeyPath<PIDTriple, Double>)] {
        [("p", \.p), ("i", \.i), ("d", \.d)]
    }

    /// Zeros.
    public init() { self.init(p: 0, i: 0, d: 0) }
}

/// Parameters of the sample firmware's Kalman filters, as apps know them; only their ratio to the
/// defaults counts (`estimator.kalman_*`). No app writes them yet; the format of three float32 in
/// this order is airframe's own.
public struct KalmanTriple: Sendable, Equatable {
    /// Process noise of the angle.
    public var qAngle: Double
    /// Process noise of the bias.
    public var qBias: Double
    /// Measurement noise.
    public var rMeasure: Double

    /// Creates a triple of these numbers.
    public init(qAngle: Double, qBias: Double, rMeasure: Double) {
        self.qAngle = qAngle
        self.qBias = qBias
        self.rMeasure = rMeasure
    }
}

extension KalmanTriple: AirOSTriple {
    /// The order angle, bias, measurement.
    public static var parts: [(name: String, path: WritableKeyPath<KalmanTriple, Double>)] {
        [("q_angle", \.qAngle), ("q_bias", \.qBias), ("r_measure", \.rMeasure)]
    }

    /// Zeros.
    public init() { self.init(qAngle: 0, qBias: 0, rMeasure: 0) }
}

extension Float {
    /// Four bytes, least significant first.
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: bitPattern >> (8 * $0)) }
    }
}
