public import GimbalCore

/// Calibration of the magnetometer's hard-iron and soft-iron errors. While the user turns the
/// camera in all directions, the readings of the field lie on an ellipsoid. The calibration fits
/// the ellipsoid.
public struct MagnetometerCalibration: Sendable {
    /// Result of the calibration: offset and matrix. All corrected readings have the strength
    /// `field`.
    public struct Result: Sendable, Equatable {
        /// Correction of raw readings: offset and matrix, sensor frame, µT.
        public var correction: SensorCorrection.Affine
        /// Strength of the magnetic field, µT.
        public var field: Double
        /// Standard deviation of the offset on the least certain axis, µT.
        public var offsetSigma: Double
        /// RMS error of the field strength after the correction, µT.
        public var residual: Double
    }

    /// Parameters of the calibration procedure.
    public struct Parameters: Sendable, Equatable {
        /// Minimum distance between any two stored readings, as a fraction of the field strength.
        public var spacing = 0.3
        /// Number of readings that is sufficient if the readings cover the ellipsoid.
        public var enough = 60
        /// Largest residual that is accepted, as a fraction of the field strength.
        public var largestResidual = 0.03
        /// Longest duration of the collection, s.
        public var patience = 180.0

        /// Creates the default parameters.
        public init() {}
    }

    private let parameters: Parameters
    private var points: [Vector3] = []
    private var elapsed = 0.0
    private var lowest = Vector3(.infinity, .infinity, .infinity)
    private var highest = Vector3(-.infinity, -.infinity, -.infinity)

    /// Creates a calibration without readings.
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// Progress of the calibration, 0...1. The progress depends on the number of readings and on
    /// the directions that they cover.
    public var progress: Double {
        min(Double(points.count) / Double(parameters.enough), 1) * Double(octants) / 8
    }

    /// Number of octants about the centre of the ellipsoid that contain a reading, 0...8. Rotation
    /// about a single axis covers four octants: the readings then form a disc. Across the disc,
    /// noise or a trembling hand decides the side of a reading, so the two sides count as one.
    public var octants: Int {
        let (middle, span) = (centre, highest - lowest)
        let (x, y, z) = (isWide(span.x), isWide(span.y), isWide(span.z))
        var seen: UInt8 = 0
        for point in points {
            let d = point - middle
            var octant = 0
            if x, d.x > 0 { octant += 1 }
            if y, d.y > 0 { octant += 2 }
            if z, d.z > 0 { octant += 4 }
            seen |= 1 << octant
        }
        return seen.nonzeroBitCount
    }

    /// Adds one raw reading.
    ///
    /// - Parameters:
    ///   - field: Magnetic field, sensor frame, µT.
    ///   - dt: Seconds since the previous reading.
    /// - Returns: State of the calibration.
    public mutating func add(field: Vector3, dt: Double) -> CalibrationOutcome<Result> {
        guard field.isFinite, dt > 0 else { return .collecting }
        elapsed += dt
        lowest = Vector3(min(lowest.x, field.x), min(lowest.y, field.y), min(lowest.z, field.z))
        highest = Vector3(
            max(highest.x, field.x), max(highest.y, field.y), max(highest.z, field.z))
        if isFar(field, from: points) {
            points.append(field)
            if points.count >= parameters.enough {
                // The first readings, taken before the strength of the field was known, can be too
                // close together.
                points = points.reduce(into: []) { kept, point in
                    if isFar(point, from: kept) { kept.append(point) }
                }
            }
            if points.count >= parameters.enough, octants == 8 { return finish() }
        }
        return elapsed > parameters.patience ? finish() : .collecting
    }

    /// Computes the result from the readings so far.
    ///
    /// - Returns: Result of the calibration, or the reason why the calibration is refused.
    public func finish() -> CalibrationOutcome<Result> {
        let fewest = parameters.enough / 2
        guard points.count >= fewest, octants == 8 else {
            return .refused(
                "The readings cover \(octants) of 8 directions with \(points.count) readings; all 8 directions and at least \(fewest) readings are necessary. Turn the camera slowly about all axes, and also upside down."
            )
        }
        let field = radius
        let prior = NormFit.Prior(
            offset: centre, offsetSigma: field, scaleSigma: 0.3, crossSigma: 0.2,
            lengthSigma: 0.01 * field)
        guard let fit = NormFit(points, length: field, prior: prior) else {
            return .refused(
                "The readings of the magnetometer do not form an ellipsoid. Move away from iron, and try again."
            )
        }
        guard fit.residual <= parameters.largestResidual * field else {
            return .refused(
                "The magnetic field changes from place to place: the residual is \(Int(100 * fit.residual / field + 0.5)) % of the field. Move away from iron and motors, and try again."
            )
        }
        let sigma = fit.offsetSigma
        return .done(
            Result(
                correction: fit.correction, field: field,
                offsetSigma: max(sigma.x, max(sigma.y, sigma.z)), residual: fit.residual))
    }

    private func isFar(_ field: Vector3, from others: [Vector3]) -> Bool {
        let spacing = parameters.spacing * max(radius, 5)
        return !others.contains { ($0 - field).squaredNorm < spacing * spacing }
    }

    private var centre: Vector3 { (lowest + highest) / 2 }
    private var radius: Double {
        let span = highest - lowest
        return max(0, (span.x + span.y + span.z) / 6)
    }
    /// True if the span of the readings along an axis is more than half of the mean span. If the
    /// span along one axis is smaller, the readings form a disc, which does not determine the
    /// ellipsoid.
    private func isWide(_ span: Double) -> Bool { span > radius }
}
