import GimbalCore
import Simulation

extension IMUModel.Parameters {
    /// Sensor without errors and without filter, at 1 kHz with an exact clock.
    static var ideal: Self {
        var p = Self()
        p.gyroNoiseDensity = 0
        p.accelNoiseDensity = .zero
        p.gyroBias = 0
        p.accelBias = 0
        p.gyroBiasWander = 0
        p.gyroDriftPerKelvin = 0
        p.accelBiasWander = 0
        p.gyroScaleError = 0
        p.accelScaleError = 0
        p.gyroMisalignment = 0
        p.accelMisalignment = 0
        p.isQuantized = false
        p.gyroBandwidthHz = .infinity
        p.accelBandwidthHz = .infinity
        p.clockError = 0
        return p
    }
}
