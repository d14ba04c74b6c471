import GimbalCore
import PlainText
import Wire

/// Check of the camera's balance. The type contains the attitudes of the check, and computes the
/// centre of mass from the estimated imbalance. The holding torque depends only on the two
/// components of the offset that are perpendicular to gravity. Therefore several attitudes are
/// necessary to measure all three components.
struct BalanceCheck {
    /// One attitude of the check.
    struct Pose: Equatable {
        /// Roll and pitch, degrees.
        var roll: Double
        var pitch: Double
        /// Duration of the measurement at the attitude, s.
        var seconds: Double
    }

    /// The attitudes of the check. The attitudes with large angles determine the height of the
    /// centre of mass. The attitudes with small angles determine the other two components. Each
    /// angle is approached from both sides. Therefore joint friction acts in both directions and
    /// nearly cancels in the mean.
    static let poses =
        [
            Pose(roll: 0, pitch: 35, seconds: 3), Pose(roll: 0, pitch: -35, seconds: 3),
            Pose(roll: 15, pitch: 0, seconds: 3), Pose(roll: -15, pitch: 0, seconds: 3),
            Pose(roll: 0, pitch: 35, seconds: 3), Pose(roll: 0, pitch: -35, seconds: 3),
            Pose(roll: 0, pitch: 0, seconds: 3),
        ]
        + [8.0, -8, 8, -8, 8, -8, 8, -8, 4, 0].map {
            Pose(roll: $0 / 2, pitch: $0, seconds: 1)
        }
    /// Rate of rotation between the attitudes, deg/s.
    static let rate = 20.0
    /// Largest permitted error of the camera at an attitude of the check, and on the way to it,
    /// degrees. With a larger error, the torque of the motors does not show the moment of the camera.
    static let (errorAtRest, errorInMotion) = (2.0, 5.0)
    /// Threshold of the offset for a balanced camera, mm.
    static let balanced = 1.0
    /// Uncertainty of the product of mass and height of the centre of mass, g·m. A cable that pulls
    /// the camera towards its central attitude has the same effect as a low centre of mass.
    static let heightUncertainty = 3.0

    /// Estimated product of mass and offset of the centre of mass, camera frame, g·m.
    var imbalance: Vector3
    /// Mass of the camera, kg.
    var mass: Double

    /// Offset of the centre of mass from the intersection of the joint axes, camera frame (x
    /// forward, y right, z down), mm.
    var offset: Vector3 { imbalance * (1 / mass) }

    /// Resolution of the centre of mass's height, mm: smallest height that the check can
    /// distinguish from zero.
    private var leastHeight: Double { max(Self.balanced, Self.heightUncertainty / mass) }

    /// True if no measured offset exceeds its limit.
    var isBalanced: Bool { sentences.isEmpty }

    /// Messages about the unbalanced axes, the largest offset first.
    var sentences: [String] {
        [
            (offset.x, Self.balanced, "too far forward", "back", "too far backwards", "forward"),
            (
                offset.y, Self.balanced, "too far to the right", "left", "too far to the left",
                "right"
            ),
            (offset.z, leastHeight, "too low", "up", "too high", "down"),
        ]
        .filter { abs($0.0) > $0.1 }
        .sorted { abs($0.0) > abs($1.0) }
        .map { offset, _, more, remedy, less, other in
            let millimetres = (abs(offset) * 10).rounded() / 10
            let isWhole = millimetres == millimetres.rounded()
            let size = isWhole ? "\(Int(millimetres))" : "\(millimetres)"
            return offset > 0
                ? "The camera is \(size) mm \(more): move it \(remedy)."
                : "The camera is \(size) mm \(less): move it \(other)."
        }
    }

    /// Compares the camera with its set-point.
    ///
    /// - Parameters:
    ///   - error: Rotation from the attitude to the set-point about each axis, degrees.
    ///   - limit: Largest permitted error, degrees.
    /// - Returns: Message about the axis with a larger error; nil if there is none.
    static func deviation(_ error: AxisNumbers, limit: Double) -> String? {
        let axes = [("roll", error.roll.value), ("pitch", error.pitch.value)]
        guard let (axis, angle) = axes.first(where: { !(abs($1) <= limit) }) else { return nil }
        return
            "The camera does not reach its set-point: the error in \(axis) is \(Format.fixed(abs(angle), 1))°. Hold the handle still and upright, remove everything that blocks the camera, and reduce the friction of the joint."
    }

    /// Approximate mass of a camera with these moments of inertia, kg. The model is a cube with the
    /// mean of the three moments of inertia, and with a density of 0.9 g/cm³, typical of a camera
    /// with a lens. The moment of inertia of a cube with side a and density ρ is ρ·a⁵/6.
    static func estimatedMass(inertia: [Double]) -> Double? {
        let known = inertia.filter { $0.isFinite && $0 > 0 }
        guard known.count == 3 else { return nil }
        let density = 900.0
        let mean = known.reduce(0, +) / 3
        let fifth = 6 * mean / density
        // The fifth root is computed with Newton's method, from a start value above the root.
        var side = 1.0
        for _ in 0..<100 {
            let power = side * side * side * side
            side -= (power * side - fifth) / (5 * power)
        }
        return density * side * side * side
    }
}
