public import GimbalCore

/// Problem in the measurement of a joint's range.
public enum TravelProblem: Error, Sendable, Equatable {
    /// The joint did not move far enough.
    case noMotion
    /// The camera turned, but no encoder moved.
    case encoderStill
    /// The camera turned about the joint, but the encoder of another joint moved.
    case encodersSwapped(GimbalAxis)
    /// The camera turned about axes other than the joint's axis: the handle moved.
    case handleMoved
    /// The encoder and the camera turned by different angles: the handle or another joint moved.
    case disturbed
    /// Angle zero is not between the two ends.
    case zeroOutside(middle: Double)
}

/// Measurement of one joint's range and of its encoder's direction, while the joint moves between
/// its ends. The handle must be still and upright.
///
/// The axis of pitch is fixed to the camera, the axis of yaw is vertical, and the axis of roll is
/// perpendicular to both. Without an encoder, the joint's angle is the integral of the camera's
/// rate about the joint's axis, and is zero at the first tick.
public struct JointTravel: Sendable {
    /// Range and direction of one joint.
    public struct Finding: Sendable, Equatable {
        /// Smallest angle, rad.
        public var lower: Double
        /// Largest angle, rad.
        public var upper: Double
        /// True if the joint has no ends.
        public var isEndless: Bool
        /// Direction of the encoder: 1, or -1 if the encoder's reading decreases while the joint's
        /// angle increases.
        public var direction: Double
    }

    /// Smallest valid angle between the two ends, rad.
    public static let smallest = 10 * Double.pi / 180
    /// Range above which a joint counts as endless, rad.
    public static let endless = 362 * Double.pi / 180
    /// Rate below which the camera's rotation is ignored, rad/s.
    private static let restRate = 0.4 * Double.pi / 180
    /// Largest permitted relative difference between the encoder's and the camera's angle.
    private static let tolerance = 0.15
    /// Largest permitted RMS of the camera's rate perpendicular to the joint's axis while a motor
    /// turns, rad/s.
    private static let largestOffAxis = 6 * Double.pi / 180

    private let axis: GimbalAxis
    private var lastSeconds: Double?
    private var reading: AxisVector?
    /// Rotation of the camera about the joint's axis since the first tick, rad.
    public private(set) var turned = 0.0
    /// Smallest value of `turned`, rad.
    public private(set) var least = 0.0
    /// Largest value of `turned`, rad.
    public private(set) var most = 0.0
    /// Unwrapped reading of each encoder (without jumps at ±π), and its smallest and largest
    /// values, rad.
    private var continuous = AxisVector.zero
    private var (smallestReading, largestReading) = (AxisVector.zero, AxisVector.zero)
    /// Sum over all ticks: change of the encoder's reading times change of the camera's angle,
    /// rad².
    private var agreement = 0.0
    /// Sum of the squares of the rate perpendicular to the joint's axis, and number of ticks.
    private var (offAxis, ticks) = (0.0, 0.0)

    /// Creates a measurement without samples.
    public init(_ axis: GimbalAxis) { self.axis = axis }

    /// Angle between the outermost positions so far, rad.
    public var span: Double { most - least }

    /// Axis of a joint, camera frame, unit length; `down` is the direction of gravity in the camera
    /// frame.
    public static func axis(_ joint: GimbalAxis, down: Vector3) -> Vector3 {
        let pitch = Vector3(0, 1, 0)
        switch joint {
        case .pitch: return pitch
        case .yaw: return down
        case .roll:
            let across = pitch.cross(down)
            return across.norm > 0.1 ? across / across.norm : Vector3(1, 0, 0)
        }
    }

    /// Adds one tick.
    ///
    /// - Parameters:
    ///   - seconds: Time of the tick, s.
    ///   - rate: The camera's rate, corrected for the gyroscope's bias, camera frame, rad/s.
    ///   - attitude: Attitude of the camera, body to earth.
    ///   - joints: Readings of the encoders, rad; nil without encoders.
    /// - Returns: Rate about the joint's axis, rad/s.
    @discardableResult
    public mutating func add(
        seconds: Double, rate: Vector3, attitude: Quaternion, joints: AxisVector?
    ) -> Double {
        defer { lastSeconds = seconds }
        let down = attitude.conjugate.rotate(Vector3(0, 0, 1))
        let direction = Self.axis(axis, down: down)
        let turn = rate.dot(direction)
        offAxis += (rate - direction * turn).squaredNorm
        ticks += 1
        guard let last = lastSeconds, seconds > last else {
            if let joints { start(at: joints) }
            return turn
        }
        let step = abs(turn) > Self.restRate ? turn * (seconds - last) : 0
        turned += step
        least = min(least, turned)
        most = max(most, turned)
        guard let joints else { return turn }
        guard let reading else {
            start(at: joints)
            return turn
        }
        self.reading = joints
        for joint in GimbalAxis.allCases {
            let change = Angle(radians: reading[joint]).shortestArc(
                to: Angle(radians: joints[joint])
            ).radians
            continuous[joint] += change
            smallestReading[joint] = min(smallestReading[joint], continuous[joint])
            largestReading[joint] = max(largestReading[joint], continuous[joint])
            if joint == axis { agreement += change * step }
        }
        return turn
    }

    private mutating func start(at joints: AxisVector) {
        reading = joints
        for joint in GimbalAxis.allCases {
            continuous[joint] =
                Angle(radians: 0).shortestArc(to: Angle(radians: joints[joint])).radians
            smallestReading[joint] = continuous[joint]
            largestReading[joint] = continuous[joint]
        }
    }

    /// Sets the current position as angle zero, for a servo that has reached its middle position.
    public mutating func setZero() {
        least -= turned
        most -= turned
        turned = 0
    }

    /// Resets both ends to the current position, before the joint begins to move.
    public mutating func forgetEnds() {
        least = turned
        most = turned
    }

    /// Computes the result.
    ///
    /// - Returns: The range and the direction.
    /// - Throws: `TravelProblem`.
    public func finding() throws(TravelProblem) -> Finding {
        guard span > Self.smallest else { throw .noMotion }
        var result = Finding(
            lower: least, upper: most, isEndless: span > Self.endless, direction: 1)
        guard reading != nil else {
            guard offAxis / max(ticks, 1) < Self.largestOffAxis * Self.largestOffAxis else {
                throw .handleMoved
            }
            return result
        }
        let spans = largestReading - smallestReading
        guard spans[axis] > 0.5 * min(span, 2 * .pi) else {
            let other = GimbalAxis.allCases.first { spans[$0] > 0.7 * span }
            guard let other else { throw .encoderStill }
            throw .encodersSwapped(other)
        }
        guard result.isEndless || abs(spans[axis] / span - 1) < Self.tolerance else {
            throw .disturbed
        }
        result.direction = agreement < 0 ? -1 : 1
        let (low, high) = (smallestReading[axis], largestReading[axis])
        (result.lower, result.upper) = result.direction < 0 ? (-high, -low) : (low, high)
        guard result.isEndless || result.lower < 0 && result.upper > 0 else {
            throw .zeroOutside(middle: (low + high) / 2)
        }
        return result
    }
}
