public import GimbalCore

/// Design of the servo controller: its parameters, including the bandwidth of the prediction.
///
/// The delay from command to camera is the only time constant of the prediction. Therefore the
/// design scales the prediction's default bandwidth by the ratio of the default delay to the
/// measured delay. The design then reduces the bandwidth, if necessary, until the margins are 6 dB
/// and 45°. The reduction is necessary if pure delay is a larger fraction of the total delay than
/// in the default servo.
public struct ServoDesign: Sendable {
    /// The designed tuning.
    public var parameters: ServoController.Parameters
    /// Look-ahead of the attitude relative to the rate, s.
    public var lead: Double
    /// Stability margins of the loop with the designed tuning.
    public var margins: LoopMargins

    /// Creates a tuning for servos with the given response.
    ///
    /// - Parameters:
    ///   - present: The tuning in force; values that do not depend on the servos' response are
    ///     kept.
    ///   - model: Model of the response from commanded angle to camera angle.
    ///   - axis: The axis whose stability margins must be sufficient.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - speed: Speed of the loop relative to the optimum; a value below 1 gives a softer tuning.
    public init(
        present: ServoController.Parameters, model: ServoResponse, axis: GimbalAxis,
        lead: Double, speed: Double = 1
    ) {
        let base = ServoController.Parameters()
        let usual = base.sensorDelay + base.delay + base.lag
        let slowest = 5.0
        let stretch = min(usual / max(model.delay + model.lag, 1e-3), 1.5)
        self.lead = lead
        parameters = present
        parameters.delay = max(model.delay - present.sensorDelay, 0)
        parameters.lag = model.lag
        parameters.trackerBandwidth = max(base.trackerBandwidth * stretch * speed, slowest)
        // The bandwidth, gain and look-ahead factors of the tuned axis are reset to their defaults.
        parameters.bandwidth[axis] = base.bandwidth[axis]
        parameters.loopGain[axis] = base.loopGain[axis]
        parameters.lookAhead[axis] = base.lookAhead[axis]
        margins = LoopMargins(of: parameters, axis: axis, lead: lead)
        while !margins.areHealthy, parameters.trackerBandwidth > slowest {
            parameters.trackerBandwidth = max(parameters.trackerBandwidth * 0.97, slowest)
            margins = LoopMargins(of: parameters, axis: axis, lead: lead)
        }
    }
}
