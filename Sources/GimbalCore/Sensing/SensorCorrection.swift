internal import CMathShim

/// Calibration of the sensors: converts raw samples to the camera's body frame.
///
/// Offsets and matrices apply in the sensor's own frame, because the sensor's errors originate in
/// this frame. The mounting rotation is applied last. `SensorCorrection` does not subtract the
/// gyroscope's bias. The calibrated bias is the initial value of the estimator, which then
/// continues to estimate the bias.
public struct SensorCorrection: Sendable, BitwiseCopyable, Equatable {
    /// An affine correction: `matrix · (raw − offset)`.
    public struct Affine: Sendable, BitwiseCopyable, Equatable {
        /// Reading of the sensor at zero input, sensor frame, in the unit of the reading.
        public var offset = Vector3.zero
        /// First row of the matrix.
        public var rowX = Vector3(1, 0, 0)
        /// Second row of the matrix.
        public var rowY = Vector3(0, 1, 0)
        /// Third row of the matrix.
        public var rowZ = Vector3(0, 0, 1)

        /// Creates the identity, which does not change a reading.
        @_noLocks
        public init() {}

        /// The corrected value, sensor frame. Any thread can call this method; it takes constant
        /// time.
        @_noLocks @inline(__always)
        public func apply(_ raw: Vector3) -> Vector3 {
            let v = raw - offset
            return Vector3(rowX.dot(v), rowY.dot(v), rowZ.dot(v))
        }

        /// True if two corrections are equal. The operator is hand-written, because the real-time
        /// checker rejects the synthesized operator.
        @_noLocks
        public static func == (a: Affine, b: Affine) -> Bool {
            a.offset == b.offset && a.rowX == b.rowX && a.rowY == b.rowY && a.rowZ == b.rowZ
        }
    }

    /// Gyroscope bias from a calibration, known before the first sample.
    public struct BiasPrior: Sendable, BitwiseCopyable, Equatable {
        /// Bias, sensor frame, rad/s.
        public var bias = Vector3.zero
        /// Standard deviation of each axis, rad/s; 0 means unknown, and the estimator uses its
        /// default.
        public var sigma = 0.0
        /// Temperature of the sensor during the calibration, °C. If the temperature is unknown
        /// (NaN), `sigma` includes the effect of the temperature.
        public var temperature = Double.nan

        /// Temperature coefficient of the gyroscope's bias, rad/s/K. The default is the value in the
        /// data sheet of the BMI088 (0.015 °/s/K).
        public var perKelvin = 0.015 * (Double.pi / 180)
        /// Assumed temperature change since the calibration, K, if the present temperature is
        /// unknown.
        public static var unknownDifference: Double { @_noLocks get { 10 } }

        /// Creates a bias whose value is unknown.
        @_noLocks
        public init() {}

        /// True if a calibration has determined the bias.
        @inlinable
        public var isKnown: Bool { @_noLocks get { sigma > 0 } }

        /// Standard deviation of the bias, which increases with the sensor's temperature change
        /// since the calibration.
        ///
        /// - Parameter now: Present temperature of the sensor, °C; NaN if unknown, as before the
        ///   first sample.
        /// - Returns: Standard deviation of each axis, rad/s. Any thread can call this function; it
        ///   takes constant time.
        @_noLocks
        public func sigma(at now: Double) -> Double {
            guard !temperature.isNaN else { return sigma }
            let difference = now.isNaN ? Self.unknownDifference : now - temperature
            let drift = perKelvin * difference
            return cm_sqrt(sigma * sigma + drift * drift)
        }

        /// True if two priors are equal; two unknown temperatures (NaN) count as equal. The
        /// operator is hand-written, because the real-time checker rejects the synthesized
        /// operator.
        @_noLocks
        public static func == (a: BiasPrior, b: BiasPrior) -> Bool {
            a.bias == b.bias && a.sigma == b.sigma && a.perKelvin == b.perKelvin
                && (a.temperature == b.temperature || a.temperature.isNaN && b.temperature.isNaN)
        }
    }

    /// Correction of the accelerometer, m/s².
    public var accel = Affine()
    /// Correction of the gyroscope's scale and cross-axis sensitivity; its offset is zero.
    public var gyro = Affine()
    /// Correction of the magnetometer, µT.
    public var magnetic = Affine()
    /// Rotation from sensor frame to camera body frame.
    public var mounting = Quaternion.identity
    /// Gyroscope bias from a calibration.
    public var gyroBias = BiasPrior()

    /// Creates a calibration that does not change a sample.
    @_noLocks
    public init() {}

    /// Converts a raw sample to the camera's body frame. Joint values and the handle's rate stay
    /// unchanged.
    ///
    /// - Parameter raw: Raw sample, sensor frame.
    /// - Returns: The corrected sample, body frame (FRD). Any thread can call this function; it
    ///   takes constant time.
    @_noLocks @inline(__always)
    public func apply(_ raw: IMUSample) -> IMUSample {
        var sample = raw
        sample.gyro = rate(raw.gyro)
        sample.accel = mounting.rotate(accel.apply(raw.accel))
        if raw.contents.contains(.magneticField) {
            sample.magneticField = mounting.rotate(magnetic.apply(raw.magneticField))
        }
        return sample
    }

    /// Converts a measured rate, or the gyroscope's bias, to the camera's body frame.
    ///
    /// - Parameter raw: Measured rate, sensor frame, rad/s.
    /// - Returns: The rate, body frame, rad/s. Any thread can call this function; it takes constant
    ///   time.
    @_noLocks @inline(__always)
    public func rate(_ raw: Vector3) -> Vector3 { mounting.rotate(gyro.apply(raw)) }

    /// Inverse of `rate`, for a matrix of the gyroscope near the identity: the error is the square of
    /// the difference.
    @_noLocks @inline(__always)
    public func rawRate(_ rate: Vector3) -> Vector3 {
        let sensor = mounting.inverseRotate(rate)
        return sensor * 2 - gyro.apply(sensor)
    }

    /// The mounting rotation from Euler angles in the sequence yaw, roll, pitch.
    ///
    /// - Parameter angles: Orientation of the sensor relative to the camera, rad.
    /// - Returns: Rotation from sensor frame to camera body frame.
    @_noLocks
    public static func mounting(_ angles: AxisVector) -> Quaternion {
        Quaternion.aboutZ(angles.yaw) * Quaternion.aboutX(angles.roll)
            * Quaternion.aboutY(angles.pitch)
    }
}
