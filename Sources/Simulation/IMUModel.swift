internal import CMathShim
public import GimbalCore

/// Model of the inertial sensor BMI088. The model converts true rate and specific force to
/// readings.
///
/// Source of the values: Bosch Sensortec, "BMI088 6-axis Motion Tracking", data sheet
/// BST-BMI088-DS001, tables of the electrical characteristics. The seed determines the random
/// errors of an individual sensor. The standard deviation of the random errors is half of the
/// typical value in the data sheet.
public struct IMUModel: Sendable {
    /// Errors and properties of the sensor.
    public struct Parameters: Sendable, Equatable {
        /// Noise density of the gyroscope, rad/s/√Hz, one-sided. Data sheet: 0.014 °/s/√Hz.
        public var gyroNoiseDensity = 0.014 * Double.pi / 180
        /// Noise density of the accelerometer, m/s²/√Hz per axis, one-sided. Data sheet: 160 µg/√Hz
        /// for x and y, 190 µg/√Hz for z (3 g range).
        public var accelNoiseDensity = Vector3(160e-6, 160e-6, 190e-6) * 9.81
        /// Standard deviation of the gyroscope's constant offset, rad/s. Data sheet: zero-rate
        /// offset ±1 °/s.
        public var gyroBias = 0.5 * Double.pi / 180
        /// Standard deviation of the accelerometer's constant offset, m/s². Data sheet: zero-g
        /// offset ±20 mg.
        public var accelBias = 10e-3 * 9.81
        /// Standard deviation of the varying part of the gyroscope's offset, rad/s (first-order
        /// Gauss–Markov process). Over times much shorter than `wanderTime`, the offset is a random
        /// walk of 1 °/h/√s. The value is larger than the data sheet's bias stability of 2 °/h,
        /// because room temperature is rarely constant (0.015 °/s/K).
        public var gyroBiasWander = 0.005 * Double.pi / 180
        /// Standard deviation of the varying part of the accelerometer's offset, m/s². Data sheet:
        /// 0.2 mg/K.
        public var accelBiasWander = 0.2e-3 * 9.81
        /// Correlation time of the varying parts of both offsets, s.
        public var wanderTime = 600.0
        /// Temperature coefficient of the gyroscope's offset, rad/s/K; each axis of an individual
        /// sensor has this magnitude and a random sign. Data sheet: 0.015 °/s/K.
        public var gyroDriftPerKelvin = 0.015 * Double.pi / 180
        /// Temperature of the sensor when it is switched on, °C.
        public var ambientTemperature = 25.0
        /// Temperature rise due to the electronics, K, with the time constant `warmUpTime`. Use 0
        /// for a sensor that is already warm, and 10 K for a cold board.
        public var warmUp = 0.0
        /// Time constant of `warmUp`, s.
        public var warmUpTime = 180.0
        /// Standard deviation of the gyroscope's relative scale error. Data sheet: sensitivity
        /// tolerance ±1 %.
        public var gyroScaleError = 0.005
        /// Standard deviation of the accelerometer's relative scale error.
        public var accelScaleError = 0.0025
        /// Standard deviation of each cross-axis term of the gyroscope, dimensionless. Data sheet:
        /// ±1 %.
        public var gyroMisalignment = 0.005
        /// Standard deviation of each cross-axis term of the accelerometer, dimensionless. Data
        /// sheet: 0.5 %.
        public var accelMisalignment = 0.0025
        /// Full scale of the gyroscope, rad/s; 16 bit. Data sheet: ±2000 °/s at 16.384 LSB/(°/s).
        public var gyroRange = 2000 * Double.pi / 180
        /// Full scale of the accelerometer, m/s²; 16 bit. Data sheet: ±6 g at 5460 LSB/g.
        public var accelRange = 6.0 * 9.81
        /// True if the readings are rounded to 16 bit.
        public var isQuantized = true
        /// Corner frequency of the gyroscope's filter, Hz. Data sheet: 230 Hz at 2000 Hz output
        /// rate.
        public var gyroBandwidthHz = 230.0
        /// Corner frequency of the accelerometer's filter, Hz. Data sheet: 145 Hz at 1600 Hz output
        /// rate with fourfold oversampling.
        public var accelBandwidthHz = 145.0
        /// Nominal sample rate, Hz; the sensor's own clock determines the true rate.
        public var sampleRate = 1000.0
        /// Largest relative error of the sensor's clock. The clock error of each individual sensor
        /// is random, with a uniform distribution within ±`clockError`. Data sheet: 1 %.
        public var clockError = 0.01

        /// Frequency of the motors' vibration at the sensor, Hz.
        public var vibrationHz = 83.0
        /// Amplitude of the vibration about each axis, rad/s; zero means no vibration.
        public var gyroVibration = Vector3.zero

        /// Creates the parameters of a new BMI088.
        public init() {}
    }

    /// Scale and cross-axis errors as a matrix with the rows x, y, z.
    private struct Matrix: Sendable {
        var x = Vector3(1, 0, 0)
        var y = Vector3(0, 1, 0)
        var z = Vector3(0, 0, 1)

        init(scale: Double, cross: Double, random: inout RandomSource) {
            x = Vector3(
                1 + scale * random.gaussian(), cross * random.gaussian(), cross * random.gaussian())
            y = Vector3(
                cross * random.gaussian(), 1 + scale * random.gaussian(), cross * random.gaussian())
            z = Vector3(
                cross * random.gaussian(), cross * random.gaussian(), 1 + scale * random.gaussian())
        }

        func apply(_ v: Vector3) -> Vector3 { Vector3(x.dot(v), y.dot(v), z.dot(v)) }
    }

    /// Errors and properties of the sensor.
    public let parameters: Parameters
    /// True sample interval of the individual sensor, s.
    public let samplePeriod: Double
    /// Present offset of the gyroscope, rad/s: the true value, with which an estimate can be
    /// compared.
    public var gyroBias: Vector3 {
        constantGyroBias + gyroWander
            + gyroDrift * (temperature - parameters.ambientTemperature)
    }
    /// Present offset of the accelerometer, m/s².
    public var accelBias: Vector3 { constantAccelBias + accelWander }

    /// Present temperature of the sensor, °C.
    public private(set) var temperature: Double

    private let constantGyroBias: Vector3
    private let gyroDrift: Vector3
    private let constantAccelBias: Vector3
    private let gyroMatrix: Matrix
    private let accelMatrix: Matrix
    private let gyroSigma: Double
    private let accelSigma: Vector3
    private var gyroWander = Vector3.zero
    private var accelWander = Vector3.zero
    private var gyroFilter: LowPass
    private var accelFilter: LowPass
    private var gyro = Vector3.zero
    private var accel = Vector3.zero
    private var noise: RandomSource
    private var vibrationPhase = 0.0
    private let vibrationStep: Double

    /// Creates an individual sensor.
    ///
    /// - Parameters:
    ///   - parameters: Errors and properties of the sensor type.
    ///   - feedRate: Number of calls of `feed` per second, Hz.
    ///   - seed: Seed of the individual sensor's constant errors and noise.
    public init(parameters: Parameters, feedRate: Double, seed: UInt64) {
        self.parameters = parameters
        var part = RandomSource(seed: seed, stream: 0x1A47)
        constantGyroBias = IMUModel.gaussian(&part) * parameters.gyroBias
        constantAccelBias = IMUModel.gaussian(&part) * parameters.accelBias
        gyroMatrix = Matrix(
            scale: parameters.gyroScaleError, cross: parameters.gyroMisalignment, random: &part)
        accelMatrix = Matrix(
            scale: parameters.accelScaleError, cross: parameters.accelMisalignment, random: &part)
        let clock = 1 + parameters.clockError * (2 * part.uniform() - 1)
        samplePeriod = 1 / (parameters.sampleRate * clock)
        // White noise of one-sided density d at a sample rate of f Hz has the variance d² f / 2.
        gyroSigma = parameters.gyroNoiseDensity * cm_sqrt(feedRate / 2)
        accelSigma = parameters.accelNoiseDensity * cm_sqrt(feedRate / 2)
        gyroFilter = LowPass(cornerHz: parameters.gyroBandwidthHz, sampleRate: feedRate)
        accelFilter = LowPass(cornerHz: parameters.accelBandwidthHz, sampleRate: feedRate)
        noise = RandomSource(seed: seed, stream: 0x4015E)
        var thermal = RandomSource(seed: seed, stream: 0x7E3)
        let drift = parameters.gyroDriftPerKelvin
        gyroDrift = Vector3(
            thermal.uniform() < 0.5 ? -drift : drift, thermal.uniform() < 0.5 ? -drift : drift,
            thermal.uniform() < 0.5 ? -drift : drift)
        temperature = parameters.ambientTemperature
        vibrationStep = 2 * .pi * parameters.vibrationHz / feedRate
    }

    /// Reading of the gyroscope at a constant true rate, rad/s, without offset, noise and limit.
    public func reading(ofRate rate: Vector3) -> Vector3 { gyroMatrix.apply(rate) }

    /// Passes the true values of one step to the sensor's analogue part and filters.
    ///
    /// - Parameters:
    ///   - rate: True rate, body frame, rad/s.
    ///   - specificForce: True specific force, body frame, m/s².
    public mutating func feed(rate: Vector3, specificForce: Vector3) {
        var w = rate
        if parameters.gyroVibration.squaredNorm > 0 {
            vibrationPhase += vibrationStep
            if vibrationPhase > 2 * .pi { vibrationPhase -= 2 * .pi }
            w += parameters.gyroVibration * cm_sin(vibrationPhase)
        }
        if gyroSigma > 0 { w += IMUModel.gaussian(&noise) * gyroSigma }
        gyro = gyroFilter.step(w)
        var f = specificForce
        if accelSigma.x > 0 {
            let n = IMUModel.gaussian(&noise)
            f += Vector3(n.x * accelSigma.x, n.y * accelSigma.y, n.z * accelSigma.z)
        }
        accel = accelFilter.step(f)
    }

    /// Measures one sample, and advances the varying offsets.
    ///
    /// - Parameter time: True time of the sample.
    /// - Returns: The readings of gyroscope and accelerometer that the host receives.
    public mutating func sample(time: Instant) -> IMUSample {
        wander()
        let p = parameters
        temperature +=
            (p.ambientTemperature + p.warmUp - temperature) * (samplePeriod / p.warmUpTime)
        var sample = IMUSample(
            time: time,
            gyro: reading(gyroMatrix.apply(gyro) + gyroBias, range: p.gyroRange),
            accel: reading(accelMatrix.apply(accel) + accelBias, range: p.accelRange))
        // Data sheet, section 5.3.7: the temperature register has 11 bits of 0.125 K, and reads
        // zero at 23 °C.
        let bits = (temperature - 23) / 0.125
        sample.temperature = 23 + 0.125 * (p.isQuantized ? cm_floor(bits + 0.5) : bits)
        sample.contents.insert(.temperature)
        return sample
    }

    private mutating func wander() {
        let p = parameters
        guard p.gyroBiasWander > 0 || p.accelBiasWander > 0 else { return }
        let decay = cm_exp(-samplePeriod / p.wanderTime)
        let kick = cm_sqrt(1 - decay * decay)
        gyroWander = gyroWander * decay + IMUModel.gaussian(&noise) * (kick * p.gyroBiasWander)
        accelWander = accelWander * decay + IMUModel.gaussian(&noise) * (kick * p.accelBiasWander)
    }

    private func reading(_ value: Vector3, range: Double) -> Vector3 {
        Vector3(
            reading(value.x, range: range), reading(value.y, range: range),
            reading(value.z, range: range))
    }

    private func reading(_ value: Double, range: Double) -> Double {
        let bounded = min(max(value, -range), range)
        guard parameters.isQuantized else { return bounded }
        let bit = range / 32768
        return min(max(cm_floor(bounded / bit + 0.5), -32768), 32767) * bit
    }

    private static func gaussian(_ random: inout RandomSource) -> Vector3 {
        Vector3(random.gaussian(), random.gaussian(), random.gaussian())
    }
}
