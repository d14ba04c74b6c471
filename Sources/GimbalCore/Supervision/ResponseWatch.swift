/// Watches that the camera goes where its motors are told to take it, joint by joint.
///
/// Loop thread only; constant time, no allocation.
struct ResponseWatch: Sendable, BitwiseCopyable {
    private var axes = PerAxis(AxisResponse())
    private var told = JointHistory()
    private var lastRates: AxisVector?

    @_noLocks
    init() {}

    /// The joints that answer the wrong way round.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get { axes.axes { $0.isReversed } }
    }

    /// The outputs are about to come on.
    @_noLocks
    mutating func reset() { self = ResponseWatch() }

    /// One period of motors that exert torques.
    ///
    /// - Parameters:
    ///   - accelerations: What the torques told now would do to the camera, rad/s².
    ///   - delay: From that to the sample that shows it, s.
    ///   - rates: Camera's rate about the joints' axes, rad/s.
    ///   - wanted: What it should be, rad/s.
    ///   - errors: From the camera to where it should be, about the joints' axes, rad.
    ///   - joints: Angles of the joints as encoders measure them, rad; nil = none fitted.
    ///   - bar: What counts as a mirror image.
    ///   - least: Accelerations that the motors must have been told: less moves nothing against
    ///     friction, rad/s².
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func step(
        accelerations: AxisVector, delay: Double, rates: AxisVector, wanted: AxisVector,
        errors: AxisVector, joints: AxisVector?, bar: ResponseBar, least: AxisVector, dt: Double
    ) {
        let acted = told.value(age: delay, dt: dt)
        told.append(accelerations, dt: dt)
        let last = lastRates
        lastRates = rates
        guard let last else { return }
        compare(
            told: acted, seen: (rates - last) * (1 / dt), astray: rates - wanted, errors: errors,
            joints: joints, bar: bar, least: least, dt: dt)
    }

    /// One period of servos.
    ///
    /// - Parameters:
    ///   - jointRates: How fast the servos' model says that the joints turn now, rad/s.
    ///   - rates: Camera's rate about the joints' axes, rad/s.
    ///   - wanted: What it should be, rad/s.
    ///   - errors: From the camera to where it should be, about the joints' axes, rad.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks
    mutating func step(
        jointRates: AxisVector, rates: AxisVector, wanted: AxisVector, errors: AxisVector,
        dt: Double
    ) {
        compare(
            told: jointRates, seen: rates, astray: rates - wanted, errors: errors, joints: nil,
            bar: ResponseBar(
                least: 0.6, most: 1.5, likeness: 0.96, evidence: 1.5 * .pi / 180),
            least: .zero, dt: dt)
    }

    private mutating func compare(
        told: AxisVector, seen: AxisVector, astray: AxisVector, errors: AxisVector,
        joints: AxisVector?, bar: ResponseBar, least: AxisVector, dt: Double
    ) {
        let pace = AxisResponse.Pace(dt: dt)
        axes.change {
            $0.step(
                told: told[$1], seen: seen[$1], astray: astray[$1], error: errors[$1],
                joint: joints?[$1], bar: bar, least: least[$1], pace: pace)
        }
    }
}
