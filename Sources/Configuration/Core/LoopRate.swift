import GimbalCore

extension Settings.Control {
    /// Makes the built-in gains those of a loop that is slower than 1 kHz.
    ///
    /// Every millisecond that a period is longer is one of delay: half of it because the output is
    /// held, half of it because a sample waits for its tick. A loop of an inertia and a delay has
    /// no other time than the delay, so gains that are stretched by the ratio of the delays keep
    /// their margins, 6 dB and 45°.
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
    /// Makes delay and tracker of the built-in servo those of one with other pulses.
    ///
    /// A command waits half a frame for its pulse on the average. The tracker slows down with the
    /// whole way from command to camera, and a tenth of the wait more, because a delay costs more
    /// phase than a lag: so 6 dB and 45° are left.
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
