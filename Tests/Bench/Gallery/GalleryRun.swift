import Configuration
import GimbalCore
import Glibc
import PlainText
import Simulation
import Wire

/// Run of one random gimbal with one motion of the handle. The tuning comes from a daemon whose
/// configuration contains only the kind of motor and the loop's rate.
struct GalleryRun {
    var gimbal: DrawnGimbal
    var motion: HandleMotion
    /// Total duration of the run, and beginning of the evaluation, s. Before the evaluation the
    /// controller identifies inertia and delay.
    var seconds = 18.0
    var settled = 8.0
    /// True if the run prints the camera's angles and all estimates every 20 ms.
    var isTraced = false

    /// Results of the run; angles are in degrees, times in seconds.
    struct Outcome {
        /// Time until the camera first follows a set-point, s; NaN if it never does.
        var start = Double.nan
        /// RMS of the camera's angle above 1 Hz, the larger value of roll and pitch.
        var shake = Double.nan
        /// RMS deviation of the camera's angle from the mean angle, the larger value of roll and
        /// pitch.
        var hold = Double.nan
        /// Largest deviation of the camera's tilt from the mean tilt.
        var largest = Double.nan
        /// Largest RMS of the camera's true motion above 15 Hz over half a second: `tremor` of the
        /// rate, deg/s; `buzz` of the angle, degrees.
        var tremor = 0.0
        var buzz = 0.0
        /// RMS of the handle's angle above 15 Hz, degrees.
        var handleBuzz = 0.0
        /// Largest rotation of the camera from the start of the motors until it first follows a
        /// set-point.
        var searchAngle = 0.0
        /// True if the outputs have been switched off during the run.
        var isShutOff = false
        /// All conditions of the run that report a fault.
        var faults: Conditions = .none
        /// Ratio of identified to true inertia, on the axis with the largest error. If a motor is
        /// stronger than its model, the inertia appears smaller. The ratio is corrected for this
        /// effect.
        var inertiaRatio = Double.nan

        /// True if the motors stay on, and the camera's tilt stays within 5° of its mean.
        var isHeld: Bool { !isShutOff && largest < 5 }
        /// True if the camera's tremor exceeds the handle's tremor, and exceeds the tremor that
        /// noise, friction and a servo's pulses cause.
        var isOscillating: Bool {
            Tremor.Window(rate: tremor, angle: buzz).isTrembling(beside: handleBuzz) || tremor > 60
        }
    }

    /// Conditions that report a fault. A random gimbal has no fault. A condition that reports a
    /// fault is therefore a false alarm.
    static var faults: Conditions {
        .responseReversed | .gyroContradicted | .imuFrozen | .imuImplausible | .imuStale
            | .imuTimeFault | .gravityMismatch | .controlFault | .loopOscillating | .inertiaNotFound
            | .motorStalled | .loopUnreliable | .imuSaturated | .attitudeDoubtful
    }

    /// The tuning that the daemon computes if only the kind of motor and the loop's rate are
    /// configured.
    var tuning: Stabilizer.Parameters {
        get throws { try gimbal.tuning(loopHz: gimbal.loopHz) }
    }

    func run() throws -> Outcome {
        let degrees = 180 / Double.pi
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: gimbal.parameters,
                motion: BaseMotion(motion, seed: gimbal.seed, stillDuration: 1, rampDuration: 1),
                seed: gimbal.seed),
            try tuning, rateHz: gimbal.loopHz)
        var outcome = Outcome()
        var (roll, pitch) = (AngleRecord(), AngleRecord())
        var tilts: [(roll: Double, pitch: Double)] = []
        var tremor = Tremor()
        var handle = Tremor()
        var held: Quaternion?
        var wasEnabled = false
        let dt = 1 / Double(gimbal.loopHz)
        for tick in 1...Int(seconds / dt) {
            let time = Double(tick) * dt
            loop.advance(to: Instant(nanoseconds: Int64(time * 1e9)))
            loop.drive()
            let (simulated, snapshot) = (loop.gimbal, loop.snapshot)
            if snapshot.output.enabled, outcome.start.isNaN {
                let start = held ?? simulated.attitude
                held = start
                outcome.searchAngle = max(
                    outcome.searchAngle, start.error(to: simulated.attitude).norm * degrees)
                if snapshot.authority == 1, !snapshot.conditions.intersects(.inertiaUnknown) {
                    outcome.start = time
                }
            }
            if wasEnabled, !snapshot.output.enabled { outcome.isShutOff = true }
            wasEnabled = snapshot.output.enabled
            outcome.faults.insert(Self.faults.common(with: snapshot.conditions))
            let isSettled = time > settled
            tremor.note(simulated.rate * degrees, counts: isSettled, dt: dt)
            handle.note(simulated.base.rate * degrees, counts: isSettled, dt: dt)
            if isTraced, tick % max(1, gimbal.loopHz / 50) == 0 {
                trace(time, loop, tremor.present.rate)
            }
            guard isSettled else { continue }
            let angles = EulerZXY.angles(simulated.attitude) * degrees
            // The record has 1000 values per second, independent of the loop rate.
            while Double(tilts.count) < (time - settled) * Double(AngleRecord.rate) {
                roll.append(angles.roll)
                pitch.append(angles.pitch)
                tilts.append((angles.roll, angles.pitch))
            }
        }
        outcome.tremor = tremor.largest.rate
        outcome.buzz = tremor.largest.angle
        outcome.handleBuzz = handle.largest.angle
        outcome.shake = max(roll.shake, pitch.shake)
        let centre = (roll: roll.mean, pitch: pitch.mean)
        outcome.hold = max(
            roll.rms(about: centre.roll), pitch.rms(about: centre.pitch))
        outcome.largest =
            tilts.map { max(abs($0.roll - centre.roll), abs($0.pitch - centre.pitch)) }.max()
            ?? .nan
        if !loop.snapshot.output.enabled { outcome.isShutOff = true }
        let (found, truth) = (loop.snapshot.inertia, gimbal.parameters.plant.inertia)
        for axis in GimbalAxis.allCases {
            let ratio = found[axis] * gimbal.parameters.motorConstant[axis] / truth[axis]
            if outcome.inertiaRatio.isNaN
                || abs(log(ratio)) > abs(log(outcome.inertiaRatio))
            {
                outcome.inertiaRatio = ratio
            }
        }
        return outcome
    }

    private func trace(_ time: Double, _ loop: SimulatedLoop, _ tremor: Double) {
        let degrees = 180 / Double.pi
        let snapshot = loop.snapshot
        let (angles, torque) = (EulerZXY.angles(loop.gimbal.attitude) * degrees, loop.gimbal.torque)
        let (sigma, found) = (snapshot.inertiaSigma, snapshot.inertia)
        func row(_ vector: AxisVector, _ decimals: Int) -> String {
            "\(Format.fixed(vector.yaw, decimals)) \(Format.fixed(vector.roll, decimals))"
                + " \(Format.fixed(vector.pitch, decimals))"
        }
        print(
            "\(Format.fixed(time, 2)) angle \(row(angles, 2)) torque \(row(torque, 3)) tremor"
                + " \(Format.fixed(tremor, 2)) inertia \(row(found * 1e3, 3)) sigma"
                + " \(row(sigma, 2)) \(snapshot.phase) \(snapshot.conditions.names)")
    }
}

extension DrawnGimbal {
    /// The tuning that the daemon computes if only the kind of motor and the loop's rate are
    /// configured.
    ///
    /// - Parameters:
    ///   - loopHz: Ticks per second.
    ///   - settings: Additional settings, `key=value`.
    /// - Returns: All parameters of the controller.
    /// - Throws: The error of `ConfigurationLoader` about a setting.
    func tuning(loopHz: Int, with settings: [String] = []) throws -> Stabilizer.Parameters {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                config: "/dev/null",
                overrides: [
                    "loop.rate_hz=\(loopHz)", "motors.type=\(parameters.motor)",
                    "motors.torque_limit_nm=[\(torqueLimit), \(torqueLimit), \(torqueLimit)]",
                ] + settings))
        return loaded.settings.stabilizerParameters
    }
}

extension Conditions {
    /// Intersection of the two sets of conditions.
    fileprivate func common(with other: Conditions) -> Conditions {
        subtracting(subtracting(other))
    }

    /// Names of the conditions.
    var names: String {
        Conditions.catalogue.filter { intersects($0.condition) }.map(\.name)
            .joined(separator: " ")
    }
}
