internal import CMathShim

/// What calibration has found out about the sensors: takes raw samples to the camera's body frame.
///
/// Offsets and matrices hold in the sensor's own frame, where its errors are at home; the mounting
/// rotation comes last. The gyroscope's bias is a starting value for the estimator, which goes on
/// learning it; it is not subtracted here.
public struct SensorCorrection: Sendable, BitwiseCopyable, Equatable {
    /// `matrix · (raw − offset)`.
    public struct Affine: Sendable, BitwiseCopyable, Equatable {
        /// What the sensor reads where there is nothing, sensor frame, in its unit.
        public var offset = Vector3.zero
        /// First row of the matrix.
        public var rowX = Vector3(1, 0, 0)
        /// Second row of the matrix.
        public var rowY = Vector3(0, 1, 0)
        /// Third row of the matrix.
        public var rowZ = Vector3(0, 0, 1)

        /// Changes nothing.
        @_noLocks
        public init() {}

        /// The corrected value, sensor frame. Any thread; constant time.
        @_noLocks @inline(__always)
        public func apply(_ raw: Vector3) -> Vector3 {
            let v = raw - offset
            return Vector3(rowX.dot(v), rowY.dot(v), rowZ.dot(v))
        }
    }

    /// What is known of the gyroscope's bias before the first sample.
    public struct BiasPrior: Sendable, BitwiseCopyable, Equatable {
        /// Sensor frame, rad/s.
        public var bias = Vector3.zero
        /// Standard deviation of each axis, rad/s; 0: nothing is known, the estimator's own start
        /// counts.
        public var sigma = 0.0
        /// Of the sensor when it was measured, °C; NaN: nobody knows, and `sigma` allows for it.
        public var temperature = Double.nan

        /// How much an offset drifts per kelvin, rad/s. BMI088: 0.015 °/s/K.
        public static var perKelvin: Double { @_noLocks get { 0.015 * Double.pi / 180 } }
        /// Difference of temperature that is assumed where nobody measures it, K.
        public static var unknownDifference: Double { @_noLocks get { 10 } }

        /// Nothing known.
        @_noLocks
        public init() {}

        /// Whether there is a prior at all.
        @inlinable
        public var isKnown: Bool { @_noLocks get { sigma > 0 } }

        /// The standard deviation, widened by what the sensor's temperature has changed since.
        ///
        /// - Parameter now: Of the sensor, °C; NaN where nobody knows it, as before the first
        ///   sample.
        /// - Returns: rad/s, each axis. Any thread; constant time.
        @_noLocks
        public func sigma(at now: Double) -> Double {
            guard !temperature.isNaN else { return sigma }
            let difference = now.isNaN ? Self.unknownDifference : now - temperature
            let drift = Self.perKelvin * difference
            return cm_sqrt(sigma * sigma + drift * drift)
        }

        /// Written out: the loop's checker refuses the derived one. Two unknown temperatures are
        /// the same.
        @_noLocks
        public static func == (a: BiasPrior, b: BiasPrior) -> Bool {
            a.bias == b.bias && a.sigma == b.sigma
                && (a.temperature == b.temperature || a.temperature.isNaN && b.temperature.isNaN)
        }
    }

    /// Accelerometer, m/s².
    public var accel = Affine()
    /// Magnetometer, µT.
    public var magnetic = Affine()
    /// Sensor frame to camera body frame.
    public var mounting = Quaternion.identity
    /// Gyroscope.
    public var gyroBias = BiasPrior()

    /// Changes nothing.
    @_noLocks
    public init() {}

    /// A raw sample in the camera's body frame, as far as calibration can say. Joints and handle
    /// stay as they are.
    ///
    /// - Parameter raw: In the sensor's frame.
    /// - Returns: Body frame (FRD). Any thread; constant time.
    @_noLocks @inline(__always)
    public func apply(_ raw: IMUSample) -> IMUSample {
        var sample = raw
        sample.gyro = mounting.rotate(raw.gyro)
        sample.accel = mounting.rotate(accel.apply(raw.accel))
        if raw.contents.contains(.magneticField) {
            sample.magneticField = mounting.rotate(magnetic.apply(raw.magneticField))
        }
        return sample
    }

    /// The mounting rotation of angles in the order yaw, roll, pitch.
    ///
    /// - Parameter angles: How the sensor is turned against the camera, rad.
    /// - Returns: Sensor frame to camera body frame.
    @_noLocks
    public static func mounting(_ angles: AxisVector) -> Quaternion {
        Quaternion.aboutZ(angles.yaw) * Quaternion.aboutX(angles.roll)
            * Quaternion.aboutY(angles.pitch)
    }
}
