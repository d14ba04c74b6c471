package import GimbalCore
import PlainText
import Port

/// Report on a tuning: effective gains, stability margins, and warning messages. The computation of
/// the margins is slow, so it runs only when the tuning changes, not at each request for the
/// report.
package struct LoopReport: Sendable {
    /// One gain of the controllers, with a value for each of the three axes.
    package struct Gain: Sendable {
        /// Name, such as "attitude gain" or "rate gain".
        package let name: String
        /// Unit, empty for a number without a unit.
        package let unit: String
        /// The effective value of the gain on each axis.
        package let values: AxisVector
    }

    /// The gains of the controller, in the order of display.
    package private(set) var gains: [Gain] = []
    /// Largest stable increase of the gain on each axis, dB.
    package private(set) var increaseDecibels = AxisVector.zero
    /// Largest stable decrease of the gain on each axis, dB.
    package private(set) var decreaseDecibels = AxisVector.zero
    /// Phase margin of each axis, degrees.
    package private(set) var phaseDegrees = AxisVector.zero
    /// Warning messages; empty if there is no problem.
    package private(set) var warnings: [String] = []

    /// Creates a report.
    ///
    /// - Parameter parameters: The loop's parameters.
    package init(_ parameters: Stabilizer.Parameters) {
        let lead = parameters.estimator.sensorDelay
        switch parameters.motorType {
        case .torque: describe(parameters.controller, lead, parameters.rateFilter)
        case .servo: describe(parameters.servo, lead)
        case .field: describe(parameters.field, lead, parameters.rateFilter)
        }
    }

    /// All warnings in one text; nil without warnings.
    package var warning: String? {
        warnings.isEmpty ? nil : warnings.joined(separator: " ")
    }

    private mutating func describe(
        _ torque: AttitudeController.Parameters, _ lead: Double, _ filter: RateFilter.Parameters
    ) {
        gains = [
            Gain(name: "attitude gain", unit: "1/s", values: torque.attitudeGain),
            Gain(name: "rate gain", unit: "1/s", values: torque.rateGain),
            Gain(name: "integral gain", unit: "1/s²", values: torque.rateIntegralGain),
            Gain(name: "derivative gain", unit: "", values: torque.rateDerivativeGain),
        ]
        margins { LoopMargins(of: torque, axis: $0, lead: lead, filter: filter[$0]) }
    }

    /// Adds the margins of all axes, and warnings about small margins.
    private mutating func margins(_ ofAxis: (GimbalAxis) -> LoopMargins) {
        for axis in GimbalAxis.allCases {
            let margins = ofAxis(axis)
            increaseDecibels[axis] = margins.increaseDecibels
            decreaseDecibels[axis] = margins.decreaseDecibels
            phaseDegrees[axis] = margins.phaseDegrees
            if let sentence = Self.complaint(about: margins, axis) {
                warnings.append(sentence)
            }
        }
    }

    private mutating func describe(_ servo: ServoController.Parameters, _ lead: Double) {
        gains = [
            Gain(
                name: "prediction corner", unit: "Hz",
                values: servo.bandwidth * (servo.trackerBandwidth / (2 * .pi))),
            Gain(name: "loop gain", unit: "", values: servo.loopGain),
            Gain(name: "look-ahead", unit: "", values: servo.lookAhead),
        ]
        margins { LoopMargins(of: servo, axis: $0, lead: lead) }
    }

    private mutating func describe(
        _ field: FieldController.Parameters, _ lead: Double, _ filter: RateFilter.Parameters
    ) {
        gains = [
            Gain(name: "attitude gain", unit: "1/s", values: field.attitudeGain),
            Gain(name: "rate gain", unit: "1/s", values: field.rateGain),
            Gain(
                name: "observer bandwidth", unit: "Hz",
                values: field.observerBandwidth * (1 / (2 * .pi))),
        ]
        margins { LoopMargins(of: field, axis: $0, lead: lead, filter: filter[$0]) }
    }

    /// Fraction of the recommended margins below which a warning is shown. The default gains have
    /// 5.9 dB to 6.7 dB and 43° to 46°, depending on the loop rate and the sensor's delay.
    private static let warnedShare = 0.96

    private static func complaint(about margins: LoopMargins, _ axis: GimbalAxis) -> String? {
        if margins.increaseDecibels <= 0 || margins.phaseDegrees <= 0 {
            return
                "The \(axis.name) axis will oscillate: no stability margin is left. Lower its gains."
        }
        if margins.decreaseDecibels <= 0 {
            return
                "The \(axis.name) axis will oscillate slowly: its integral gain is too high for its other gains. Lower the integral gain."
        }
        let gain = min(margins.increaseDecibels, margins.decreaseDecibels)
        let least = (gain: LoopMargins.healthyDecibels, phase: LoopMargins.healthyDegrees)
        let isWide =
            gain >= warnedShare * least.gain && margins.phaseDegrees >= warnedShare * least.phase
        guard !isWide else { return nil }
        return
            "The \(axis.name) axis has margins of \(Format.fixed(gain, 1)) dB and \(Format.fixed(margins.phaseDegrees, 0))°; at least \(Format.fixed(least.gain, 0)) dB and \(Format.fixed(least.phase, 0))° are recommended."
    }
}
