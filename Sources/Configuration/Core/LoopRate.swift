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

    /// Part of the default delay that assumes old samples, s; 0 if the delay is not the default of
    /// the loop's rate, and in loops that are fast enough for the lag compensator.
    ///
    /// - Parameter rateHz: Ticks per second.
    /// - Returns: The part, s.
    func assumedWait(rateHz: Int) -> Double {
        let period = 1000 / Double(rateHz)
        var usual = Settings.Control()
        usual.fit(rateHz: rateHz)
        guard abs(loopDelayMs - usual.loopDelayMs) < 1e-9,
            !AttitudeController.isCompensated(delay: loopDelayMs / 1e3, period: period / 1e3)
        else { return 0 }
        return (period - 1) / 2 / 1e3
    }
}

extension Settings.Servo {
    /// Loop rate to which the default delay belongs, Hz; a faster loop shortens it only a little.
    private static let usualRateHz = 500.0

    /// Adapts the servo model's delay and the tracker's bandwidth from the default pulse rate and
    /// the usual loop rate to another pulse rate and a slower loop.
    ///
    /// On average, a command waits half a pulse period for the next pulse, and is half a period of
    /// the loop old. The tracker's bandwidth is inversely proportional to the total delay from
    /// command to camera. The additional delays are multiplied by 1.1 and 1.3, because a delay
    /// reduces the margins more than an equal lag. With the adapted bandwidth, the stability margins
    /// remain 6 dB and 45°.
    ///
    /// - Parameters:
    ///   - frameHz: Pulses per second.
    ///   - rateHz: Ticks per second.
    mutating func fit(frameHz: Double, rateHz: Int) {
        guard frameHz > 0, rateHz > 0 else { return }
        let usual = ServoController.Parameters().sensorDelay * 1e3 + delayMs + lagMs
        let wait = max(500 / frameHz - 500 / self.frameHz, 0)
        let age = max(500 / Double(rateHz) - 500 / Self.usualRateHz, 0)
        guard wait + age > 0 else { return }
        delayMs = ((delayMs + wait + age) * 100).rounded() / 100
        let longer = usual + 1.1 * wait + 1.3 * age
        trackerBandwidth = (trackerBandwidth * usual / longer).rounded(.down)
    }
}
