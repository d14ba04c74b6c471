import GimbalCore

extension Settings.Control {
    /// Adapts the built-in gains to a loop slower than 1 kHz.
    ///
    /// Each additional millisecond of the period is a millisecond of delay: half of it because the
    /// output is held, half because a sample waits for its tick. The delay is the only time
    /// constant of a loop of an inertia and a delay, so gains that are scaled by the ratio of the
    /// delays keep their margins, 6 dB and 45°.
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
    /// Adapts the delay of the servo's model and the tracker's bandwidth from the default pulse
    /// rate to another pulse rate.
    ///
    /// On average a command waits half a frame for its pulse. The tracker slows down with the total
    /// delay from command to camera, plus a tenth of the wait, because a delay costs more phase
    /// than a lag. With this slower tracker the stability margins remain 6 dB and 45°.
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
