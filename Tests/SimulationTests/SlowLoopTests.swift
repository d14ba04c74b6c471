import Configuration
import GimbalCore
import Simulation
import Testing

/// Tests loops below 1 kHz with the built-in tuning.
@Suite("Loops below 1 kHz")
struct SlowLoopTests {
    /// Largest rate and tilt from 5 s to 6 s after the start, deg/s and degrees, at a loop rate of
    /// `rate` Hz.
    static func rest(
        _ rate: Int, _ motor: MotorType, findsInertia: Bool
    ) throws -> (rate: Double, tilt: Double) {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                overrides: [
                    "loop.rate_hz=\(rate)", "motors.type=\(motor)",
                    "control.find_inertia=\(findsInertia)",
                ]))
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: motor, rateHz: rate) {
            $0.imu.sampleRate = Double(rate)
            $1 = loaded.settings.stabilizerParameters
        }
        loop.run(seconds: 5)
        var largest = (rate: 0.0, tilt: 0.0)
        loop.run(seconds: 1) {
            let turning = $0.gimbal.rate.norm * 180 / Double.pi
            largest = (
                max(largest.rate, turning),
                max(largest.tilt, abs($0.camera.roll), abs($0.camera.pitch))
            )
        }
        return largest
    }

    @Test(
        "with the built-in gains, torque motors hold the camera still at each rate, with and without a search for the inertia",
        arguments: [1000, 500, 400, 200, 100], [false, true])
    func rests(rate: Int, findsInertia: Bool) throws {
        let largest = try Self.rest(rate, .torque, findsInertia: findsInertia)
        #expect(largest.rate < 8 && largest.tilt < 1.5, "\(largest)")
    }

    @Test(
        "with the built-in gains, motors without encoders hold the camera still at each rate",
        arguments: [1000, 500, 400, 200], [false, true])
    func fieldRests(rate: Int, findsInertia: Bool) throws {
        let largest = try Self.rest(rate, .field, findsInertia: findsInertia)
        #expect(largest.rate < 1 && largest.tilt < 1.5, "\(largest)")
    }
}
