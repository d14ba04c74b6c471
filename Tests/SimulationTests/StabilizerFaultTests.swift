import GimbalCore
import Simulation
import Testing

@Suite("Faults of the stabilised gimbal")
struct StabilizerFaultTests {
    @Test(
        "a sensor fault is reported, the outputs switch off, the estimate stays finite, and the outputs return afterwards",
        arguments: [
            (SensorFault.frozen, Conditions.imuFrozen),
            (.notANumber, .imuImplausible),
            (.infinite, .imuImplausible),
            (.dropOut, .imuStale),
            (.timeShift(seconds: -0.5), .imuTimeFault),
        ])
    func fault(fault: SensorFault, expected: Conditions) {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 3, stillDuration: 2), seed: 3)
        loop.run(seconds: 3)
        #expect(loop.output.enabled)
        loop.gimbal.fault = fault
        var isNamed = false
        var isFinite = true
        loop.run(seconds: 0.4) { loop in
            if loop.conditions.intersects(expected) { isNamed = true }
            if !loop.isFinite { isFinite = false }
        }
        #expect(isNamed)
        #expect(isFinite)
        #expect(!loop.output.enabled, "0.4 s later the outputs are off")
        loop.gimbal.fault = nil
        loop.run(seconds: 3)
        #expect(loop.output.enabled && loop.snapshot.authority == 1)
        #expect(loop.isFinite)
    }

    @Test("a sample that is not a number is counted, and reduces the authority only briefly")
    func glitch() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.gimbal.fault = .notANumber
        loop.run(seconds: 0.002)
        loop.gimbal.fault = nil
        var lowest = 1.0
        loop.run(seconds: 0.5) { lowest = min(lowest, $0.snapshot.authority) }
        #expect(lowest > 0.5)
        #expect(loop.snapshot.samples.implausible >= 1)
        #expect(loop.snapshot.authority == 1)
    }

    @Test(
        "an emergency stop switches the outputs off at once, and a change of the mode does not end it"
    )
    func emergencyStop() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.ask(.emergencyStop)
        loop.run(seconds: 0.002)
        #expect(!loop.output.enabled)
        loop.ask(.mode(.locked))
        loop.run(seconds: 2)
        #expect(!loop.output.enabled)
        loop.ask(.resetEmergencyStop)
        loop.run(seconds: 2)
        #expect(loop.output.enabled)
    }

    @Test("a shutdown cannot be reverted")
    func shutdown() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.ask(.shutdown)
        loop.ask(.mode(.locked))
        loop.run(seconds: 2)
        #expect(!loop.output.enabled)
        #expect(loop.conditions.intersects(.shutdown))
    }

    @Test(
        "a rate command ends at its dead-man time, the condition is reported, and the camera stops")
    func deadMan() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        let rate = AxisVector(yaw: 0.5, roll: 0, pitch: 0)
        loop.ask(.rate(rate), validUntil: loop.now.advanced(bySeconds: 0.5))
        loop.run(seconds: 0.3)
        #expect(loop.gimbal.rate.z > 0.4)
        loop.run(seconds: 0.7)
        #expect(abs(loop.gimbal.rate.z) < 0.01)
        #expect(loop.conditions.intersects(.commandExpired))
    }

    @Test("an axis that a point command omits continues to its previous target")
    func keptAxis() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.ask(.point(target: AxisVector(yaw: 0.4, roll: 0, pitch: 0), duration: 1))
        loop.run(seconds: 0.3)
        loop.ask(.point(target: AxisVector(yaw: .nan, roll: .nan, pitch: -0.3), duration: 1))
        loop.run(seconds: 2)
        let angles = EulerZXY.angles(loop.gimbal.attitude)
        #expect(abs(angles.yaw - 0.4) < 0.02)
        #expect(abs(angles.pitch + 0.3) < 0.02)
    }

    @Test("a point command before the outputs are on sets the target of the start")
    func earlyPoint() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 0.1)
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: -0.4)
        loop.ask(.point(target: target, duration: 0))
        loop.run(seconds: 3)
        #expect(abs(EulerZXY.angles(loop.gimbal.attitude).pitch + 0.4) < 0.02)
    }

    @Test("after a fault, the camera returns to the commanded pitch, and keeps its current heading")
    func afterFault() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 2)
        let target = AxisVector(yaw: 0.3, roll: 0, pitch: -0.4)
        loop.ask(.point(target: target, duration: 0))
        loop.run(seconds: 2)
        loop.gimbal.fault = .dropOut
        loop.run(seconds: 0.2)
        #expect(!loop.output.enabled)
        loop.gimbal.push = Vector3(0, 0, 0.03)
        loop.run(seconds: 0.3)
        loop.gimbal.push = .zero
        loop.gimbal.fault = nil
        loop.run(seconds: 3)
        let angles = EulerZXY.angles(loop.gimbal.attitude)
        #expect(abs(angles.pitch + 0.4) < 0.03)
        #expect(
            abs(angles.yaw - 0.3) > 0.05,
            "the heading keeps the angle to which a hand has turned it")
    }

    @Test("a joint beyond its configured range is reported")
    func jointLimit() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 2)
        #expect(!loop.conditions.intersects(.jointLimit))
        var tight = loop.stabilizer.parameters
        tight.jointRange.maximum = AxisVector(yaw: -0.5, roll: 1, pitch: 1)
        loop.stabilizer.apply(tight)
        loop.run(seconds: 0.01)
        #expect(loop.conditions.intersects(.jointLimit))
    }

    @Test("after a start in a walker's hand, roll and pitch stay below 2° from 3 s on")
    func coldStart() {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 3, stillDuration: 0), seed: 3)
        loop.run(seconds: 3)
        #expect(loop.output.enabled)
        var worst = 0.0
        loop.run(seconds: 5) { loop in
            let angles = EulerZXY.angles(loop.gimbal.attitude)
            worst = max(worst, abs(angles.roll), abs(angles.pitch))
        }
        #expect(Angle.radians(worst).degrees < 2)
    }

    @Test(
        "if the motors switch on before the bias is known, the bias is still estimated within 5 s")
    func biasBehindMotors() {
        // The gimbal is shaken until the motors are on, and then rests on a table.
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.gimbal.push = Vector3(0.02, 0.02, 0)
        for step in 0..<60 {
            loop.gimbal.push = loop.gimbal.push * (step % 2 == 0 ? -1 : 1)
            loop.run(seconds: 0.02)
        }
        loop.gimbal.push = .zero
        loop.run(seconds: 5)
        let error = loop.snapshot.bias - loop.gimbal.gyroBias
        #expect(Angle.radians(error.norm).degrees < 0.05)
    }

    @Test(
        "if the encoders fail while the handle is not upright, the motors stop the camera without a jerk"
    )
    func encodersFail() {
        let tilt = 150 * Double.pi / 180
        let motion = BaseMotion(.still, seed: 3, pose: AxisVector(yaw: 0, roll: 0, pitch: tilt))
        var loop = SimulatedLoop(motion, seed: 3) { gimbal, tuning in
            gimbal.plant.jointRange = AxisVector(repeating: 6)
            gimbal.plant.cableStiffness = .zero
            gimbal.initialJoints = AxisVector(yaw: 0, roll: 0, pitch: -tilt)
            tuning.jointRange.minimum = AxisVector(repeating: -6)
            tuning.jointRange.maximum = AxisVector(repeating: 6)
            tuning.supervisor.softStopSeconds = 2
        }
        loop.run(seconds: 5)
        #expect(loop.snapshot.phase == .active && loop.snapshot.jointSource == .encoders)
        loop.stabilizer.report(.encoderMissing)
        loop.gimbal.push = Vector3(0.01, 0.01, 0.01)
        var largestRate = 0.0
        for _ in 0..<1000 {
            loop.advance { $0.contents = .none }
            loop.drive()
            largestRate = max(largestRate, loop.gimbal.rate.norm * 180 / .pi)
            #expect(abs(loop.snapshot.joints.pitch + tilt) < 0.1)
        }
        #expect(loop.snapshot.jointSource == .assumed)
        #expect(largestRate < 40, "\(largestRate)")
        for _ in 0..<1100 {
            loop.advance { $0.contents = .none }
            loop.drive()
        }
        #expect(!loop.output.enabled)
        let upright = EulerZXY.angles(loop.snapshot.attitude)
        #expect(abs(loop.snapshot.joints.pitch - upright.pitch) < 0.01)
    }

    @Test("the motors brake after a fault of a drive, also without the check of the gyroscope")
    func brakeWithoutCheck() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3) { _, tuning in
            tuning.screen.witnessesGyro = false
        }
        loop.run(seconds: 4)
        loop.ask(
            .rate(AxisVector(yaw: 2, roll: 0, pitch: 0)),
            validUntil: loop.now.advanced(bySeconds: 5))
        loop.run(seconds: 0.4)
        #expect(loop.gimbal.rate.z > 1.8, "\(loop.gimbal.rate.z) rad/s")
        loop.stabilizer.report(.driveFault)
        loop.run(seconds: 0.03)
        #expect(!loop.output.enabled)
        #expect(loop.gimbal.rate.norm < 1, "\(loop.gimbal.rate.norm) rad/s")
    }

    @Test("a gyroscope that freezes during a turn does not turn the estimate", arguments: [0.3, 1])
    func frozen(seconds: Double) {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), seed: 1)
        loop.run(seconds: 5)
        loop.ask(
            .rate(AxisVector(yaw: 0, roll: 0, pitch: 2)),
            validUntil: loop.now.advanced(bySeconds: 5))
        loop.run(seconds: 0.3)
        var frozen: IMUSample?
        for _ in 0..<Int(seconds * 1000) {
            loop.advance { sample in
                let first = frozen ?? sample
                frozen = first
                sample.gyro = first.gyro
            }
            loop.drive()
        }
        loop.run(seconds: 2)
        let estimate = EulerZXY.angles(loop.snapshot.attitude) * (180 / Double.pi)
        #expect(abs(estimate.pitch - loop.camera.pitch) < 5, "\(estimate) \(loop.camera)")
    }
}
