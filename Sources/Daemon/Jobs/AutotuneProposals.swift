import Configuration
import GimbalCore
import Identification
import Port
import Wire

/// Proposed settings for the results of an autotune.
///
/// An autotune determines effective gains. An effective gain is the product of a setting and a
/// factor that depends on the app's PID values. Axes that were not tuned keep their inertia, and
/// their gains unless the loop delay becomes longer. On tuned axes, the app's PID values are reset
/// to their defaults, for which the factors are 1.
struct AutotuneProposals {
    private(set) var list: [SettingUpdate] = []

    init(of run: AutotuneRun, present: Settings) {
        let tuned = run.proposal
        switch tuned.motorType {
        case .torque: gains(tuned.controller, run, present.control)
        case .field: field(tuned.field, run)
        case .servo: servo(tuned.servo)
        }
        if let found = run.gyroDelay { gyroDelay(found, present) }
        for result in run.results {
            let plain = PIDTriple.defaults[result.axis]
            if present.airos.pid[result.axis] != plain {
                list.append(.pid(plain, of: result.axis))
            }
        }
    }

    private mutating func propose<Value: Sendable>(
        _ path: any WritableKeyPath<Settings, Value> & Sendable, _ value: Value
    ) {
        list.append(SettingUpdate(path, value))
    }

    private mutating func gains(
        _ tuned: AttitudeController.Parameters, _ run: AutotuneRun, _ own: Settings.Control
    ) {
        propose(\.control.inertiaKgM2, Self.inertia(tuned.inertia, run))
        propose(\.control.findInertia, false)
        // With a longer loop delay, the axes that were not tuned keep their margins only if their
        // gains in 1/s are inversely proportional to the delay.
        let stretch = min(1, own.loopDelayMs / 1e3 / tuned.loopDelay)
        func gain(_ found: AxisVector, _ kept: AxisVector, _ share: Double) -> AxisVector {
            var values = share < 1 ? (kept * share).rounded(3) : kept
            for result in run.results { values[result.axis] = found[result.axis].rounded(3) }
            return values
        }
        propose(\.control.attitudeGain, gain(tuned.attitudeGain, own.attitudeGain, stretch))
        propose(\.control.rateGain, gain(tuned.rateGain, own.rateGain, stretch))
        propose(
            \.control.rateIntegralGain,
            gain(tuned.rateIntegralGain, own.rateIntegralGain, stretch * stretch))
        propose(
            \.control.rateDerivativeGain,
            gain(tuned.rateDerivativeGain, own.rateDerivativeGain, 1))
        propose(\.control.derivativeCutoffHz, tuned.derivativeCutoffHz.rounded(3))
        propose(\.control.loopDelayMs, (tuned.loopDelay * 1e3).rounded(3))
        if tuned.frictionLimit > own.frictionLimitNm {
            propose(\.control.frictionLimitNm, tuned.frictionLimit.rounded(2))
        }
    }

    /// Inertia about all axes, kg·m². The proposals end the search for the inertia, so axes that
    /// were not tuned get the inertia that was in force before the run.
    private static func inertia(_ tuned: AxisVector, _ run: AutotuneRun) -> AxisVector {
        var values = tuned
        for axis in GimbalAxis.allCases where run.inertiaInForce[axis] > 0 {
            guard !run.results.contains(where: { $0.axis == axis }) else { continue }
            values[axis] = run.inertiaInForce[axis]
        }
        return values.rounded(4)
    }

    /// Adds the gyroscope's measured delay, if it differs clearly from the setting.
    private mutating func gyroDelay(_ found: GyroDelay, _ present: Settings) {
        let hardware = present.hardware
        let encoder = hardware.backend == .linux ? hardware.linux.encoders.delayMs : 0
        let delay = min(max(found.seconds * 1e3 + encoder, 0), 20)
        guard abs(delay - present.imu.filterDelayMs) > max(0.2, 2e3 * found.sigma) else { return }
        propose(\.imu.filterDelayMs, (delay * 100).rounded() / 100)
    }

    /// Adds the gains for motors without encoders, which the autotune computes from the measured
    /// delay.
    private mutating func field(_ tuned: FieldController.Parameters, _ run: AutotuneRun) {
        propose(\.control.inertiaKgM2, Self.inertia(tuned.inertia, run))
        propose(\.control.findInertia, false)
        propose(\.control.loopDelayMs, (tuned.loopDelay * 1e3).rounded(3))
    }

    private mutating func servo(_ tuned: ServoController.Parameters) {
        propose(\.servo.delayMs, (tuned.delay * 1e3).rounded(3))
        propose(\.servo.lagMs, (tuned.lag * 1e3).rounded(3))
        propose(\.servo.trackerBandwidth, tuned.trackerBandwidth.rounded(3))
    }
}

extension SettingUpdate {
    /// Creates an update of the setting that contains the app's PID values for one axis.
    static func pid(_ pid: PIDTriple, of axis: GimbalAxis) -> SettingUpdate {
        switch axis {
        case .yaw: SettingUpdate(\.airos.pid.yaw, pid)
        case .roll: SettingUpdate(\.airos.pid.roll, pid)
        case .pitch: SettingUpdate(\.airos.pid.pitch, pid)
        }
    }
}

extension AxisVector {
    /// Rounds the values of all axes to the given number of significant digits.
    fileprivate func rounded(_ digits: Int) -> AxisVector {
        AxisVector(
            yaw: yaw.rounded(digits), roll: roll.rounded(digits), pitch: pitch.rounded(digits))
    }
}
