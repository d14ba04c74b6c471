import Configuration
import Simulation
import Testing

@testable import GimbalCore

@Suite("Bias of the gyroscope on the handle")
struct HandleBiasTests {
    /// Parameters of a gimbal with an MPU-6500 on the handle, whose bias is up to 5 °/s.
    private static var largestBias: Double {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.handleImu = .mpu6500
        return settings.stabilizerParameters.largestHandleBias
    }

    /// Loop around a gimbal with torque motors, which holds the camera in the mode `locked`.
    private static func loop(
        _ motion: BaseMotion, hasEncoders: Bool = true, largestBias: Double = Self.largestBias
    ) -> SimulatedLoop {
        SimulatedLoop(motion) { gimbal, tuning in
            gimbal.hasHandleGyro = true
            if !hasEncoders { gimbal.encoderCounts = 0 }
            tuning.largestHandleBias = largestBias
        }
    }

    /// Runs the loop with an offset of the handle's gyroscope about z, °/s.
    ///
    /// - Returns: Mean of the handle's rate about z after the bias correction, °/s.
    private static func rate(
        _ loop: inout SimulatedLoop, seconds: Double, offset: Double
    ) -> Double {
        let ticks = Int(seconds * Double(loop.rateHz))
        var sum = 0.0
        for _ in 0..<ticks {
            loop.advance { $0.baseGyro.z += Angle.degrees(offset).radians }
            loop.drive()
            sum += loop.stabilizer.joints.handleRate?.z ?? .nan
        }
        return Angle.radians(sum / Double(ticks)).degrees
    }

    @Test("a bias within the tolerance of the chip on the handle is learned at rest")
    func tolerance() {
        var loop = Self.loop(BaseMotion(.still, seed: 1))
        _ = Self.rate(&loop, seconds: 10, offset: 4.5)
        let rest = Self.rate(&loop, seconds: 1, offset: 4.5)
        #expect(abs(rest) < 0.3, "\(rest) °/s")
    }

    @Test("a bias beyond the tolerance counts as motion")
    func motion() {
        var handle = HandleIMU()
        let rate = Vector3(0, 0, Angle.degrees(8).radians)
        for _ in 0..<3000 {
            handle.update(
                measured: rate, cameraRate: .zero, upright: .zero, isAtRest: true,
                largestBias: Self.largestBias, dt: 1e-3)
        }
        #expect(handle.bias == .zero)
    }

    @Test("after an interruption, roll and pitch start upright, and yaw keeps its last angle")
    func forgotten() {
        var handle = HandleIMU()
        func read(_ upright: AxisVector) {
            handle.update(
                measured: .zero, cameraRate: .zero, upright: upright, isAtRest: false,
                largestBias: Self.largestBias, dt: 1e-3)
        }
        read(.zero)
        #expect(handle.joints == .zero)
        handle.align(AxisVector(yaw: 0.7, roll: 0.1, pitch: -0.2))
        handle.forgetJoints()
        read(AxisVector(yaw: 0, roll: 0.3, pitch: 0.4))
        #expect(handle.joints == AxisVector(yaw: 0.7, roll: 0.3, pitch: 0.4))
    }

    @Test("a slow pan of the handle is not learned as bias while the motors hold the camera")
    func pan() {
        var motion = BaseMotion(.still, seed: 1, stillDuration: 10, rampDuration: 1)
        motion.turnRate.yaw = Angle.degrees(4).radians
        motion.turnDuration = 8
        var loop = Self.loop(motion)
        _ = Self.rate(&loop, seconds: 13, offset: 1.5)
        #expect(loop.output.enabled)
        let turning = Self.rate(&loop, seconds: 2, offset: 1.5)
        #expect(abs(turning - 4) < 1, "\(turning) °/s")
    }

    @Test("without encoders, a smooth pan of the handle changes the bias by less than 3 °/s")
    func unseenPan() {
        var motion = BaseMotion(.still, seed: 1, stillDuration: 10, rampDuration: 16)
        motion.turnRate.yaw = Angle.degrees(12).radians
        motion.turnDuration = 20
        // Tolerance of an MPU-6050.
        var loop = Self.loop(
            motion, hasEncoders: false, largestBias: Angle.degrees(25).radians)
        _ = Self.rate(&loop, seconds: 27, offset: 0)
        #expect(loop.output.enabled)
        let turning = Self.rate(&loop, seconds: 1, offset: 0)
        #expect(turning > 9, "\(turning) °/s")
    }
}
