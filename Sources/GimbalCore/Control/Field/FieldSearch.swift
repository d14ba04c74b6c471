/// Search for the rotors of all three motors (see `RotorSearch`), with a frequency for each motor,
/// so that each tremor can be attributed to its motor.
///
/// Runs on the loop thread only, in constant time.
struct FieldSearch: Sendable, BitwiseCopyable {
    /// Frequencies of the turning fields, rad/s. Higher frequencies need more torque, and lower
    /// frequencies are closer to the motion of a hand.
    private static var frequency: AxisVector {
        @_noLocks get { AxisVector(yaw: 36, roll: 30, pitch: 24) * (2 * Double.pi) }
    }
    /// Longest loop delay for these frequencies, s. At 36 Hz, a delay beyond 11 ms is a lag outside
    /// the range that `RotorSearch` can tell from a rotor on the opposite side.
    private static var swiftDelay: Double { @_noLocks get { 0.009 } }
    /// Smallest fraction of the frequencies: a hand moves the camera at still lower frequencies.
    private static var leastShare: Double { @_noLocks get { 1 / 3.0 } }

    private var rotors = PerAxis(RotorSearch(isOver: true))
    private var fits = PerAxis(RotorFit())
    /// The motors that `fit` has measured since the last search began. A fit is less accurate than
    /// the search, and does not measure the loop delay.
    private(set) var fitted = AxisSet.none
    /// Angles of the fields at the beginning, electrical rad.
    private var origin = AxisVector.zero
    /// Frequencies of this search as a fraction of `frequency`.
    private var share = 1.0
    /// Measured loop delays, s; NaN if unknown.
    private var delays = AxisVector(repeating: .nan)

    @_noLocks
    init() {}

    /// Begins the search with the fields at the angles `field`, electrical rad. The measured delays
    /// stay until they are measured again, because the delay is a property of the loop. With a long
    /// configured loop delay, s, such as that of a slow loop, the fields turn more slowly.
    @_noLocks
    mutating func begin(field: AxisVector, loopDelay: Double) {
        share = max(min(1, Self.swiftDelay / max(loopDelay, TimeLimit.shortest)), Self.leastShare)
        rotors = PerAxis(RotorSearch(isOver: false))
        fits = PerAxis(RotorFit())
        fitted = .none
        origin = field
    }

    /// Ends the search and the measurement by `fit`; the measured delays stay. A later measurement
    /// must not use the motion before the cancellation, because the rotors can have turned since.
    @_noLocks
    mutating func cancel() {
        rotors = PerAxis(RotorSearch(isOver: true))
        fits = PerAxis(RotorFit())
        fitted = .none
    }

    /// Restarts the measurements that have not ended, because the motion since the last period is
    /// unknown.
    @_noLocks
    mutating func restart() {
        rotors.change { rotor, _ in rotor.restart() }
        fits = PerAxis(RotorFit())
    }

    /// The motors whose rotor has not been found.
    var sought: AxisSet { @_noLocks get { rotors.axes { !$0.isOver } } }

    /// Angles of the fields, electrical rad, and powers, 0...1, of the motors in `sought`.
    var fields: (angle: AxisVector, power: AxisVector) {
        @_noLocks get { (origin + rotors.map { $0.turned }, rotors.map { $0.power }) }
    }

    /// Median of the measured loop delays, s; the smaller one of two, and NaN without a measurement.
    var delay: Double {
        @_noLocks get {
            let least = delays.filled(from: AxisVector(repeating: .infinity)).smallest
            guard least.isFinite else { return .nan }
            let known = delays.filled(from: AxisVector(repeating: least))
            return max(min(known.yaw, known.roll), min(max(known.yaw, known.roll), known.pitch))
        }
    }

    /// Results of one control period.
    struct Found {
        /// Angles of the rotors, electrical rad; NaN for a rotor whose search has not just ended.
        var electrical = AxisVector(repeating: .nan)
        /// Measured inertia, kg·m²; NaN if nothing has just been measured.
        var inertia = AxisVector(repeating: .nan)
        /// Sliding friction of the joints, N·m; NaN if it has not been measured.
        var friction = AxisVector(repeating: .nan)
    }

    /// Advances the search by one control period.
    ///
    /// - Parameters:
    ///   - cameraRates: Rate of the camera about the axis of each joint, rad/s.
    ///   - jointRates: Rate of each joint, rad/s.
    ///   - authority: Share of the power, 0...1.
    ///   - parameters: Tuning of the controller.
    ///   - dt: Time since the previous control period, s.
    /// - Returns: Angles and inertia that have just been found.
    @_noLocks
    mutating func step(
        cameraRates: AxisVector, jointRates: AxisVector, authority: Double,
        parameters: FieldController.Parameters, dt: Double
    ) -> Found {
        var found = Found()
        var delays = delays
        let (origin, share) = (origin, share)
        rotors.change { rotor, axis in
            guard !rotor.isOver,
                let result = rotor.step(
                    RotorSearch.Sample(
                        cameraRate: cameraRates[axis], jointRate: jointRates[axis],
                        power: parameters.maxPower * authority, isFull: authority >= 1,
                        peakTorque: parameters.peakTorque[axis], polePairs: parameters.polePairs,
                        frequency: Self.frequency[axis] * share), dt: dt)
            else { return }
            found.electrical[axis] = origin[axis] + result.electrical
            found.inertia[axis] = result.inertia
            found.friction[axis] = result.friction
            if !result.delay.isNaN { delays[axis] = result.delay }
        }
        self.delays = delays
        return found
    }

    /// Measures rotors that the search has not found, because the camera fell, from the motion that
    /// their motors cause.
    ///
    /// - Parameters:
    ///   - axes: The motors to measure; motors in `sought` are excluded. The measurement of an
    ///     excluded motor begins again later.
    ///   - cameraRates: Rate of the camera about the axis of each joint, rad/s.
    ///   - moved: Motion of each rotor in this period, electrical rad.
    ///   - field: Angles of the fields at the sampling instant of the gyroscope, electrical rad.
    ///   - pull: Torques at a load angle of 90 electrical degrees at this instant, N·m.
    ///   - dt: Time since the previous control period, s.
    /// - Returns: Angles, up to whole turns, and inertia that have just been found.
    @_noLocks
    mutating func fit(
        _ axes: AxisSet, cameraRates: AxisVector, moved: AxisVector, field: AxisVector,
        pull: AxisVector, dt: Double
    ) -> Found {
        var found = Found()
        let axes = axes.subtracting(sought)
        var fitted = fitted
        fits.change { fit, axis in
            guard axes.contains(axis) else {
                // The motion of this period is not added, so the measured angle would be wrong.
                fit = RotorFit()
                return
            }
            guard
                let result = fit.step(
                    RotorFit.Sample(
                        cameraRate: cameraRates[axis], moved: moved[axis], field: field[axis],
                        pull: pull[axis]), dt: dt)
            else { return }
            found.electrical[axis] = result.electrical
            found.inertia[axis] = result.inertia
            fitted.insert(AxisSet(axis))
        }
        self.fitted = fitted
        return found
    }
}
