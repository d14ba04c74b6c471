extension Settings {
    /// Settings of `[hardware.iio]`, a sensor with a kernel driver.
    public struct IIO: Sendable, Equatable {
        /// Value `auto`: airframed selects a device.
        public static let automatic = "auto"
        /// Value `none`: the device is not used.
        public static let none = "none"

        /// Name, label or `iio:device` name of the gyroscope, or `auto`.
        public var gyroscope = Self.automatic
        /// Name of the accelerometer, or `auto`.
        public var accelerometer = Self.automatic
        /// Name of the magnetometer, or `none`.
        public var magnetometer = Self.none
        /// Sampling frequency, Hz.
        public var rateHz = 1000
        /// Corner frequency of the low-pass filter, Hz; 0 = the driver's value.
        public var lowPassHz = 0.0
        /// Name of the trigger, or `auto`.
        public var trigger = Self.automatic

        /// Group delay of a second-order low-pass filter, ms: √2 / (2π · corner frequency), at most
        /// the largest permitted value of `imu.filter_delay_ms`. For a corner frequency of 0, the
        /// delay is that of 200 Hz, a common value.
        static func filterDelayMs(lowPassHz: Double) -> Double {
            let corner = lowPassHz > 0 ? lowPassHz : 200
            let delay = (1000 * 2.0.squareRoot() / (2 * .pi * corner) * 10).rounded() / 10
            return min(delay, IMU.filterDelaysMs.upperBound)
        }
    }
}
