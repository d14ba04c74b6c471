import GimbalCore
import Simulation

/// The real Stabilizer over the simulated gimbal at 1 kHz, faster than real time.
struct PointingRun {
    /// What happens at a time of the run, seconds.
    enum Event {
        case none
        /// A command of the user.
        case point(AxisVector, at: Double)
        /// A push on the camera, N·m about its y axis.
        case push(Double, at: Double)
    }

    var parameters = SimulatedGimbal.Parameters()
    var tuning = Stabilizer.Parameters()
    var motion = BaseMotion.Kind.walking
    var seed: UInt64 = 1
    var seconds = 55.0
    /// From here on the figures count: start, learning of bias and friction are over.
    var settled = 15.0
    var event = Event.none

    /// What came out.
    struct Outcome {
        var roll = AngleRecord()
        var pitch = AngleRecord()
        var holdRoll = AngleRecord()
        var holdPitch = AngleRecord()
        /// Seconds until the motors had full authority; NaN = never.
        var start = Double.nan
        /// True pitch, degrees, at each millisecond after the event; the last value before it comes first.
        var afterEvent: [Double] = []
        /// Over all bits of all true attitudes and outputs.
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    }

    func run() -> Outcome {
        let degrees = 180 / Double.pi
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(motion, seed: seed), seed: seed)
        var stabilizer = Stabilizer(parameters: tuning)
        var outcome = Outcome()
        for tick in 1...Int(seconds * 1000) {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            gimbal.advance(to: now) { stabilizer.integrate($0) }
            apply(at: tick, to: &stabilizer, &gimbal, now: now)
            let output = stabilizer.step(now: now)
            gimbal.apply(output, at: now)

            let angles = EulerZXY.angles(gimbal.attitude) * degrees
            if outcome.start.isNaN, stabilizer.snapshot.authority == 1 {
                outcome.start = Double(tick) * 1e-3
            }
            if Double(tick) * 1e-3 > settled {
                outcome.roll.append(angles.roll)
                outcome.pitch.append(angles.pitch)
                outcome.holdRoll.append(stabilizer.snapshot.attitudeError.x * degrees)
                outcome.holdPitch.append(stabilizer.snapshot.attitudeError.y * degrees)
            }
            if tick + 1 >= eventTick { outcome.afterEvent.append(angles.pitch) }
            outcome.add(gimbal.attitude, output)
        }
        return outcome
    }

    private var eventTick: Int {
        switch event {
        case .none: Int.max
        case .point(_, let time), .push(_, let time): Int(time * 1000)
        }
    }

    private func apply(
        at tick: Int, to stabilizer: inout Stabilizer, _ gimbal: inout SimulatedGimbal,
        now: Instant
    ) {
        guard tick == eventTick else { return }
        switch event {
        case .none: break
        case .point(let target, _): stabilizer.apply(.point(target: target, duration: 0), now: now)
        case .push(let moment, _): gimbal.push = Vector3(0, moment, 0)
        }
    }
}

extension PointingRun.Outcome {
    /// FNV-1a over the bits of one tick.
    fileprivate mutating func add(_ attitude: Quaternion, _ output: MotorOutput) {
        for value in [
            attitude.w, attitude.x, attitude.y, attitude.z, output.torque.yaw, output.torque.roll,
            output.torque.pitch, output.angle.yaw, output.angle.roll, output.angle.pitch,
        ] {
            digest = (digest ^ value.bitPattern) &* 0x100_0000_01B3
        }
    }

    /// Seconds after the event until the pitch stays within 2 % of a step of `degrees`, and overshoot in percent.
    func step(_ degrees: Double) -> (settling: Double, overshoot: Double) {
        guard let before = afterEvent.first else { return (.nan, .nan) }
        var settling = 0.0
        var overshoot = 0.0
        for (millisecond, angle) in afterEvent.prefix(2000).enumerated() {
            let progress = (angle - before) / degrees
            if abs(progress - 1) > 0.02 { settling = Double(millisecond) * 1e-3 }
            overshoot = max(overshoot, (progress - 1) * 100)
        }
        return (settling, overshoot)
    }

    /// Largest displacement after the event, and the largest from 0.15 s after it on, degrees.
    func displacement() -> (peak: Double, late: Double) {
        guard let before = afterEvent.first else { return (.nan, .nan) }
        let moved = afterEvent.prefix(1000).map { abs($0 - before) }
        return (moved.max() ?? .nan, moved.dropFirst(150).max() ?? .nan)
    }
}
