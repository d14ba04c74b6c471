import Configuration
import GimbalCore
import Simulation
import Testing

/// Loops slower than 1 kHz with the built-in tuning.
@Suite("Slow loops")
struct SlowLoopTests {
    /// Largest rate and tilt of the last second of six, deg/s and deg, with motors of a type, at so many ticks a second.
    static func rest(
        _ rate: Int, _ motor: MotorType, findsInertia: Bool
    ) throws -> (rate: Double, tilt: Double) {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                overrides: [
                    "loop.rate_hz=\(rate)", "motors.type=\(motor)",
                    "control.find_inertia=\(findsInertia)",
                ]))
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = motor
        parameters.imu.sampleRate = Double(rate)
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
        var stabilizer = Stabilizer(parameters: loaded.settings.stabilizerParameters)
        var largest = (rate: 0.0, tilt: 0.0)
        for tick in 1...(6 * rate) {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000_000 / Int64(rate))
            gimbal.advance(to: now) { stabilizer.integrate($0) }
            gimbal.apply(stabilizer.step(now: now), at: now)
            guard tick > 5 * rate else { continue }
            let angles = EulerZXY.angles(gimbal.attitude) * (180 / Double.pi)
            let turning = (gimbal.rate.norm) * 180 / Double.pi
            largest = (
                max(largest.rate, turning), max(largest.tilt, abs(angles.roll), abs(angles.pitch))
            )
        }
        return largest
    }

    @Test(
        "the built-in gains fit the rate: the camera rests, whether its inertia is looked for or not",
        arguments: [1000, 500, 400, 200, 100], [false, true])
    func rests(rate: Int, findsInertia: Bool) throws {
        let largest = try Self.rest(rate, .torque, findsInertia: findsInertia)
        #expect(largest.rate < 9 && largest.tilt < 1.5, "\(largest)")
    }

    @Test(
        "so do those of motors without encoders", arguments: [1000, 500, 400, 200], [false, true])
    func fieldRests(rate: Int, findsInertia: Bool) throws {
        let largest = try Self.rest(rate, .field, findsInertia: findsInertia)
        #expect(largest.rate < 1 && largest.tilt < 1.5, "\(largest)")
    }
}
