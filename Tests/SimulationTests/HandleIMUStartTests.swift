import GimbalCore
import Simulation
import Testing

/// A servo without pulses keeps its angle. If the controller starts with another angle, the servo's
/// horn jumps.
@Suite("Start of servos with an IMU on the handle")
struct HandleIMUStartTests {
    private static let degrees = 180 / Double.pi

    /// Loop around a gimbal with servos and an IMU on the handle. The handle is still and upright,
    /// and the pitch joint is at `pitch`, degrees.
    private static func loop(pitch: Double) -> SimulatedLoop {
        SimulatedLoop(BaseMotion(.still, seed: 1), motor: .servo) { gimbal, _ in
            gimbal.hasHandleGyro = true
            gimbal.initialJoints.pitch = pitch / Self.degrees
        }
    }

    /// Runs the loop until the motors are on, for at most 5 s.
    ///
    /// - Returns: Largest difference between the first commanded angle and the true angle of roll
    ///   and pitch, degrees; infinite if the motors stay off.
    private static func jump(_ loop: inout SimulatedLoop) -> Double {
        for _ in 0..<5000 {
            loop.step()
            guard loop.output.enabled else { continue }
            let error = (loop.output.angle - loop.gimbal.joints) * degrees
            return max(abs(error.roll), abs(error.pitch))
        }
        return .infinity
    }

    @Test(
        "the horns of a tilted camera do not jump, although the loop starts before the sensor",
        arguments: [-60.0, 45])
    func firstSample(pitch: Double) {
        var loop = Self.loop(pitch: pitch)
        loop.gimbal.fault = .dropOut
        loop.run(seconds: 0.05)
        loop.gimbal.fault = nil
        let jump = Self.jump(&loop)
        #expect(jump < 5, "\(jump)°")
    }

    @Test("the horns do not jump after an interruption that began while the handle turned")
    func interruption() {
        var loop = Self.loop(pitch: 0)
        loop.run(seconds: 3)
        #expect(loop.output.enabled)
        // The last sample before the interruption contains a rate of the handle of 30 °/s.
        loop.advance { $0.baseGyro.y += 30 / Self.degrees }
        loop.drive()
        loop.gimbal.fault = .dropOut
        loop.run(seconds: 2)
        #expect(!loop.output.enabled)
        loop.gimbal.fault = nil
        let jump = Self.jump(&loop)
        #expect(jump < 5, "\(jump)°")
    }
}
