extension FieldController {
    /// Stage of the controller's start-up.
    enum Stage {
        /// The power ramps up, and the observers search for the rotors' electrical angles.
        case locking
        /// A small test swing of the joints measures the inertia.
        case probing
        /// The camera is stabilised.
        case holding
    }

    /// Torque of the test swing, as a fraction of the largest torque. The remaining torque holds
    /// the camera during the swing.
    static var swingShare: Double { @_noLocks get { 0.8 } }
    /// Bandwidth of the observers during the search for the rotors' angles, rad/s. With this
    /// bandwidth, the observers are stable for any inertia.
    static var lockingBandwidth: Double { @_noLocks get { 80 } }
    /// Bandwidth of the observers during the test swing, which measures the inertia, rad/s. A
    /// faster observer would interpret the camera's motion as motion of the rotor. The test swing
    /// would then give no information about the inertia.
    static var probingBandwidth: Double { @_noLocks get { 20 } }
    /// Smallest pull (see `FieldObserver`) for the estimation of a rotor's angle, as a fraction of
    /// the pull at the configured power.
    static var smallestPull: Double { @_noLocks get { 0.2 } }
    /// Largest gains of the attitude loop while the inertia is unknown, 1/s. With these gains, the
    /// loop is stable for any inertia.
    static var gentleRateGain: Double { @_noLocks get { 30 } }
    static var gentleAttitudeGain: Double { @_noLocks get { 5 } }
    /// Sine of the load-angle threshold (45 electrical degrees), above which the power is raised.
    static var fullLoad: Double { @_noLocks get { 0.7 } }
    /// Time constant of the power's decrease after a load, s.
    static var powerMemory: Double { @_noLocks get { 0.5 } }
    /// Time at full power before the test swing, s. During this time, the observers' estimates of
    /// the rotors' angles converge.
    static var lockTime: Double { @_noLocks get { 0.2 } }
}
