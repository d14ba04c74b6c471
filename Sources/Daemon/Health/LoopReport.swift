import GimbalCore
import PlainText
import Port
import Wire

/// What a tuning amounts to: effective gains, margins, and warnings in sentences. Sweeps
/// frequencies, so it is made when the tuning changes, not when somebody looks.
struct LoopReport: Sendable {
    /// What `status` says.
    private(set) var status = ControlStatus()

    /// - Parameter parameters: As the loop has them.
    init(_ parameters: Stabilizer.Parameters) {
        switch parameters.motorType {
        case .torque: describe(parameters.controller, parameters.rateFilter)
        case .servo: describe(parameters.servo)
        case .field: describe(parameters.field, parameters.rateFilter)
        }
    }

    /// All warnings in one text; nil without any.
    var warning: String? {
        status.warnings.isEmpty ? nil : status.warnings.joined(separator: " ")
    }

    private mutating func describe(
        _ torque: AttitudeController.Parameters, _ filter: RateFilter.Parameters
    ) {
        status.gains = [
            GainStatus("attitude gain", unit: "1/s", AxisNumbers(torque.attitudeGain)),
            GainStatus("rate gain", unit: "1/s", AxisNumbers(torque.rateGain)),
            GainStatus("integral gain", unit: "1/s²", AxisNumbers(torque.rateIntegralGain)),
            GainStatus("derivative gain", unit: "", AxisNumbers(torque.rateDerivativeGain)),
        ]
        margins { LoopMargins(of: torque, axis: $0, filter: filter[$0]) }
    }

    /// Margins of all axes, and what there is to complain about.
    private mutating func margins(_ ofAxis: (GimbalAxis) -> LoopMargins) {
        var (up, down, phase) = (AxisVector.zero, AxisVector.zero, AxisVector.zero)
        for axis in GimbalAxis.allCases {
            let margins = ofAxis(axis)
            up[axis] = margins.increaseDecibels
            down[axis] = margins.decreaseDecibels
            phase[axis] = margins.phaseDegrees
            if let sentence = Self.complaint(about: margins, axis) {
                status.warnings.append(sentence)
            }
        }
        status.gainMarginDb = AxisNumbers(up)
        status.gainMarginDownDb = AxisNumbers(down)
        status.phaseMarginDeg = AxisNumbers(phase)
    }

    private mutating func describe(_ servo: ServoController.Parameters) {
        status.gains = [
            GainStatus(
                "prediction corner", unit: "Hz",
                AxisNumbers(servo.bandwidth * (servo.trackerBandwidth / (2 * .pi)))),
            GainStatus("loop gain", unit: "", AxisNumbers(servo.loopGain)),
            GainStatus("look-ahead", unit: "", AxisNumbers(servo.lookAhead)),
        ]
        margins { LoopMargins(of: servo, axis: $0) }
    }

    private mutating func describe(
        _ field: FieldController.Parameters, _ filter: RateFilter.Parameters
    ) {
        status.gains = [
            GainStatus("attitude gain", unit: "1/s", AxisNumbers(field.attitudeGain)),
            GainStatus("rate gain", unit: "1/s", AxisNumbers(field.rateGain)),
            GainStatus(
                "observer bandwidth", unit: "Hz",
                AxisNumbers(field.observerBandwidth * (1 / (2 * .pi)))),
        ]
        margins { LoopMargins(of: field, axis: $0, filter: filter[$0]) }
    }

    private static func complaint(about margins: LoopMargins, _ axis: GimbalAxis) -> String? {
        guard !margins.areHealthy else { return nil }
        if margins.increaseDecibels <= 0 || margins.phaseDegrees <= 0 {
            return "The \(axis.name) axis will oscillate: no margin is left. Lower its gains."
        }
        if margins.decreaseDecibels <= 0 {
            return
                "The \(axis.name) axis will sway: its integral gain is too high for its other gains."
        }
        let gain = min(margins.increaseDecibels, margins.decreaseDecibels)
        return "The \(axis.name) axis keeps \(Format.fixed(gain, 1)) dB and "
            + "\(Format.fixed(margins.phaseDegrees, 0))°; 6 dB and 45° are healthy."
    }
}
