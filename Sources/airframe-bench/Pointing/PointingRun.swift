import GimbalCore
import Glibc
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
        /// Somebody who tracks a person from one time to another, ten times a second, and then
        /// falls silent; rad/s.
        case track(pan: Double, tilt: Double, from: Double, until: Double)
    }

    var parameters = SimulatedGimbal.Parameters()
    var tuning = Stabilizer.Parameters()
    var motion = HandleMotion.walking
    /// Played in the place of `motion`.
    var recording: RecordedMotion?
    /// Seconds of stillness before the motion, and over which it grows.
    var stillSeconds = 4.0
    var rampSeconds = 2.0
    var loopHz = 1000
    var seed: UInt64 = 1
    /// Whether the accelerometer has been through its six positions.
    var isCalibrated = false
    /// Whether a controller that knows everything takes the stabilizer's place.
    var isPerfect = false
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
        /// Angle between the true vertical and the estimate's, degrees.
        var tilt = AngleRecord()
        /// Torques above 50 Hz: what the sensor's noise makes the motors do.
        var hum = TorqueHum()
        /// Seconds until the motors had full authority; NaN = never.
        var start = Double.nan
        /// Seconds until the camera was within 1° of level for good.
        var level = 0.0
        /// All that held at some time.
        var conditions: Conditions = .none
        /// Largest turn between the motors' start and the inertia being found, degrees.
        var searchAngle = 0.0
        /// Found inertia against the true one: the farthest of the three.
        var inertiaRatio = Double.nan
        /// Rate above 15 Hz once full authority is reached: what an oscillation would show, deg/s.
        var tremor = AngleRecord()
        /// Camera's rate with the motors on, largest, deg/s.
        var largestRate = 0.0
        /// True roll and pitch and the motors' torque at each tick, where asked for.
        var trace: [Trace] = []
        /// True pitch, degrees, at each millisecond after the event; the last value before it comes
        /// first.
        var afterEvent: [Double] = []
        /// Over all bits of all true attitudes and outputs.
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    }

    /// One tick of a run, for pictures.
    struct Trace {
        var time: Double
        var handle: AxisVector
        var camera: AxisVector
        var torque: AxisVector
        var mode: Mode
    }

    /// Drives the joints in this way.
    mutating func use(_ type: MotorType) {
        parameters.motor = type
        tuning.motorType = type
    }

    /// Switched on while somebody already carries the gimbal.
    static func inMotion(_ motion: HandleMotion, seed: UInt64, seconds: Double) -> PointingRun {
        var run = PointingRun()
        run.motion = motion
        run.seed = seed
        run.stillSeconds = 0
        run.rampSeconds = 0
        run.isCalibrated = true
        run.seconds = seconds
        run.settled = seconds
        return run
    }

    func run(tracing: Bool = false) -> Outcome {
        let degrees = 180 / Double.pi
        let base =
            recording.map { BaseMotion($0, stillDuration: stillSeconds) }
            ?? BaseMotion(
                motion, seed: seed, stillDuration: stillSeconds, rampDuration: rampSeconds)
        var tuning = tuning
        if isCalibrated {
            tuning.correction.accel = SixPositions.correction(of: parameters.imu, seed: seed)
        }
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: isPerfect ? PerfectKnowledge.undelayed(parameters) : parameters,
                motion: base, seed: seed),
            tuning, rateHz: loopHz)
        var perfect = PerfectKnowledge(tuning.setpoint)
        var outcome = Outcome()
        var watch = StartWatch()
        let period = 1_000_000_000 / Int64(loopHz)
        for tick in 1...Int(seconds * Double(loopHz)) {
            loop.advance(to: Instant(nanoseconds: Int64(tick) * period))
            apply(to: &loop, &perfect)
            if isPerfect {
                loop.drive(perfect.step(loop.gimbal, now: loop.now, dt: 1 / Double(loopHz)))
            } else {
                loop.drive()
            }
            let (time, output) = (loop.seconds, loop.output)
            let (gimbal, snapshot) = (loop.gimbal, loop.snapshot)
            let angles = EulerZXY.angles(gimbal.attitude) * degrees
            if outcome.start.isNaN, isPerfect || snapshot.authority == 1 {
                outcome.start = time
            }
            watch.note(time, gimbal, snapshot, &outcome)
            outcome.conditions.insert(snapshot.conditions)
            // The record is kept at 1 kHz whatever the loop does.
            if time > settled {
                let error =
                    isPerfect
                    ? gimbal.attitude.error(to: perfect.attitude)
                    : snapshot.attitudeError
                let tilt = gimbal.tiltError(of: snapshot.attitude) * degrees
                outcome.hum.note(output.torque, dt: 1 / Double(loopHz))
                while Double(outcome.tilt.count) < (time - settled) * Double(AngleRecord.rate) {
                    outcome.tilt.append(tilt)
                    outcome.roll.append(angles.roll)
                    outcome.pitch.append(angles.pitch)
                    outcome.holdRoll.append(error.x * degrees)
                    outcome.holdPitch.append(error.y * degrees)
                }
            }
            if tick + 1 >= eventTick { outcome.afterEvent.append(angles.pitch) }
            if tracing {
                outcome.trace.append(
                    Trace(
                        time: time, handle: EulerZXY.angles(gimbal.base.attitude) * degrees,
                        camera: angles, torque: output.torque,
                        mode: snapshot.mode))
            }
            outcome.add(gimbal.attitude, output)
        }
        let found = loop.snapshot.inertia
        let truth = parameters.plant.inertia
        for ratio in [found.yaw / truth.yaw, found.roll / truth.roll, found.pitch / truth.pitch]
        where outcome.inertiaRatio.isNaN || abs(log(ratio)) > abs(log(outcome.inertiaRatio)) {
            outcome.inertiaRatio = ratio
        }
        return outcome
    }

    private var eventTick: Int {
        switch event {
        case .none: Int.max
        case .point(_, let time), .push(_, let time), .track(_, _, let time, _):
            Int(time * Double(loopHz))
        }
    }

    private func apply(to loop: inout SimulatedLoop, _ perfect: inout PerfectKnowledge) {
        let tick = loop.tick
        if case .track(let pan, let tilt, let from, let until) = event {
            let sinceStart = tick - Int(from * Double(loopHz))
            if sinceStart == 0 { loop.ask(.mode(.tracking)) }
            if sinceStart >= 0, tick < Int(until * Double(loopHz)), sinceStart % (loopHz / 10) == 0
            {
                let until = loop.now.advanced(bySeconds: 1)
                loop.ask(.track(pan: pan, tilt: tilt, validUntil: until))
            }
        }
        guard tick == eventTick else { return }
        switch event {
        case .none, .track: break
        case .point(let target, _):
            loop.ask(.point(target: target, duration: 0))
            perfect.point(to: target)
        case .push(let moment, _): loop.gimbal.push = Vector3(0, moment, 0)
        }
    }
}

/// RMS of the motors' torques above 50 Hz, the largest of the three.
struct TorqueHum {
    private var slow = AxisVector.zero
    private var squares = AxisVector.zero
    private var seconds = 0.0

    /// N·m; NaN: nothing was noted.
    var rms: Double {
        let mean = squares * (1 / seconds)
        return max(mean.yaw, mean.roll, mean.pitch).squareRoot()
    }

    mutating func note(_ torque: AxisVector, dt: Double) {
        slow = slow + (torque - slow) * (1 - exp(-2 * Double.pi * 50 * dt))
        let fast = torque - slow
        squares =
            squares
            + AxisVector(
                yaw: fast.yaw * fast.yaw, roll: fast.roll * fast.roll,
                pitch: fast.pitch * fast.pitch) * dt
        seconds += dt
    }
}

extension SimulatedGimbal {
    /// Angle between the true vertical and that of an estimate, rad.
    fileprivate func tiltError(of estimate: Quaternion) -> Double {
        let down = Vector3(0, 0, 1)
        let (seen, real) = (estimate.inverseRotate(down), attitude.inverseRotate(down))
        return atan2(seen.cross(real).norm, seen.dot(real))
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

    /// Seconds after the event until the pitch stays within 2 % of a step of `degrees`, and
    /// overshoot in percent.
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

    /// Angle after the event less that of the same run without it, degrees, at each millisecond of
    /// the first second. What the sensor's noise does to both is not in it.
    func response(against undisturbed: PointingRun.Outcome) -> [Double] {
        zip(afterEvent, undisturbed.afterEvent).prefix(1000).map { abs($0 - $1) }
    }
}
