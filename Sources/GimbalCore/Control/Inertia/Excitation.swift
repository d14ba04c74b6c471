internal import CMathShim

/// A multisine excitation of small amplitude for identification. The excitation is a moment on one
/// camera axis, or, with servos, a joint angle.
///
/// The spectral lines of the multisine are odd harmonics of `1 / period`. Therefore the harmonics
/// that a nonlinearity causes do not coincide with most lines. No line is at a multiple of 2 Hz,
/// the step frequency of walking. The phases are according to Schroeder (Synthesis of
/// low-peak-factor signals, IEEE Transactions on Information Theory 16, 1970).
public struct Excitation: Sendable, BitwiseCopyable, Equatable, Recordable {
    /// ID of the excitation, chosen by the client. The snapshot contains this ID, so the client can
    /// recognise its own excitation.
    public var id: UInt32
    /// Axis of the camera to excite.
    public var axis: GimbalAxis
    /// RMS of the excitation: N·m, or rad for servos.
    public var amplitude: Double
    /// Length of one period of the multisine, in ticks of the control loop.
    public var periodTicks: Int32
    /// Duration of the excitation, in ticks of the control loop.
    public var ticks: Int32
    /// Limit of the attitude error, rad; at a larger error, the excitation is aborted.
    public var errorLimit: Double

    /// Number of the multisine's spectral lines.
    public static var lineCount: Int { @_noLocks get { 11 } }

    /// Creates an excitation.
    public init(
        id: UInt32, axis: GimbalAxis, amplitude: Double, periodTicks: Int32, ticks: Int32,
        errorLimit: Double
    ) {
        self.id = id
        self.axis = axis
        self.amplitude = amplitude
        self.periodTicks = periodTicks
        self.ticks = ticks
        self.errorLimit = errorLimit
    }

    /// Frequency of a spectral line as a multiple of `1 / period`.
    @_noLocks @_noAllocation
    public static func harmonic(_ line: Int) -> Int {
        switch line {
        case 0: 5
        case 1: 9
        case 2: 13
        case 3: 19
        case 4: 27
        case 5: 39
        case 6: 55
        case 7: 75
        case 8: 103
        case 9: 141
        default: 191
        }
    }

    /// Excitation `tick` ticks after the start: a moment, N·m, or, for servos, a joint angle, rad.
    /// The amplitude rises to its full value over a quarter of a period.
    @_noLocks @_noAllocation
    func value(tick: Int32, isAngle: Bool) -> Double {
        guard periodTicks > 0 else { return 0 }
        var sum = 0.0
        var power = 0.0
        let turn = 2 * Double.pi / Double(periodTicks)
        var line = 0
        while line < Excitation.lineCount {
            let harmonic = Double(Excitation.harmonic(line))
            // The amplitude rises slightly with frequency. With a constant amplitude, the low
            // frequencies would move the camera too far.
            let rising = cm_sqrt(cm_sqrt(harmonic))
            // For servos, the angle of each harmonic is divided by the harmonic's number. Therefore
            // a servo's rate spectrum has the same shape as the moment spectrum of other motors.
            let weight = isAngle ? rising / harmonic : rising
            let phase = -Double.pi * Double(line * (line + 1)) / Double(Excitation.lineCount)
            sum += weight * cm_sin(turn * harmonic * Double(tick) + phase)
            power += weight * weight / 2
            line += 1
        }
        let fade = min(4 * Double(tick) / Double(periodTicks), 1)
        return amplitude * fade * sum / cm_sqrt(power)
    }
}

/// Generator of an excitation in the loop. The generator aborts the excitation if the outputs, a
/// joint, a motor or the attitude error are outside their normal range.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct Exciter: Sendable, BitwiseCopyable {
    /// Reason for the end of an excitation.
    public enum Ending: UInt8, Sendable, BitwiseCopyable {
        /// The excitation has not ended, or no excitation has started.
        case none
        /// The excitation ran for its full duration.
        case complete
        /// Another command interrupted the excitation.
        case command
        /// The motors' outputs were switched off or reduced.
        case outputs
        /// A joint reached the end of its range.
        case jointLimit
        /// A motor was at its torque limit for a tenth of a second.
        case saturated
        /// The attitude error exceeded its limit.
        case error
    }

    /// State of the running excitation, or of the most recent excitation.
    public struct State: Sendable, BitwiseCopyable {
        /// ID of the excitation that was passed to `start`; 0 before the first excitation.
        public var id: UInt32 = 0
        /// True if the excitation is running.
        public var isActive = false
        /// Reason for the end of the excitation; `none` while it is running.
        public var ending = Ending.none
        /// Ticks since the start of the excitation.
        public var tick: Int32 = 0

        /// Creates the state before the first excitation.
        @_noLocks
        public init() {}
    }

    /// State of the running excitation, or of the most recent excitation.
    private(set) var state = State()
    private var excitation: Excitation?
    private var saturatedSeconds = 0.0

    @_noLocks
    init() {}

    /// Starts an excitation; replaces a running excitation.
    @_noLocks @_noAllocation
    mutating func start(_ new: Excitation) {
        excitation = new
        saturatedSeconds = 0
        state = State()
        state.id = new.id
        state.isActive = true
    }

    /// Ends a running excitation.
    @_noLocks @_noAllocation
    mutating func stop(_ ending: Ending) {
        guard state.isActive else { return }
        state.isActive = false
        state.ending = ending
        excitation = nil
    }

    /// Duration of a saturation that ends the excitation, s: the response of a saturated motor is
    /// not linear.
    private static var longestSaturation: Double { @_noLocks get { 0.1 } }

    /// Aborts the excitation if it cannot continue.
    @_noLocks @_noAllocation
    mutating func supervise(
        authority: Double, conditions: Conditions, error: Vector3, dt: Double
    ) {
        guard let excitation else { return }
        if authority < 1 { return stop(.outputs) }
        if conditions.intersects(.jointLimit) { return stop(.jointLimit) }
        if !(error.squaredNorm < excitation.errorLimit * excitation.errorLimit) {
            return stop(.error)
        }
        let isSaturated = conditions.intersects(.motorSaturated)
        saturatedSeconds = isSaturated ? saturatedSeconds + dt : 0
        if saturatedSeconds > Self.longestSaturation { return stop(.saturated) }
        if state.tick >= excitation.ticks { stop(.complete) }
    }

    /// Excitation in this tick: a moment in the camera frame, N·m, or, for servos, the joint
    /// angles, rad.
    @_noLocks @_noAllocation
    mutating func step(_ type: MotorType) -> Vector3 {
        var value = Vector3.zero
        guard let excitation else { return value }
        value[excitation.axis] = excitation.value(
            tick: state.tick, isAngle: !type.exertsTorque)
        state.tick += 1
        return value
    }
}
