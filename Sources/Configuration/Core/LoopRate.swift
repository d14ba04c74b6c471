import GimbalCore

extension Settings.Control {
    /// Adapts the built-in gains to a loop slower than 1 kHz.
    ///
    /// Each additional millisecond of the period adds 1 ms of delay: 0.5 ms for the held output,
    /// and 0.5 ms for a sample's mean wait until the next tick. The plant is an inertia with a
    /// delay, and the delay is its only time constant. If the gains are scaled with the inverse of
    /// this delay, the margins remain 6 dB and 45°.
    ///
    /// - Parameter rateHz: Ticks per second.
    mutating func fit(rateHz: Int) {
        let longer = 1000 / Double(rateHz) - 1
        guard longer > 0 else { return }
        let delay = loopDelayMs + longer
        let factor = loopDelayMs / delay
        attitudeGain = attitudeGain * factor
        rateGain = rateGain * factor
        rateIntegralGain = rateIntegralGain * (factor * factor)
        derivativeCutoffHz *= factor
        loopDelayMs = delay
    }
}

extension Settings.Servo {
    /// Adapts the servo model's delay and the tracker's bandwidth from the default pulse rate to
    /// another pulse rate.
    ///
    /// On average, a command waits half a pulse period for the next pulse. The tracker's bandwidth
    /// is inversely proportional to the total delay from command to camera. The additional wait is
    /// multiplied by 1.1, because a delay reduces the phase margin more than an equal lag. With the
    /// adapted bandwidth, the stability margins remain 6 dB and 45°.
    ///
    /// - Parameter frameHz: Pulses per second.
    mutating func fit(frameHz: Double) {
        guard frameHz > 0 else { return }
        let usual = ServoController.Parameters().sensorDelay * 1e3 + delayMs + lagMs
        let longer = 500 / frameHz - 500 / self.frameHz
        guard longer > 0 else { return }
        delayMs = ((delayMs + longer) * 100).rounded() / 100
        trackerBandwidth = (trackerBandwidth * usual / (usual + 1.1 * longer)).rounded(.down)
    }
}
