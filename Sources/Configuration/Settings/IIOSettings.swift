extension Settings {
    /// Settings of `[hardware.iio]`, a sensor with a driver in the kernel.
    public struct IIO: Sendable, Equatable {
        /// Word that lets airframed find a device.
        public static let automatic = "auto"
        /// Word for a device that is not used.
        public static let none = "none"

        /// Name, label or `iio:device` name of the gyroscope, or `auto`.
        public var gyroscope = Self.automatic
        /// Name of the accelerometer, or `auto`.
        public var accelerometer = Self.automatic
        /// Name of the magnetometer, or `none`.
        public var magnetometer = Self.none
        /// Sampling frequency, Hz.
        public var rateHz = 1000
        /// Corner frequency of the low-pass filter, Hz; 0 leaves the driver's value.
        public var lowPassHz = 0.0
        /// Name of the trigger, or `auto`.
        public var trigger = Self.automatic

        /// Group delay of a second-order low-pass with the given corner, √2 / (2π corner), ms.
        /// Without a corner: the delay of a corner of 200 Hz, which is common.
        static func filterDelayMs(lowPassHz: Double) -> Double {
            let corner = lowPassHz > 0 ? lowPassHz : 200
            return (1000 * 2.0.squareRoot() / (2 * .pi * corner) * 10).rounded() / 10
        }
    }
}
