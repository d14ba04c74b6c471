import Configuration
import GimbalCore
import Glibc
import PlainText
import Simulation
import Wire

/// One drawn gimbal with the daemon's own tuning for what its owner knows, carried in one way.
struct GalleryRun {
    var gimbal: DrawnGimbal
    var motion: HandleMotion
    /// Seconds in all, and from which on the figures count: the search for inertia and delay is
    /// over.
    var seconds = 18.0
    var settled = 8.0
    /// Prints where the camera points, with all that is told of it, each 20 ms.
    var isTraced = false

    /// The figures; angles in degrees.
    struct Outcome {
        /// Until a set-point was followed, s; NaN: never.
        var start = Double.nan
        /// RMS above 1 Hz of roll or pitch, whichever is larger.
        var shake = Double.nan
        /// RMS about the mean of roll or pitch, whichever is larger.
        var hold = Double.nan
        /// Largest tilt from where it was on the average.
        var largest = Double.nan
        /// Largest RMS over half a second of the true rate above 15 Hz, deg/s, and of the angle
        /// that belongs to it.
        var tremor = 0.0
        var buzz = 0.0
        /// The same angle of the handle.
        var handleBuzz = 0.0
        /// Largest turn from the motors' start until a set-point was followed.
        var searchAngle = 0.0
        /// Outputs that were on have gone off.
        var isShutOff = false
        /// All conditions that name a fault.
        var faults: Conditions = .none
        /// Found inertia over the true one, the farthest of the axes; a motor that is stronger
        /// makes it smaller.
        var inertiaRatio = Double.nan

        /// A camera that stays where it should be.
        var isHeld: Bool { !isShutOff && largest < 5 }
        /// Faster and wider than what noise, friction and a servo's pulses do, and more than the
        /// handle's own.
        var isOscillating: Bool {
            Tremor.Window(rate: tremor, angle: buzz).isTrembling(beside: handleBuzz) || tremor > 60
        }
    }

    /// Conditions that name a fault which no drawn gimbal has.
    static var faults: Conditions {
        .responseReversed | .gyroContradicted | .imuFrozen | .imuImplausible | .imuStale
            | .imuTimeFault | .gravityMismatch | .controlFault | .loopOscillating | .inertiaNotFound
            | .motorStalled | .loopUnreliable | .imuSaturated | .attitudeDoubtful
    }

    /// The settings of an owner who knows motors and loop.
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
            // The record is kept at 1 kHz whatever the loop does.
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
    /// The daemon's tuning by the settings of an owner who knows motors and loop.
    ///
    /// - Parameters:
    ///   - loopHz: Ticks per second.
    ///   - settings: More settings, `key=value`.
    /// - Returns: All parameters of the core.
    /// - Throws: What `ConfigurationLoader` says of a setting.
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
    /// The conditions in both sets.
    fileprivate func common(with other: Conditions) -> Conditions {
        subtracting(subtracting(other))
    }

    /// Their names.
    var names: String {
        Conditions.catalogue.filter { intersects($0.condition) }.map(\.name)
            .joined(separator: " ")
    }
}
