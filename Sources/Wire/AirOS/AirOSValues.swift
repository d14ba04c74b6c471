public import GimbalCore
public import Port

/// Mode of the gimbal as AirOS apps write and read it: one byte.
public enum AirOSMode: UInt8, Sendable, CaseIterable {
    /// The outputs are off.
    case inactive = 0
    /// The camera keeps its attitude in the earth frame.
    case locked = 1
    /// The heading follows the handle.
    case panFollow = 2
    /// All axes follow the handle.
    case fpv = 3
    /// The app turns the camera to track a person.
    case personTracking = 4

    /// Converts a mode of the gimbal to the app's mode. The modes `neutral` and `retract` have no
    /// byte, because an app cannot request them. In these modes, the app reads `inactive`.
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
    /// - Parameter bytes: Exactly one byte, 0...4.
    /// - Throws: `length` or `outOfRange`.
    public init(bytes: [UInt8]) throws(Refusal) {
        guard bytes.count == 1 else { throw .length(expected: 1, found: bytes.count) }
        guard let mode = Self(rawValue: bytes[0]) else {
            throw .outOfRange(Int(bytes[0]), allowed: "0...4")
        }
        self = mode
    }

    /// The bytes that an app reads.
    public var bytes: [UInt8] { [rawValue] }
}

/// Status for apps: one byte with the number that apps expect. The sample firmware sends the mode's
/// byte instead. Therefore, with the sample firmware, apps show `calibrating` for mode `locked`.
public enum AirOSStatus: UInt8, Sendable, CaseIterable {
    /// The outputs are off.
    case inactive = 0
    /// A calibration of the gyroscope is in progress. The app shows its button in grey.
    case calibrating = 1
    /// The mode is `locked`.
    case locked = 2
    /// The mode is `panFollow`.
    case panFollow = 3
    /// The mode is `fpv`.
    case fpv = 4
    /// The mode is `personTracking`.
    case personTracking = 5
    /// A calibration that a phone requested has just failed. The original firmware never sends the
    /// status `calibrationFailed`. The app ignores this status. The app detects the end of the
    /// calibration from the next status.
    case calibrationFailed = 6

    /// Creates a status that reports the mode, without a calibration in progress.
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

    /// The bytes for reads and notifications.
    public var bytes: [UInt8] { [rawValue] }
}

/// Camera angles for apps, degrees; pitch down, roll right and yaw right are positive.
public struct AirOSAngles: Sendable, Equatable {
    /// Pitch, -180...180°.
    public var pitch: Float
    /// Roll, -90...90°.
    public var roll: Float
    /// Yaw, -180...180°.
    public var yaw: Float

    /// Creates the angles.
    ///
    /// - Parameters:
    ///   - angles: Angles of the camera in the earth frame (Z-X-Y, pitch up positive), rad, not
    ///     wrapped.
    ///   - sign: Sign of each axis: 1, or -1 for an axis with the opposite direction in the app.
    public init(_ angles: AxisVector, sign: AxisVector = AxisVector(repeating: 1)) {
        let degrees = angles * sign * (180 / .pi)
        pitch = Self.wrapped(-degrees.pitch)
        roll = Self.wrapped(degrees.roll)
        yaw = Self.wrapped(degrees.yaw)
    }

    /// The bytes of one angle, for reads and notifications.
    public static func bytes(_ angle: Float) -> [UInt8] { angle.littleEndianBytes }

    /// Wraps an angle to -180...180°. The result is never -0.
    private static func wrapped(_ degrees: Double) -> Float {
        Float(degrees.remainder(dividingBy: 360) + 0)
    }
}

/// Triple of numbers that apps write and read as three float32.
public protocol AirOSTriple {
    /// The numbers with their names, in the order of the bytes.
    static var parts: [(name: String, path: WritableKeyPath<Self, Double>)] { get }
    /// Creates a triple with initial numbers, before parsing.
    init()
}

extension AirOSTriple {
    /// Parses a written triple. Each float32 is converted to its shortest decimal number: 1.2
    /// instead of 1.2000000476837158. Therefore the app's defaults equal the settings' defaults,
    /// and saved files contain short numbers.
    ///
    /// - Parameter bytes: Exactly three float32 numbers, least significant byte first.
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

    /// The bytes that an app reads.
    public var bytes: [UInt8] {
        Self.parts.flatMap { Float(self[keyPath: $0.path]).littleEndianBytes }
    }
}

extension PIDTriple: AirOSTriple {
    /// The numbers in the order p, i, d.
    public static var parts: [(name: String, path: WritableKeyPath<PIDTriple, Double>)] {
        [("p", \.p), ("i", \.i), ("d", \.d)]
    }

    /// Creates three numbers that are zero.
    public init() { self.init(p: 0, i: 0, d: 0) }
}

/// Parameters of the sample firmware's Kalman filters, for display in apps. airframe uses only the
/// ratios to their defaults (`estimator.kalman_*`). No app writes the Kalman parameters yet.
/// airframe has defined their format (three float32).
public struct KalmanTriple: Sendable, Equatable {
    /// Process noise of the angle.
    public var qAngle: Double
    /// Process noise of the bias.
    public var qBias: Double
    /// Measurement noise.
    public var rMeasure: Double

    /// Creates the Kalman parameters from the given numbers.
    public init(qAngle: Double, qBias: Double, rMeasure: Double) {
        self.qAngle = qAngle
        self.qBias = qBias
        self.rMeasure = rMeasure
    }
}

extension KalmanTriple: AirOSTriple {
    /// The numbers in the order angle, bias, measurement.
    public static var parts: [(name: String, path: WritableKeyPath<KalmanTriple, Double>)] {
        [("q_angle", \.qAngle), ("q_bias", \.qBias), ("r_measure", \.rMeasure)]
    }

    /// Creates three numbers that are zero.
    public init() { self.init(qAngle: 0, qBias: 0, rMeasure: 0) }
}

extension Float {
    /// The four bytes of the number, least significant first.
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: bitPattern >> (8 * $0)) }
    }
}
