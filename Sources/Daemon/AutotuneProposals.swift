import Configuration
import GimbalCore
import Identification
import Wire

/// The settings that stand for what an autotune has found.
///
/// The run knows the gains as they act. A setting is what acts before the app's PID triple scales it: axes that were not
/// tuned keep their settings, those that were go back to the app's default triple, which changes nothing.
struct AutotuneProposals {
    private(set) var list: [SettingProposal] = []

    init(of run: AutotuneRun, present: Settings) {
        let tuned = run.proposal
        switch tuned.motorType {
        case .torque: gains(tuned.controller, run.results, present.control)
        case .field: field(tuned.field)
        case .servo: servo(tuned.servo)
        }
        for result in run.results {
            let (app, plain) = present.airos.pid.ofAxis(result.axis)
            if app != plain { propose("airos.pid.\(result.axis.name)", .pid(plain)) }
        }
    }

    private mutating func propose(_ key: String, _ value: SettingValue) {
        list.append(SettingProposal(key: key, value: value.tomlText))
    }

    private mutating func gains(
        _ tuned: AttitudeController.Parameters, _ results: [AutotuneRun.AxisResult],
        _ own: Settings.Control
    ) {
        propose("control.inertia_kg_m2", .triple(tuned.inertia.rounded(4)))
        propose("control.find_inertia", .bool(false))
        func gain(_ key: String, _ found: AxisVector, _ kept: AxisVector) -> (String, AxisVector) {
            var values = kept
            for result in results { values[result.axis] = found[result.axis].rounded(3) }
            return (key, values)
        }
        for (key, values) in [
            gain("control.attitude_gain", tuned.attitudeGain, own.attitudeGain),
            gain("control.rate_gain", tuned.rateGain, own.rateGain),
            gain("control.rate_integral_gain", tuned.rateIntegralGain, own.rateIntegralGain),
            gain("control.rate_derivative_gain", tuned.rateDerivativeGain, own.rateDerivativeGain),
        ] {
            propose(key, .triple(values))
        }
        propose("control.derivative_cutoff_hz", .number(tuned.derivativeCutoffHz.rounded(3)))
        propose("control.loop_delay_ms", .number((tuned.loopDelay * 1e3).rounded(3)))
        if tuned.frictionLimit > own.frictionLimitNm {
            propose("control.friction_limit_nm", .number(tuned.frictionLimit.rounded(2)))
        }
    }

    /// The gains of motors without encoders follow from the delay.
    private mutating func field(_ tuned: FieldController.Parameters) {
        propose("control.inertia_kg_m2", .triple(tuned.inertia.rounded(4)))
        propose("control.find_inertia", .bool(false))
        propose("control.loop_delay_ms", .number((tuned.loopDelay * 1e3).rounded(3)))
    }

    private mutating func servo(_ tuned: ServoController.Parameters) {
        propose("servo.delay_ms", .number((tuned.delay * 1e3).rounded(3)))
        propose("servo.lag_ms", .number((tuned.lag * 1e3).rounded(3)))
        propose("servo.tracker_bandwidth", .number(tuned.trackerBandwidth.rounded(3)))
    }
}

extension Settings.AirOS.PID {
    /// The triple of an axis, and the app's default of it.
    func ofAxis(_ axis: GimbalAxis) -> (present: PIDTriple, plain: PIDTriple) {
        switch axis {
        case .yaw: (yaw, .pan)
        case .roll: (roll, .tilt)
        case .pitch: (pitch, .tilt)
        }
    }
}

extension AxisVector {
    /// Every axis with so many significant digits.
    fileprivate func rounded(_ digits: Int) -> AxisVector {
        AxisVector(
            yaw: yaw.rounded(digits), roll: roll.rounded(digits), pitch: pitch.rounded(digits))
    }
}
