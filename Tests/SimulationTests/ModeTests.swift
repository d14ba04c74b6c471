import GimbalCore
import Simulation
import Testing

/// Every mode on the whole gimbal: encoders or servos, noisy sensor, a hand that turns.
@Suite("Modes of the stabilised gimbal")
struct ModeTests {
    static let degrees = 180 / Double.pi

    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        var output = MotorOutput.off
        private var tick: Int64 = 0

        init(
            _ mode: Mode, turning rate: AxisVector = .zero, for seconds: Double = 1,
            encoders: Bool = true, motor: MotorType = .torque, modes: ModeParameters? = nil
        ) {
            var parameters = SimulatedGimbal.Parameters()
            parameters.plant.stepRate = 4000
            parameters.imu.sampleRate = 500
            parameters.motor = motor
            if !encoders { parameters.encoderCounts = 0 }
            var motion = BaseMotion(.still, seed: 1, stillDuration: 3)
            motion.turnRate = rate * (1 / ModeTests.degrees)
            motion.turnDuration = seconds
            gimbal = SimulatedGimbal(parameters: parameters, motion: motion, seed: 1)
            var tuning = Stabilizer.Parameters()
            tuning.motorType = motor
            tuning.bootMode = mode
            if let modes { tuning.modes = modes }
            stabilizer = Stabilizer(parameters: tuning)
        }

        var now: Instant { Instant(nanoseconds: tick * 2_000_000) }
        /// Where the camera truly looks, degrees.
        var camera: AxisVector { EulerZXY.angles(gimbal.attitude) * ModeTests.degrees }
        /// Where the handle truly is, degrees.
        var handle: AxisVector { EulerZXY.angles(gimbal.base.attitude) * ModeTests.degrees }
        var snapshot: StabilizerSnapshot { stabilizer.snapshot }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * 500) {
                tick += 1
                let time = now
                gimbal.advance(to: time) { stabilizer.integrate($0) }
                output = stabilizer.step(now: time)
                gimbal.apply(output, at: time)
                each(self)
            }
        }

        mutating func ask(_ command: Command) { stabilizer.apply(command, now: now) }
    }

    private func near(_ a: Double, _ b: Double, _ tolerance: Double) -> Bool {
        abs(a - b) <= tolerance
    }

    @Test("locked keeps its heading while the handle turns under it")
    func locked() {
        var rig = Rig(.locked, turning: AxisVector(yaw: 40, roll: 5, pitch: 10))
        rig.run(2.5)
        let before = rig.camera
        rig.run(3)
        #expect(rig.handle.yaw > 30)
        #expect(near(rig.camera.yaw, before.yaw, 1))
        #expect(near(rig.camera.roll, 0, 1.5) && near(rig.camera.pitch, 0, 1.5))
    }

    @Test(
        "pan_follow turns after the handle, and stays level", arguments: [MotorType.torque, .servo])
    func panFollow(motor: MotorType) {
        var rig = Rig(.panFollow, turning: AxisVector(yaw: 40, roll: 5, pitch: 10), motor: motor)
        rig.run(7)
        #expect(rig.handle.yaw > 30)
        #expect(near(rig.camera.yaw, rig.handle.yaw - 5, 2), "the dead zone is 5 degrees")
        #expect(near(rig.camera.roll, 0, 1.5) && near(rig.camera.pitch, 0, 1.5))
    }

    @Test("fpv goes where the handle goes")
    func fpv() {
        var rig = Rig(.fpv, turning: AxisVector(yaw: 40, roll: 12, pitch: -20))
        rig.run(7)
        #expect(rig.handle.yaw > 30 && rig.handle.pitch < -15)
        #expect(near(rig.camera.yaw, rig.handle.yaw, 2.5))
        #expect(near(rig.camera.roll, rig.handle.roll, 2.5))
        #expect(near(rig.camera.pitch, rig.handle.pitch, 2.5))
    }

    @Test("neutral brings a pointed camera back: level, and ahead as the handle points")
    func neutral() {
        var rig = Rig(.locked, turning: AxisVector(yaw: 40, roll: 0, pitch: 10))
        rig.run(3)
        rig.ask(.point(target: AxisVector(yaw: -0.5, roll: 0, pitch: -0.5), duration: 0.5))
        rig.run(1)
        rig.ask(.mode(.neutral))
        rig.run(4)
        #expect(near(rig.camera.yaw, rig.handle.yaw, 1))
        #expect(near(rig.camera.roll, 0, 1.5) && near(rig.camera.pitch, 0, 1.5))
    }

    @Test(
        "retract folds the camera, turns the outputs off where it should, and locked brings it back"
    )
    func retract() {
        var modes = ModeParameters()
        modes.isOffWhenRetracted = true
        var rig = Rig(.locked, modes: modes)
        rig.run(3)
        rig.ask(.mode(.retract))
        var lowest = 0.0
        rig.run(7) { lowest = min(lowest, $0.gimbal.joints.pitch * Self.degrees) }
        #expect(near(lowest, -90, 2))
        #expect(!rig.output.enabled && rig.snapshot.conditions.intersects(.retracted))
        rig.ask(.mode(.locked))
        rig.run(2.5)
        #expect(rig.output.enabled)
        #expect(near(rig.camera.pitch, 0, 1.5))
    }

    @Test("tracking lowers the camera at positive tilt, and silence locks it where it looks")
    func tracking() {
        var rig = Rig(.locked)
        rig.run(3)
        rig.ask(.mode(.tracking))
        for _ in 0..<10 {
            let until = rig.now.advanced(bySeconds: 1)
            rig.ask(.track(pan: 20 / Self.degrees, tilt: 30 / Self.degrees, validUntil: until))
            rig.run(0.1)
        }
        #expect(rig.snapshot.mode == .tracking)
        // One more second at the last rates, then it stands.
        rig.run(1.3)
        #expect(rig.snapshot.mode == .locked)
        #expect(rig.snapshot.conditions.intersects(.commandExpired))
        #expect(near(rig.camera.yaw, 38, 3) && near(rig.camera.pitch, -45, 2))
        #expect(rig.snapshot.rate.norm * Self.degrees < 3, "no more than noise")
    }

    @Test("without encoders a boot mode that follows is replaced by locked, and named")
    func bootMode() {
        var rig = Rig(.fpv, encoders: false)
        rig.run(2.5)
        #expect(rig.snapshot.mode == .locked && rig.output.enabled)
        #expect(rig.snapshot.conditions.intersects(.bootModeUnavailable))
        #expect(!rig.snapshot.showsJoints)
    }

    @Test("straight down the camera is as still as level, with the joints' axes in line")
    func straightDown() {
        var rig = Rig(.locked)
        rig.run(3)
        rig.ask(.point(target: AxisVector(yaw: .nan, roll: 0, pitch: -.pi / 2), duration: 1))
        rig.run(2)
        let before = rig.gimbal.attitude
        rig.run(1) { rig in
            #expect(before.error(to: rig.gimbal.attitude).norm * Self.degrees < 0.15)
        }
        #expect(near(rig.camera.pitch, -90, 1.5))
    }

    @Test("a pitch of 30° at 200°/s settles within 0.3 s")
    func settling() {
        var rig = Rig(.locked)
        rig.stabilizer.apply(with(rate: 200))
        rig.run(3)
        let before = rig.camera.pitch
        rig.ask(
            .point(target: AxisVector(yaw: .nan, roll: 0, pitch: 30 / Self.degrees), duration: 0))
        rig.run(0.3)
        rig.run(0.5) { #expect(abs($0.camera.pitch - before - 30) < 0.6) }
    }

    private func with(rate: Double) -> Stabilizer.Parameters {
        var tuning = Stabilizer.Parameters()
        tuning.setpoint.maxRate = AxisVector(repeating: rate / Self.degrees)
        return tuning
    }

    @Test("integrals that start again let go of the camera by less than a twentieth of a degree")
    func resetIntegrals() {
        var rig = Rig(.locked)
        rig.run(5)
        let held = rig.camera
        rig.ask(.resetIntegrals)
        var farthest = 0.0
        rig.run(1) { farthest = max(farthest, abs($0.camera.pitch - held.pitch)) }
        #expect(farthest > 0.0005 && farthest < 0.05, "\(farthest)°")
        #expect(near(rig.camera.pitch, held.pitch, 0.01))
    }
}
