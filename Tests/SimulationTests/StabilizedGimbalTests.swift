import GimbalCore
import Simulation
import Testing

/// The complete stabilizer on the simulated gimbal: real estimator, supervisor and controller,
/// noisy sensor.
@Suite("Stabilised gimbal")
struct StabilizedGimbalTests {
    static let degrees = 180 / Double.pi

    @Test("after a start at rest, the motors switch on within 1 s, and only when the bias is known")
    func start() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        var isEarly = false
        loop.run(seconds: 1) { loop in
            let sigma = loop.snapshot.biasSigma.norm * Self.degrees
            if loop.output.enabled, sigma > 0.3 { isEarly = true }
        }
        #expect(!isEarly)
        #expect(loop.output.enabled)
        loop.run(seconds: 3)
        #expect(loop.output.enabled && loop.snapshot.authority == 1)
        let error = loop.snapshot.bias - loop.gimbal.gyroBias
        #expect(error.norm * Self.degrees < 0.05)
    }

    @Test("while a person walks, jitter stays below 0.06° RMS in roll and pitch")
    func walking() {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 1))
        loop.run(seconds: 9)
        var roll: [Double] = []
        var pitch: [Double] = []
        loop.run(seconds: 10) {
            roll.append($0.camera.roll)
            pitch.append($0.camera.pitch)
        }
        #expect(Self.jitter(roll) < 0.06)
        #expect(Self.jitter(pitch) < 0.06)
    }

    @Test("a pitch command of 30° settles within 0.5 s, and overshoots by less than 5 %")
    func pitchStep() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 5)
        let before = loop.camera.pitch
        loop.ask(
            .point(target: AxisVector(yaw: .nan, roll: 0, pitch: 30 / Self.degrees), duration: 0))
        loop.run(seconds: 0.5) { #expect($0.camera.pitch - before < 31.5) }
        loop.run(seconds: 1) { #expect(abs($0.camera.pitch - before - 30) < 0.6) }
    }

    @Test(
        "a failing sensor turns the outputs off, and they switch on again when the sensor works",
        arguments: [SensorFault.frozen, .notANumber, .infinite, .dropOut])
    func fault(_ fault: SensorFault) {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 4.5)
        #expect(loop.output.enabled)
        loop.gimbal.fault = fault
        loop.run(seconds: 1) {
            #expect($0.output.torque.isFinite && $0.snapshot.attitude.isFinite)
        }
        #expect(!loop.output.enabled)
        loop.gimbal.fault = nil
        loop.run(seconds: 4)
        #expect(loop.output.enabled)
        #expect(abs(loop.camera.pitch) < 3 && abs(loop.camera.roll) < 3)
    }

    @Test(
        "a sensor clock that drifts past the loop's clock causes no jerk in a turn",
        arguments: [1, 2, 3] as [UInt64])
    func clockSlip(seed: UInt64) {
        var imu = IMUModel.Parameters()
        imu.gyroNoiseDensity = 0
        imu.isQuantized = false
        imu.clockError = 0.05
        var loop = SimulatedLoop(BaseMotion(.still, seed: seed), seed: seed) { gimbal, _ in
            gimbal.imu = imu
        }
        loop.run(seconds: 6)
        loop.ask(.point(target: AxisVector(yaw: .nan, roll: 0, pitch: 0.5), duration: 0))
        var slips = 0
        var samples = loop.snapshot.samples.accepted
        var torque = loop.output.torque.pitch
        var kick = 0.0
        loop.run(seconds: 0.2) { loop in
            let accepted = loop.snapshot.samples.accepted
            if accepted != samples + 1 { slips += 1 }
            samples = accepted
            kick = max(kick, abs(loop.output.torque.pitch - torque))
            torque = loop.output.torque.pitch
        }
        #expect(slips > 0)
        #expect(kick < 0.02)
    }

    @Test("servos hold the camera level while a person walks")
    func servos() {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 1), motor: .servo)
        loop.run(seconds: 8)
        var roll: [Double] = []
        loop.run(seconds: 4) { roll.append($0.camera.roll) }
        #expect(Self.jitter(roll) < 0.5)
    }

    @Test("equal seeds give identical runs, and different seeds give different runs")
    func determinism() {
        func run(_ seed: UInt64) -> SimulatedLoop {
            var loop = SimulatedLoop(BaseMotion(.walking, seed: seed), seed: seed)
            loop.run(seconds: 5)
            return loop
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
