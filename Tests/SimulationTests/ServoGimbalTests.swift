import GimbalCore
import Simulation
import Testing

/// The whole mind on a gimbal with servos, carried by somebody who walks.
@Suite("Gimbal with servos, walking")
struct ServoGimbalTests {
    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        var tick = 0

        init(
            seed: UInt64 = 1, unevenness: Double = 0,
            tune: (inout Stabilizer.Parameters) -> Void = { _ in }
        ) {
            var parameters = SimulatedGimbal.Parameters()
            parameters.motor = .servo
            var motion = BaseMotion(.walking, seed: seed, stillDuration: 3)
            motion.unevenness = unevenness
            gimbal = SimulatedGimbal(parameters: parameters, motion: motion, seed: seed)
            var tuning = Stabilizer.Parameters()
            tuning.motorType = .servo
            tune(&tuning)
            stabilizer = Stabilizer(parameters: tuning)
        }

        /// The camera's distance from where it is to look, degrees, RMS over so many seconds; infinite when the motors go off.
        mutating func error(_ seconds: Double) -> Double {
            var sum = 0.0
            for _ in 0..<Int(seconds * 1000) {
                tick += 1
                let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                gimbal.apply(stabilizer.step(now: now), at: now)
                if tick > 3000, !stabilizer.snapshot.output.enabled { sum = .infinity }
                sum += stabilizer.snapshot.attitudeError.squaredNorm
            }
            return (sum / (seconds * 1000)).squareRoot() * 180 / .pi
        }
    }

    @Test(
        "steps are learned within seconds, even or not",
        arguments: [(0.0, 0.1), (0.03, 0.2), (0.06, 0.3)])
    func learned(unevenness: Double, most: Double) {
        for seed in UInt64(1)...3 {
            var rig = Rig(seed: seed, unevenness: unevenness)
            _ = rig.error(11)
            let error = rig.error(6)
            #expect(error < most, "seed \(seed)")
        }
    }

    @Test("a camera that turns aside is held there as well at once")
    func aside() {
        var rig = Rig()
        _ = rig.error(12)
        let before = rig.error(3)
        let aside = AxisVector(yaw: 1.3, roll: 0, pitch: 0)
        rig.stabilizer.apply(
            .point(target: aside, duration: 1),
            now: Instant(nanoseconds: Int64(rig.tick) * 1_000_000))
        _ = rig.error(1.5)
        let after = rig.error(1.5)
        #expect(after < 3 * before, "\(after), \(before)")
    }

    @Test(
        "whatever an app's PID sliders say, walking does not swing the camera",
        arguments: [0.0, 1], [0.0, 1])
    func sliders(p: Double, i: Double) {
        for d in [0.0, 1] {
            let tilt = PIDTriple(p: 5 * p, i: i, d: 0.5 * d)
            let pan = PIDTriple(p: 3 * p, i: 0.5 * i, d: 0.2 * d)
            var rig = Rig { $0.servo = $0.servo.scaled(yaw: pan, roll: tilt, pitch: tilt) }
            _ = rig.error(11)
            let error = rig.error(4)
            #expect(error < 0.5, "d \(d)")
        }
    }
}
