import GimbalCore

extension Settings.Control {
    /// Makes the built-in gains those of a loop that is slower than 1 kHz.
    ///
    /// Every millisecond that a period is longer is one of delay: half of it because the output is held, half of it because a
    /// sample waits for its tick. A loop of an inertia and a delay has no other time than the delay, so gains that are
    /// stretched by the ratio of the delays keep their margins, 6 dB and 45°.
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
