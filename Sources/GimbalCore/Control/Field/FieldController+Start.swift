extension FieldController {
    /// Discards the camera's recent motion, and restarts the measurements of the rotors, because the
    /// motion since the last period is unknown.
    @_noLocks @_noAllocation
    mutating func forgetResponse() {
        forgetMotion()
        inertias.forgetMotion()
        search.restart()
    }

    /// Stage of the controller's start-up.
    enum Stage {
        /// The power ramps up, and the rotors' electrical angles are measured or estimated.
        case locking
        /// The camera is stabilised.
        case holding
    }

    /// Bandwidth of the observers while the power ramps up, rad/s. With the measured inertia, it is
    /// low enough for a longer delay than assumed.
    static var lockingBandwidth: Double { @_noLocks get { 80 } }
    /// Smallest pull (see `FieldObserver`) for the estimation of a rotor's angle, as a fraction of
    /// the pull without load.
    static var smallestPull: Double { @_noLocks get { 0.2 } }
    /// Largest gains of the attitude loop while the power ramps up, 1/s, because the rotors' angles
    /// are uncertain.
    static var gentleRateGain: Double { @_noLocks get { 30 } }
    static var gentleAttitudeGain: Double { @_noLocks get { 5 } }
    /// Time at full power before the camera follows set-points, s. During this time, the observers'
    /// estimates of the rotors' angles converge.
    static var lockTime: Double { @_noLocks get { 0.2 } }
    /// Largest difference between measured and configured loop delay, s.
    private static var longestExtraDelay: Double { @_noLocks get { 6e-3 } }

    /// Loop delay for the gains and the observers, s: configured, or measured if that is longer. A
    /// delay that was not measured counts as longer than configured.
    var assumedDelay: Double {
        @_noLocks get {
            let configured = parameters.loopDelay
            guard parameters.probesInertia else { return configured }
            let measured = search.delay
            guard !measured.isNaN else { return configured + AttitudeController.unmeasuredDelay }
            return min(max(configured, measured), configured + Self.longestExtraDelay)
        }
    }
}
