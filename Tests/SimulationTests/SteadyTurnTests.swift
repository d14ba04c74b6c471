import GimbalCore
import Simulation
import Testing

/// Steady turns that look like rest, on the complete gimbal. Information that distinguishes each
/// case from rest:
///
/// | turn | joint sensors | bias before | distinction from rest | bias error |
/// | --- | --- | --- | --- | --- |
/// | handle, motors hold the camera | yes | known | the joints, and the previous bias | below 0.05 °/s |
/// | camera by command | yes | known | the command and the joints; the handle's rate has a small weight | below 0.05 °/s |
/// | either turn | no | known | the bias is not updated while the motors are on | as before |
/// | handle, motors off | either | known | the previous bias | below 0.05 °/s |
/// | about a level axis | either | unknown | gravity, after one or two seconds | settles again |
/// | about the vertical | either | unknown | none until the next rest | at most the rate, then corrected |
///
/// The sensors are calibrated. A tilted accelerometer, a scale error and misalignment would add a
/// share of the rate (up to 0.02 for an uncalibrated sensor), and a sensor that warms up adds 0.015
/// °/s/K. The loop runs at 500 Hz with 4000 plant steps per second.
@Suite("Gyroscope bias during steady turns")
struct SteadyTurnTests {
    enum Turn: String, CaseIterable {
        case handle = "the handle turns, motors hold the camera"
        case command = "the camera is turned by command"
        case motorsOff = "all turns, motors off"
    }

    /// Rotation about the vertical (yaw), or about a level axis (pitch).
    enum Axis: String, CaseIterable {
        case yaw
        case pitch

        func rate(_ degrees: Double) -> AxisVector {
            let rate = Angle.degrees(degrees).radians
            return self == .yaw
                ? AxisVector(yaw: rate, roll: 0, pitch: 0)
                : AxisVector(yaw: 0, roll: 0, pitch: rate)
        }

        /// Duration of the turn: 120 s, or up to the range of the pitch joint.
        func duration(_ degrees: Double) -> Double { self == .yaw ? 120 : min(120, 80 / degrees) }
    }

    /// Loop at 500 Hz with a calibrated sensor, and statistics of its bias estimate.
    struct Watch {
        var loop: SimulatedLoop
        /// Rate command that is repeated ten times per second, rad/s.
        var command = AxisVector.zero
        /// Largest error of the bias so far, °/s.
        var worst = 0.0
        /// Time during which rest was detected, s.
        var rest = 0.0

        init(_ motion: BaseMotion, encoders: Bool, mode: Mode = .locked) {
            loop = SimulatedLoop(motion, rateHz: 500) { gimbal, tuning in
                gimbal.plant.stepRate = 4000
                // A slip ring permits a yaw of 600°.
                gimbal.plant.jointRange = AxisVector(yaw: 100, roll: 1.2, pitch: 2.4)
                gimbal.plant.cableStiffness = .zero
                gimbal.imu.sampleRate = 500
                gimbal.imu.gyroScaleError = 0
                gimbal.imu.gyroMisalignment = 0
                gimbal.imu.accelBias = 0
                gimbal.imu.accelMisalignment = 0
                gimbal.imu.warmUp = 0
                if !encoders { gimbal.encoderCounts = 0 }
                tuning.bootMode = mode
                tuning.jointRange.minimum.yaw = -.infinity
                tuning.jointRange.maximum.yaw = .infinity
            }
        }

        /// Difference between estimated and true bias, °/s.
        var error: Double {
            Angle.radians((loop.snapshot.bias - loop.gimbal.gyroBias).norm).degrees
        }

        mutating func run(_ seconds: Double, until isDone: (Watch) -> Bool = { _ in false }) {
            for _ in 0..<Int(seconds * 50) where !isDone(self) {
                for _ in 0..<10 {
                    if command != .zero, (loop.tick + 1) % 50 == 0 {
                        let until = loop.next.advanced(bySeconds: 1)
                        loop.stabilizer.apply(.rate(command), validUntil: until, now: loop.next)
                    }
                    loop.step()
                    if loop.snapshot.isAtRest { rest += 0.002 }
                    worst = max(worst, error)
                }
            }
        }
    }

    static let rates = [0.5, 1, 2, 5]

    private func motion(
        _ axis: Axis, _ rate: Double, after still: Double, for duration: Double
    ) -> BaseMotion {
        var motion = BaseMotion(
            .still, seed: 1, stillDuration: still, rampDuration: still > 0 ? 1 : 0.001)
        motion.turnRate = axis.rate(rate)
        motion.turnDuration = duration
        return motion
    }

    @Test(
        "a known bias stays within 0.05 °/s during a steady turn of up to 120 s",
        arguments: Turn.allCases, [true, false])
    func known(turn: Turn, encoders: Bool) {
        for axis in Axis.allCases {
            for rate in Self.rates {
                let duration = axis.duration(rate)
                var base = motion(axis, rate, after: 6, for: duration)
                if turn == .command { base.turnRate = .zero }
                // Rest on a table with the motors off, from which the estimator learns the bias
                // with or without joint sensors.
                var watch = Watch(base, encoders: encoders, mode: .inactive)
                watch.run(4)
                if turn != .motorsOff { watch.loop.ask(.mode(.locked)) }
                watch.run(2)
                #expect(watch.error < 0.03)
                watch.worst = 0
                if turn == .command { watch.command = axis.rate(rate) }
                watch.run(duration)
                #expect(watch.loop.snapshot.output.enabled == (turn != .motorsOff))
                watch.command = .zero
                watch.run(4)
                let worst = watch.worst
                #expect(worst < 0.05, "\(axis) \(rate) °/s: \(worst)")
            }
        }
    }

    @Test(
        "after a turn about a level axis from power-on, gravity corrects the bias",
        arguments: [true, false], [Mode.locked, .inactive])
    func levelAxis(encoders: Bool, mode: Mode) {
        for rate in Self.rates {
            var watch = Watch(
                motion(.pitch, rate, after: 0, for: 40 / rate), encoders: encoders, mode: mode)
            watch.run(40 / rate)
            #expect(watch.worst < rate + 0.6)
            watch.run(10)
            let error = watch.error
            // Without joint sensors, no rest is detected while the motors hold the camera.
            let bound = encoders || mode == .inactive ? 0.05 : 0.1
            #expect(error < bound, "\(rate) °/s: \(error)")
        }
    }

    @Test(
        "a turn about the vertical from power-on changes the bias by at most the rate of the turn",
        arguments: [true, false], [Mode.locked, .inactive])
    func vertical(encoders: Bool, mode: Mode) {
        for rate in Self.rates {
            var watch = Watch(
                motion(.yaw, rate, after: 0, for: 30), encoders: encoders, mode: mode)
            watch.run(36)
            let worst = watch.worst
            #expect(worst < max(rate, 0.5) + 0.1, "\(rate) °/s: \(worst)")
        }
    }

    @Test(
        "rest corrects the bias error of a turn at power-on within 30 s after a short turn, and 190 s after a long one",
        arguments: [(1.2, 30.0), (120, 190)])
    func recovery(turn: Double, limit: Double) {
        for (rate, mode) in [(0.5, Mode.locked), (2, .locked), (1, .inactive)] {
            var watch = Watch(motion(.yaw, rate, after: 0, for: turn), encoders: true, mode: mode)
            watch.run(turn)
            #expect(watch.error > 0.3, "the estimator has learned a wrong bias from the turn")
            let begin = watch.loop.now
            watch.run(limit + 30) { $0.error < 0.05 }
            let time = watch.loop.now.seconds(since: begin)
            #expect(time < limit, "\(rate) °/s: \(time) s")
        }
    }
}
