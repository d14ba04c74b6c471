public import GimbalCore
internal import CMathShim

/// Problem in the identification of motors.
public enum MotorProblem: String, Error, Sendable, CaseIterable {
    /// The camera did not move.
    case noMotion = "no_motion"
    /// The camera moved, but not in proportion to the command: a hand or a cable turned it.
    case disturbed
    /// The camera did not turn about a joint's axis.
    case mixedAxes = "mixed_axes"
    /// The samples do not cover four complete strokes.
    case incomplete
    /// Two motors turn the same joint.
    case sameAxis = "same_axis"
    /// The measured number of pole pairs is not near a whole number, or differs between the motors.
    case unclearPoles = "unclear_poles"
    /// The measured travel of a servo is less than a third or more than three times the configured
    /// travel.
    case implausibleTravel = "implausible_travel"
}

/// Identification of one motor from the camera's motion during a motor test: joint, direction, and
/// ratio of measured to commanded angle.
///
/// A stroke is the motion between two reversals of the command. For each stroke, the camera's
/// rotation is compared with the change of the command. The beginning and the end of a stroke are
/// not used. After a reversal, friction or a servo's dead band holds the camera. Before the next
/// reversal, a dead band makes the camera move in jumps. A constant offset of the gyroscope
/// cancels, because the strokes have both directions.
public struct MotorMotion: Sendable {
    /// Result for one motor.
    public struct Finding: Sendable, Equatable {
        /// The joint that turned.
        public var axis: GimbalAxis
        /// 1 if a positive command turned the joint in its positive direction, otherwise -1.
        public var direction: Double
        /// Ratio of the camera's angle to the commanded angle, positive; NaN for torques.
        public var ratio: Double
        /// Mean magnitude of the rotation in a stroke, rad.
        public var stroke: Double
        /// Cosine of the angle between the measured axis and the joint's axis, 0...1.
        public var alignment: Double
        /// RMS residual of the strokes' rotations, relative to the part that the command explains.
        public var residual: Double
    }

    private struct Stroke {
        var command = 0.0
        var seconds = 0.0
        var rotation = Vector3.zero
    }

    /// Used section of each stroke, as fractions of the command's change.
    private static let used = (servo: 0.1...0.9, field: 0.4...0.9)
    /// Smallest rotation in a stroke that counts as motion, rad: for position commands, and for
    /// torque commands.
    private static let smallest = (position: 0.3 * Double.pi / 180, torque: 0.06 * Double.pi / 180)
    /// Largest `residual` of an undisturbed motion.
    private static let largestResidual = 0.35
    /// Smallest `alignment` with the axis of a joint, the cosine of 26°.
    private static let smallestAlignment = 0.9

    private let isTorque: Bool
    private let settling: Double
    /// Amplitude of the position command of a motor test, rad; see `MotorSwing`.
    private let swing: Double
    private let used: ClosedRange<Double>
    /// Time of the first command, s; nil before the first command.
    private var began: Double?
    private var last: (seconds: Double, command: Double)?
    private var sign = 0.0
    private var reversal = 0.0
    private var present: Stroke?
    private var strokes: [Stroke] = []
    private var force = Vector3.zero

    /// Creates an identification without samples.
    ///
    /// - Parameters:
    ///   - type: Type of the motors.
    ///   - settling: Shortest time from the first command to the first used stroke, s.
    public init(_ type: MotorType, settling: Double = 2) {
        if case .torque = type { isTorque = true } else { isTorque = false }
        if case .field = type {
            swing = 16 * .pi / 180
            used = Self.used.field
        } else {
            swing = 4 * .pi / 180
            used = Self.used.servo
        }
        self.settling = settling
    }

    /// Number of complete strokes.
    public var strokeCount: Int { strokes.count }

    /// Adds one tick of the motor test.
    ///
    /// - Parameters:
    ///   - seconds: Time since the start of the motor test, s.
    ///   - command: Commanded joint angle, rad, or torque, N·m. For a motor without encoder, the
    ///     angle is the field's electrical angle divided by the configured pole pairs.
    ///   - rate: Rate of the camera, camera frame, rad/s.
    ///   - accel: Specific force, camera frame, m/s².
    public mutating func add(seconds: Double, command: Double, rate: Vector3, accel: Vector3) {
        defer { last = (seconds, command) }
        guard let last, seconds > last.seconds else { return }
        let dt = seconds - last.seconds
        if began == nil, command != 0 { began = seconds }
        guard let began else { return }
        let change = isTorque ? command : command - last.command
        let now = change > 0 ? 1.0 : change < 0 ? -1.0 : sign
        if now != sign {
            if let present, strokes.count < 64 { strokes.append(present) }
            present = seconds - began >= settling && sign != 0 ? Stroke() : nil
            sign = now
            reversal = last.command
        }
        guard var stroke = present else { return }
        force += accel
        guard isTorque || used.contains(abs(command - reversal) / (2 * swing)) else { return }
        stroke.command = isTorque ? sign : stroke.command + change
        stroke.seconds += dt
        stroke.rotation += rate * dt
        present = stroke
    }

    /// Computes the result from the complete strokes.
    ///
    /// - Returns: The joint, the direction and the ratio.
    /// - Throws: `MotorProblem`.
    public func finding() throws(MotorProblem) -> Finding {
        guard strokes.count >= 4 else { throw .incomplete }
        // Least squares: rotation = gain · command + offset · duration.
        var cc = 0.0
        var ct = 0.0
        var tt = 0.0
        var cr = Vector3.zero
        var tr = Vector3.zero
        for stroke in strokes {
            cc += stroke.command * stroke.command
            ct += stroke.command * stroke.seconds
            tt += stroke.seconds * stroke.seconds
            cr += stroke.rotation * stroke.command
            tr += stroke.rotation * stroke.seconds
        }
        let determinant = cc * tt - ct * ct
        guard determinant > 1e-12 * cc * tt, cc > 0 else { throw .incomplete }
        let gain = (cr * tt - tr * ct) / determinant
        let offset = (tr * cc - cr * ct) / determinant
        var squares = 0.0
        var largest = 0.0
        for stroke in strokes {
            let free = stroke.rotation - offset * stroke.seconds
            squares += (free - gain * stroke.command).squaredNorm
            largest = max(largest, free.norm)
        }
        let count = Double(strokes.count)
        let size = gain.norm * (cc / count).squareRoot()
        let rest = (squares / count).squareRoot()
        let smallest = isTorque ? Self.smallest.torque : Self.smallest.position
        guard largest > smallest, size > smallest || rest > Self.smallest.position else {
            throw .noMotion
        }
        let residual = rest / max(size, 1e-9)
        guard size > smallest, residual < Self.largestResidual else { throw .disturbed }
        let (axis, alignment) = joint(along: gain / gain.norm)
        guard abs(alignment) > Self.smallestAlignment else { throw .mixedAxes }
        return Finding(
            axis: axis, direction: alignment > 0 ? 1 : -1,
            ratio: isTorque ? .nan : gain.norm, stroke: size, alignment: abs(alignment),
            residual: residual)
    }

    /// Finds the joint whose axis is nearest to a direction, and the cosine of the angle between
    /// them. The handle is assumed to be upright. The axis of pitch is fixed to the camera, the axis
    /// of yaw is vertical, and the axis of roll is perpendicular to both.
    private func joint(along direction: Vector3) -> (GimbalAxis, Double) {
        let norm = force.norm
        let down = norm > 0 ? -(force / norm) : Vector3(0, 0, 1)
        let pitch = Vector3(0, 1, 0)
        let across = pitch.cross(down)
        let roll = across.norm > 0.1 ? across / across.norm : Vector3(1, 0, 0)
        var best = (GimbalAxis.yaw, direction.dot(down))
        for (axis, vector) in [(GimbalAxis.roll, roll), (.pitch, pitch)]
        where abs(direction.dot(vector)) > abs(best.1) {
            best = (axis, direction.dot(vector))
        }
        return best
    }
}
