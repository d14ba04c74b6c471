/// The loop delay of the torque motors, and the speed of the loop.
extension AttitudeController {
    /// Loop delay from the camera's motion to the responding torque, s: the configured delay minus
    /// `spareWait` plus `sampleWait`, corrected by the probe's measurement.
    var loopDelay: Double {
        @_noLocks @inline(always) get {
            tuning.loopDelay - spareWait + sampleWait + inertia.extraDelay
        }
    }

    /// Scale factor for all corner frequencies if the loop has no other delay than assumed.
    var fastest: Double {
        @_noLocks @inline(always) get {
            tuning.loopDelay / max(tuning.loopDelay - spareWait, Self.shortestDelay)
        }
    }

    private static var shortestDelay: Double { @_noLocks get { 1e-4 } }

    /// Scale factor for all corner frequencies of the controller. If the delay is longer than
    /// assumed in the tuning, all corner frequencies are reduced by the same factor. The loop then
    /// keeps its shape and margins. If the samples are newer than assumed, all corner frequencies are
    /// raised by at most `fastest`. If the probe measures a still shorter delay, the margins are
    /// larger, and the tuning does not change.
    var stretch: Double {
        @_noLocks @inline(always) get {
            let known = loopDelay > 0 ? min(fastest, tuning.loopDelay / loopDelay) : 1
            return oscillation.bandwidthFactor * known
        }
    }
}
