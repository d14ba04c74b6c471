import GimbalCore
import Glibc
import Simulation

/// Run of the real stabilizer with the simulated gimbal at 1 kHz, faster than real time.
struct PointingRun {
    /// Event that occurs in a run.
    enum Event {
        case none
        /// Command to turn to the angles, rad, at the given time, s.
        case point(AxisVector, at: Double)
        /// A push on the camera, N·m about its y axis.
        case push(Double, at: Double)
        /// Pan and tilt rates, rad/s, commanded ten times a second in the interval
        /// `from`...`until`, s.
        case track(pan: Double, tilt: Double, from: Double, until: Double)
    }

    var parameters = SimulatedGimbal.Parameters()
    var tuning = Stabilizer.Parameters()
    var motion = HandleMotion.walking
    /// Recorded motion that the handle repeats; replaces `motion`.
    var recording: RecordedMotion?
    /// Duration of the rest before the motion, s (`stillSeconds`), and time in which the motion
    /// grows to its full amplitude, s (`rampSeconds`).
    var stillSeconds = 4.0
    var rampSeconds = 2.0
    var loopHz = 1000
    var seed: UInt64 = 1
    /// True if the accelerometer has been calibrated in six positions.
    var isCalibrated = false
    /// True if the controller with perfect knowledge replaces the stabilizer.
    var isPerfect = false
    var seconds = 55.0
    /// Beginning of the evaluation, s. Before the evaluation, the estimates of gyroscope bias and
    /// friction have converged.
    var settled = 15.0
    var event = Event.none

    /// Results of a run.
    struct Outcome {
        var roll = AngleRecord()
        var pitch = AngleRecord()
        var holdRoll = AngleRecord()
        var holdPitch = AngleRecord()
        /// Angle between the true and the estimated vertical, degrees.
        var tilt = AngleRecord()
        /// RMS of the motor torques above 50 Hz, N·m. The sensor's noise causes the torques above
        /// 50 Hz.
        var hum = TorqueHum()
        /// Time until the motors received the full output, s; NaN if they never received it.
        var start = Double.nan
        /// Time after which the camera always remained within 1° of level, s.
        var level = 0.0
        /// All conditions that were active at any time of the run.
        var conditions: Conditions = .none
        /// Largest rotation of the camera from the start of the motors to the end of the inertia
        /// identification, degrees.
        var searchAngle = 0.0
        /// Ratio of identified to true inertia, on the axis with the largest error.
        var inertiaRatio = Double.nan
        /// Camera rate above 15 Hz after the motors received the full output, deg/s. A large rate
        /// indicates an oscillation of the loop.
        var tremor = AngleRecord()
        /// Largest rate of the camera with the motors on, deg/s.
        var largestRate = 0.0
        /// True roll and pitch and the motors' torque at each tick; empty if the run does not
        /// record these values.
        var trace: [Trace] = []
        /// True pitch, degrees, at each millisecond after the event; the first value is from the
        /// last millisecond before the event.
        var afterEvent: [Double] = []
        /// FNV-1a hash of the bits of all true attitudes and outputs.
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    }

    /// Values of one tick for a plot.
    struct Trace {
        var time: Double
        var handle: AxisVector
        var camera: AxisVector
        var torque: AxisVector
        var mode: Mode
    }

    /// Selects the kind of motors.
    mutating func use(_ type: MotorType) {
        parameters.motor = type
        tuning.motorType = type
    }

    /// Run in which the gimbal is switched on while a person moves it.
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
            tuning.correction = SixPositions.correction(of: parameters.imu, seed: seed)
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
            // The record has 1000 values per second, independent of the loop rate.
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
                loop.ask(.track(pan: pan, tilt: tilt), validUntil: until)
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

/// RMS of the torque above 50 Hz, for the motor with the largest value.
struct TorqueHum {
    private var slow = AxisVector.zero
    private var squares = AxisVector.zero
    private var seconds = 0.0

    /// RMS of the torques, N·m; NaN if there are no samples.
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
    /// Angle between the true vertical and the vertical of an estimated attitude, rad.
    fileprivate func tiltError(of estimate: Quaternion) -> Double {
        let down = Vector3(0, 0, 1)
        let (seen, real) = (estimate.inverseRotate(down), attitude.inverseRotate(down))
        return atan2(seen.cross(real).norm, seen.dot(real))
    }
}

extension PointingRun.Outcome {
    /// Adds the bits of one tick to the FNV-1a hash.
    fileprivate mutating func add(_ attitude: Quaternion, _ output: MotorOutput) {
        for value in [
            attitude.w, attitude.x, attitude.y, attitude.z, output.torque.yaw, output.torque.roll,
            output.torque.pitch, output.angle.yaw, output.angle.roll, output.angle.pitch,
        ] {
            digest = (digest ^ value.bitPattern) &* 0x100_0000_01B3
        }
    }

    /// Response to a step of `degrees` in pitch: settling time to 2 % of the step, s, and
    /// overshoot, percent.
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

    /// Absolute difference, degrees, between the angle after the event and the angle in the same
    /// run without the event, for each millisecond of the first second. The effect of the sensor's
    /// noise cancels.
    func response(against undisturbed: PointingRun.Outcome) -> [Double] {
        zip(afterEvent, undisturbed.afterEvent).prefix(1000).map { abs($0 - $1) }
    }
}
