import GimbalCore
import Simulation
import Testing

@Suite("The stabilised gimbal with something wrong")
struct StabilizerFaultTests {
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

    @Test(
        "one sample that is not a number is counted and costs no more than a dip of the authority")
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

    @Test("an emergency stop is off at once and latched, and a mode alone does not end it")
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

    @Test("a shutdown cannot be taken back")
    func shutdown() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.ask(.shutdown)
        loop.ask(.mode(.locked))
        loop.run(seconds: 2)
        #expect(!loop.output.enabled)
        #expect(loop.conditions.intersects(.shutdown))
    }

    @Test("a rate command ends with its dead-man, says so, and the camera stands still")
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

    @Test("an axis that a point leaves out keeps where it was going")
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

    @Test("a point that comes before the outputs are on is where they go")
    func earlyPoint() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 0.1)
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: -0.4)
        loop.ask(.point(target: target, duration: 0))
        loop.run(seconds: 3)
        #expect(abs(EulerZXY.angles(loop.gimbal.attitude).pitch + 0.4) < 0.02)
    }

    @Test("after a fault it returns to the pitch it was told, and to the heading that it has then")
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
        #expect(abs(angles.yaw - 0.3) > 0.05, "the heading was turned by hand and stays")
    }

    @Test("a joint beyond its range is named")
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

    @Test("started in the hand of somebody who walks, it is level within 2° after 3 s")
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

    @Test("motors that came on before the bias was known do not hide it: the joints show it")
    func biasBehindMotors() {
        // Bumped until the motors are on, then at rest on a table.
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
}
