public import GimbalCore

/// Design of the controller of servos: its parameters, and the bandwidth of its prediction.
///
/// The default tuning, stretched in time by how much longer the whole way from command to camera
/// takes: the prediction of a handle and the delays of its servos have no other time. Where more of
/// that is delay than of the default servo's, slower until 6 dB and 45° are left.
public struct ServoDesign: Sendable {
    /// The tuning.
    public var parameters: ServoController.Parameters
    /// Margins of the design.
    public var margins: LoopMargins

    /// A tuning for servos that answer like this.
    ///
    /// - Parameters:
    ///   - present: The tuning in force; what is not about the servos' answer is kept.
    ///   - model: From command to camera.
    ///   - axis: Whose margins are looked at.
    ///   - speed: Less than 1 is softer.
    public init(
        present: ServoController.Parameters, model: ServoResponse, axis: GimbalAxis,
        speed: Double = 1
    ) {
        let base = ServoController.Parameters()
        let usual = base.sensorDelay + base.delay + base.lag
        let slowest = 5.0
        let stretch = min(usual / max(model.delay + model.lag, 1e-3), 1.5)
        parameters = present
        parameters.delay = max(model.delay - present.sensorDelay, 0)
        parameters.lag = model.lag
        parameters.trackerBandwidth = max(base.trackerBandwidth * stretch * speed, slowest)
        // The factors of the tuned axis are reset to 1.
        parameters.bandwidth[axis] = base.bandwidth[axis]
        parameters.loopGain[axis] = base.loopGain[axis]
        parameters.lookAhead[axis] = base.lookAhead[axis]
        margins = LoopMargins(of: parameters, axis: axis)
        while !margins.areHealthy, parameters.trackerBandwidth > slowest {
            parameters.trackerBandwidth = max(parameters.trackerBandwidth * 0.97, slowest)
            margins = LoopMargins(of: parameters, axis: axis)
        }
    }
}
