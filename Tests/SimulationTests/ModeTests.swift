import GimbalCore
import Simulation
import Testing

/// Tests each mode on the complete gimbal: encoders or servos, noisy sensor, a turning handle.
@Suite("Modes of the stabilised gimbal")
struct ModeTests {
    static let degrees = 180 / Double.pi

    /// Loop at 500 Hz whose handle turns at `rate` after 3 s, deg/s.
    private static func loop(
        _ mode: Mode, turning rate: AxisVector = .zero, encoders: Bool = true,
        motor: MotorType = .torque, modes: ModeParameters = ModeParameters()
    ) -> SimulatedLoop {
        var motion = BaseMotion(.still, seed: 1, stillDuration: 3)
        motion.turnRate = rate * (1 / degrees)
        motion.turnDuration = 1
        return SimulatedLoop(motion, motor: motor, rateHz: 500) { gimbal, tuning in
            gimbal.plant.stepRate = 4000
            gimbal.imu.sampleRate = 500
            if !encoders { gimbal.encoderCounts = 0 }
            tuning.bootMode = mode
            tuning.modes = modes
        }
    }

    private func near(_ a: Double, _ b: Double, _ tolerance: Double) -> Bool {
        abs(a - b) <= tolerance
    }

    @Test("locked keeps the heading while the handle turns")
    func locked() {
        var loop = Self.loop(.locked, turning: AxisVector(yaw: 40, roll: 5, pitch: 10))
        loop.run(seconds: 2.5)
        let before = loop.camera
        loop.run(seconds: 3)
        #expect(loop.handle.yaw > 30)
        #expect(near(loop.camera.yaw, before.yaw, 1))
        #expect(near(loop.camera.roll, 0, 1.5) && near(loop.camera.pitch, 0, 1.5))
    }

    @Test(
        "pan_follow turns with the handle and stays level", arguments: [MotorType.torque, .servo])
    func panFollow(motor: MotorType) {
        var loop = Self.loop(
            .panFollow, turning: AxisVector(yaw: 40, roll: 5, pitch: 10), motor: motor)
        loop.run(seconds: 7)
        #expect(loop.handle.yaw > 30)
        #expect(near(loop.camera.yaw, loop.handle.yaw - 5, 2), "the dead zone is 5 degrees")
        #expect(near(loop.camera.roll, 0, 1.5) && near(loop.camera.pitch, 0, 1.5))
    }

    @Test("a changed mounting keeps the heading to which the handle has turned the camera")
    func recalibration() {
        var loop = Self.loop(.panFollow, turning: AxisVector(yaw: 90, roll: 0, pitch: 0))
        loop.run(seconds: 7)
        loop.ask(.mode(.locked))
        loop.run(seconds: 1)
        let heading = loop.camera.yaw
        #expect(heading > 60)
        var parameters = loop.stabilizer.parameters
        parameters.correction.mounting =
            EulerZXY.quaternion(AxisVector(yaw: 0, roll: 0.05, pitch: 0))
            * parameters.correction.mounting
        loop.stabilizer.apply(parameters)
        loop.run(seconds: 3)
        #expect(near(loop.camera.yaw, heading, 3))
    }

    @Test("fpv follows the handle on all axes")
    func fpv() {
        var loop = Self.loop(.fpv, turning: AxisVector(yaw: 40, roll: 12, pitch: -20))
        loop.run(seconds: 7)
        #expect(loop.handle.yaw > 30 && loop.handle.pitch < -15)
        #expect(near(loop.camera.yaw, loop.handle.yaw, 2.5))
        #expect(near(loop.camera.roll, loop.handle.roll, 2.5))
        #expect(near(loop.camera.pitch, loop.handle.pitch, 2.5))
    }

    @Test("neutral turns the camera back to level and to the handle's heading")
    func neutral() {
        var loop = Self.loop(.locked, turning: AxisVector(yaw: 40, roll: 0, pitch: 10))
        loop.run(seconds: 3)
        loop.ask(.point(target: AxisVector(yaw: -0.5, roll: 0, pitch: -0.5), duration: 0.5))
        loop.run(seconds: 1)
        loop.ask(.mode(.neutral))
        loop.run(seconds: 4)
        #expect(near(loop.camera.yaw, loop.handle.yaw, 1))
        #expect(near(loop.camera.roll, 0, 1.5) && near(loop.camera.pitch, 0, 1.5))
    }

    @Test(
        "retract folds the camera and turns the outputs off if configured, and locked restores the camera"
    )
    func retract() {
        var modes = ModeParameters()
        modes.isOffWhenRetracted = true
        var loop = Self.loop(.locked, modes: modes)
        loop.run(seconds: 3)
        loop.ask(.mode(.retract))
        var lowest = 0.0
        loop.run(seconds: 7) { lowest = min(lowest, $0.gimbal.joints.pitch * Self.degrees) }
        #expect(near(lowest, -90, 2))
        #expect(!loop.output.enabled && loop.snapshot.conditions.intersects(.retracted))
        loop.ask(.mode(.locked))
        loop.run(seconds: 2.5)
        #expect(loop.output.enabled)
        #expect(near(loop.camera.pitch, 0, 1.5))
    }

    @Test(
        "in tracking, a positive tilt lowers the camera, and the camera holds its direction when commands stop"
    )
    func tracking() {
        var loop = Self.loop(.locked)
        loop.run(seconds: 3)
        loop.ask(.mode(.tracking))
        for _ in 0..<10 {
            let until = loop.now.advanced(bySeconds: 1)
            loop.ask(.track(pan: 20 / Self.degrees, tilt: 30 / Self.degrees), validUntil: until)
            loop.run(seconds: 0.1)
        }
        #expect(loop.snapshot.mode == .tracking)
        // The last rates remain valid for one more second, then the camera stops.
        loop.run(seconds: 1.3)
        #expect(loop.snapshot.mode == .locked)
        #expect(loop.snapshot.conditions.intersects(.commandExpired))
        #expect(near(loop.camera.yaw, 38, 3) && near(loop.camera.pitch, -45, 2))
        #expect(loop.snapshot.rate.norm * Self.degrees < 3, "the rate is only noise")
    }

    @Test(
        "without encoders, the mode locked replaces a boot mode that follows the handle, and the change is reported"
    )
    func bootMode() {
        var loop = Self.loop(.fpv, encoders: false)
        loop.run(seconds: 2.5)
        #expect(loop.snapshot.mode == .locked && loop.output.enabled)
        #expect(loop.snapshot.conditions.intersects(.bootModeUnavailable))
        #expect(!loop.snapshot.showsJoints)
    }

    @Test("looking straight down, with aligned joint axes, the camera stays within 0.15°")
    func straightDown() {
        var loop = Self.loop(.locked)
        loop.run(seconds: 3)
        loop.ask(.point(target: AxisVector(yaw: .nan, roll: 0, pitch: -.pi / 2), duration: 1))
        loop.run(seconds: 2)
        let before = loop.gimbal.attitude
        loop.run(seconds: 1) { loop in
            #expect(before.error(to: loop.gimbal.attitude).norm * Self.degrees < 0.15)
        }
        #expect(near(loop.camera.pitch, -90, 1.5))
    }

    @Test("a pitch step of 30° at 200 °/s settles within 0.3 s")
    func settling() {
        var loop = Self.loop(.locked)
        loop.stabilizer.apply(with(rate: 200))
        loop.run(seconds: 3)
        let before = loop.camera.pitch
        loop.ask(
            .point(target: AxisVector(yaw: .nan, roll: 0, pitch: 30 / Self.degrees), duration: 0))
        loop.run(seconds: 0.3)
        loop.run(seconds: 0.5) { #expect(abs($0.camera.pitch - before - 30) < 0.6) }
    }

    private func with(rate: Double) -> Stabilizer.Parameters {
        var tuning = Stabilizer.Parameters()
        tuning.setpoint.maxRate = AxisVector(repeating: rate / Self.degrees)
        return tuning
    }

    @Test("a reset of the integrals moves the camera by less than 0.05°")
    func resetIntegrals() {
        var loop = Self.loop(.locked)
        loop.run(seconds: 5)
        let held = loop.camera
        loop.ask(.resetIntegrals)
        var farthest = 0.0
        loop.run(seconds: 1) { farthest = max(farthest, abs($0.camera.pitch - held.pitch)) }
        #expect(farthest > 0.0005 && farthest < 0.05, "\(farthest)°")
        #expect(near(loop.camera.pitch, held.pitch, 0.01))
    }
}
