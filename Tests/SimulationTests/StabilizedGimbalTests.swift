import GimbalCore
import Simulation
import Testing

/// The whole mind on the whole gimbal: real estimator, supervisor and controller, noisy sensor.
@Suite("Stabilised gimbal")
struct StabilizedGimbalTests {
    static let degrees = 180 / Double.pi

    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        var output = MotorOutput.off
        var tick = 0

        init(
            _ kind: BaseMotion.Kind, seed: UInt64 = 1, motor: MotorType = .torque,
            imu: IMUModel.Parameters = .init()
        ) {
            var parameters = SimulatedGimbal.Parameters()
            parameters.motor = motor
            parameters.imu = imu
            gimbal = SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(kind, seed: seed), seed: seed)
            var tuning = Stabilizer.Parameters()
            tuning.motorType = motor
            stabilizer = Stabilizer(parameters: tuning)
        }

        var now: Instant { Instant(nanoseconds: Int64(tick) * 1_000_000) }
        var angles: AxisVector { EulerZXY.angles(gimbal.attitude) * StabilizedGimbalTests.degrees }

        /// One millisecond.
        mutating func step() {
            tick += 1
            let time = now
            gimbal.advance(to: time) { stabilizer.integrate($0) }
            output = stabilizer.step(now: time)
            gimbal.apply(output, at: time)
        }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * 1000) {
                step()
                each(self)
            }
        }
    }

    @Test("switched on at rest, the motors come on within 1 s, and not before the bias is known")
    func start() {
        var rig = Rig(.still)
        var isEarly = false
        rig.run(1) { rig in
            let sigma = rig.stabilizer.snapshot.biasSigma.norm * Self.degrees
            if rig.output.enabled, sigma > 0.3 { isEarly = true }
        }
        #expect(!isEarly)
        #expect(rig.output.enabled)
        rig.run(3)
        #expect(rig.output.enabled && rig.stabilizer.snapshot.authority == 1)
        let error = rig.stabilizer.snapshot.bias - rig.gimbal.gyroBias
        #expect(error.norm * Self.degrees < 0.05)
    }

    @Test("walking, jitter stays below 0.06° RMS in roll and pitch while the handle moves 3°")
    func walking() {
        var rig = Rig(.walking)
        rig.run(9)
        var roll: [Double] = []
        var pitch: [Double] = []
        rig.run(10) {
            roll.append($0.angles.roll)
            pitch.append($0.angles.pitch)
        }
        #expect(Self.jitter(roll) < 0.06)
        #expect(Self.jitter(pitch) < 0.06)
    }

    @Test("a commanded 30° of pitch settles within 0.5 s, overshoots by less than 5 %")
    func pitchStep() {
        var rig = Rig(.still)
        rig.run(5)
        let before = rig.angles.pitch
        rig.stabilizer.apply(
            .point(target: AxisVector(yaw: .nan, roll: 0, pitch: 30 / Self.degrees), duration: 0),
            now: rig.now)
        rig.run(0.5) { #expect($0.angles.pitch - before < 31.5) }
        rig.run(1) { #expect(abs($0.angles.pitch - before - 30) < 0.6) }
    }

    @Test(
        "a failing sensor turns the outputs off, and they come back when it works again",
        arguments: [SensorFault.frozen, .notANumber, .infinite, .dropOut])
    func fault(_ fault: SensorFault) {
        var rig = Rig(.still)
        rig.run(4.5)
        #expect(rig.output.enabled)
        rig.gimbal.fault = fault
        rig.run(1) {
            #expect($0.output.torque.isFinite && $0.stabilizer.snapshot.attitude.isFinite)
        }
        #expect(!rig.output.enabled)
        rig.gimbal.fault = nil
        rig.run(4)
        #expect(rig.output.enabled)
        #expect(abs(rig.angles.pitch) < 3 && abs(rig.angles.roll) < 3)
    }

    @Test(
        "where the sensor's clock slips past the loop's, a turn goes on without a kick",
        arguments: [1, 2, 3] as [UInt64])
    func clockSlip(seed: UInt64) {
        var imu = IMUModel.Parameters()
        imu.gyroNoiseDensity = 0
        imu.isQuantized = false
        imu.clockError = 0.05
        var rig = Rig(.still, seed: seed, imu: imu)
        rig.run(6)
        rig.stabilizer.apply(
            .point(target: AxisVector(yaw: .nan, roll: 0, pitch: 0.5), duration: 0), now: rig.now)
        var slips = 0
        var samples = rig.stabilizer.snapshot.samples.accepted
        var torque = rig.output.torque.pitch
        var kick = 0.0
        rig.run(0.2) { rig in
            let accepted = rig.stabilizer.snapshot.samples.accepted
            if accepted != samples + 1 { slips += 1 }
            samples = accepted
            kick = max(kick, abs(rig.output.torque.pitch - torque))
            torque = rig.output.torque.pitch
        }
        #expect(slips > 0)
        #expect(kick < 0.02)
    }

    @Test("servos hold the camera level while walking")
    func servos() {
        var rig = Rig(.walking, motor: .servo)
        rig.run(8)
        var roll: [Double] = []
        rig.run(4) { roll.append($0.angles.roll) }
        #expect(Self.jitter(roll) < 0.5)
    }

    @Test("the same seed gives the same run bit for bit, another seed another run")
    func determinism() {
        func run(_ seed: UInt64) -> Rig {
            var rig = Rig(.walking, seed: seed)
            rig.run(5)
            return rig
        }
        let first = run(5)
        let again = run(5)
        #expect(first.gimbal.attitude == again.gimbal.attitude)
        #expect(first.output.torque == again.output.torque)
        #expect(first.output.torque != .zero)
        #expect(run(6).gimbal.attitude != first.gimbal.attitude)
    }

    static func jitter(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        let sum = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (sum / Double(values.count)).squareRoot()
    }
}
