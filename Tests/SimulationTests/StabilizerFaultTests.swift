import GimbalCore
import Simulation
import Testing

@Suite("The stabilised gimbal with something wrong")
struct StabilizerFaultTests {
    /// The real stabilizer on the simulated gimbal, 1 kHz.
    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        var tick: Int64 = 0
        var output = MotorOutput.off

        init(_ motion: BaseMotion.Kind, stillDuration: Double = 4) {
            gimbal = SimulatedGimbal(
                parameters: SimulatedGimbal.Parameters(),
                motion: BaseMotion(motion, seed: 3, stillDuration: stillDuration), seed: 3)
        }

        var now: Instant { Instant(nanoseconds: tick * 1_000_000) }
        var conditions: Conditions { stabilizer.snapshot.conditions }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * 1000) {
                tick += 1
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                output = stabilizer.step(now: now)
                gimbal.apply(output, at: now)
                each(self)
            }
        }

        /// Whether everything that leaves the stabilizer is a number.
        var isFinite: Bool {
            let snapshot = stabilizer.snapshot
            return snapshot.attitude.isFinite && snapshot.rate.isFinite && snapshot.bias.isFinite
                && snapshot.inclinationSigma.isFinite && output.torque.isFinite
        }
    }

    @Test(
        "a sensor fault is named, the outputs go off, the estimate stays finite, and it comes back",
        arguments: [
            (SensorFault.frozen, Conditions.imuFrozen),
            (.notANumber, .imuImplausible),
            (.infinite, .imuImplausible),
            (.dropOut, .imuStale),
            (.timeShift(seconds: -0.5), .imuTimeFault),
        ])
    func fault(fault: SensorFault, expected: Conditions) {
        var rig = Rig(.walking, stillDuration: 2)
        rig.run(3)
        #expect(rig.output.enabled)
        rig.gimbal.fault = fault
        var isNamed = false
        var isFinite = true
        rig.run(0.4) { rig in
            if rig.conditions.intersects(expected) { isNamed = true }
            if !rig.isFinite { isFinite = false }
        }
        #expect(isNamed)
        #expect(isFinite)
        #expect(!rig.output.enabled, "0.4 s later the outputs are off")
        rig.gimbal.fault = nil
        rig.run(3)
        #expect(rig.output.enabled && rig.stabilizer.snapshot.authority == 1)
        #expect(rig.isFinite)
    }

    @Test(
        "one sample that is not a number is counted and costs no more than a dip of the authority")
    func glitch() {
        var rig = Rig(.still)
        rig.run(3)
        rig.gimbal.fault = .notANumber
        rig.run(0.002)
        rig.gimbal.fault = nil
        var lowest = 1.0
        rig.run(0.5) { lowest = min(lowest, $0.stabilizer.snapshot.authority) }
        #expect(lowest > 0.5)
        #expect(rig.stabilizer.snapshot.samples.implausible >= 1)
        #expect(rig.stabilizer.snapshot.authority == 1)
    }

    @Test("an emergency stop is off at once and latched, and a mode alone does not end it")
    func emergencyStop() {
        var rig = Rig(.still)
        rig.run(3)
        rig.stabilizer.apply(.emergencyStop, now: rig.now)
        rig.run(0.002)
        #expect(!rig.output.enabled)
        rig.stabilizer.apply(.mode(.locked), now: rig.now)
        rig.run(2)
        #expect(!rig.output.enabled)
        rig.stabilizer.apply(.resetEmergencyStop, now: rig.now)
        rig.run(2)
        #expect(rig.output.enabled)
    }

    @Test("a shutdown cannot be taken back")
    func shutdown() {
        var rig = Rig(.still)
        rig.run(3)
        rig.stabilizer.apply(.shutdown, now: rig.now)
        rig.stabilizer.apply(.mode(.locked), now: rig.now)
        rig.run(2)
        #expect(!rig.output.enabled)
        #expect(rig.conditions.intersects(.shutdown))
    }

    @Test("a rate command ends with its dead-man, says so, and the camera stands still")
    func deadMan() {
        var rig = Rig(.still)
        rig.run(3)
        let rate = AxisVector(yaw: 0.5, roll: 0, pitch: 0)
        rig.stabilizer.apply(
            .rate(rate, validUntil: rig.now.advanced(bySeconds: 0.5)), now: rig.now)
        rig.run(0.3)
        #expect(rig.gimbal.rate.z > 0.4)
        rig.run(0.7)
        #expect(abs(rig.gimbal.rate.z) < 0.01)
        #expect(rig.conditions.intersects(.commandExpired))
    }

    @Test("an axis that a point leaves out keeps where it was going")
    func keptAxis() {
        var rig = Rig(.still)
        rig.run(3)
        rig.stabilizer.apply(
            .point(target: AxisVector(yaw: 0.4, roll: 0, pitch: 0), duration: 1), now: rig.now)
        rig.run(0.3)
        rig.stabilizer.apply(
            .point(target: AxisVector(yaw: .nan, roll: .nan, pitch: -0.3), duration: 1),
            now: rig.now)
        rig.run(2)
        let angles = EulerZXY.angles(rig.gimbal.attitude)
        #expect(abs(angles.yaw - 0.4) < 0.02)
        #expect(abs(angles.pitch + 0.3) < 0.02)
    }

    @Test("a point that comes before the outputs are on is where they go")
    func earlyPoint() {
        var rig = Rig(.still)
        rig.run(0.1)
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: -0.4)
        rig.stabilizer.apply(.point(target: target, duration: 0), now: rig.now)
        rig.run(3)
        #expect(abs(EulerZXY.angles(rig.gimbal.attitude).pitch + 0.4) < 0.02)
    }

    @Test("after a fault it returns to the pitch it was told, and to the heading that it has then")
    func afterFault() {
        var rig = Rig(.still)
        rig.run(2)
        let target = AxisVector(yaw: 0.3, roll: 0, pitch: -0.4)
        rig.stabilizer.apply(.point(target: target, duration: 0), now: rig.now)
        rig.run(2)
        rig.gimbal.fault = .dropOut
        rig.run(0.2)
        #expect(!rig.output.enabled)
        rig.gimbal.push = Vector3(0, 0, 0.03)
        rig.run(0.3)
        rig.gimbal.push = .zero
        rig.gimbal.fault = nil
        rig.run(3)
        let angles = EulerZXY.angles(rig.gimbal.attitude)
        #expect(abs(angles.pitch + 0.4) < 0.03)
        #expect(abs(angles.yaw - 0.3) > 0.05, "the heading was turned by hand and stays")
    }

    @Test("a joint beyond its range is named")
    func jointLimit() {
        var rig = Rig(.still)
        rig.run(2)
        #expect(!rig.conditions.intersects(.jointLimit))
        var tight = rig.stabilizer.parameters
        tight.jointRange.maximum = AxisVector(yaw: -0.5, roll: 1, pitch: 1)
        rig.stabilizer.apply(tight)
        rig.run(0.01)
        #expect(rig.conditions.intersects(.jointLimit))
    }

    @Test("started in the hand of somebody who walks, it is level within 2° after 3 s")
    func coldStart() {
        var rig = Rig(.walking, stillDuration: 0)
        rig.run(3)
        #expect(rig.output.enabled)
        var worst = 0.0
        rig.run(5) { rig in
            let angles = EulerZXY.angles(rig.gimbal.attitude)
            worst = max(worst, abs(angles.roll), abs(angles.pitch))
        }
        #expect(Angle.radians(worst).degrees < 2)
    }

    @Test("motors that came on before the bias was known do not hide it: the joints show it")
    func biasBehindMotors() {
        // Bumped until the motors are on, then at rest on a table.
        var rig = Rig(.still)
        rig.gimbal.push = Vector3(0.02, 0.02, 0)
        for step in 0..<60 {
            rig.gimbal.push = rig.gimbal.push * (step % 2 == 0 ? -1 : 1)
            rig.run(0.02)
        }
        rig.gimbal.push = .zero
        rig.run(5)
        let error = rig.stabilizer.snapshot.bias - rig.gimbal.gyroBias
        #expect(Angle.radians(error.norm).degrees < 0.05)
    }
}
