/// Progress and results of an autotune: the answer to `autotune`.
public struct AutotuneReport: Hashable, Sendable, Codable {
    /// State of the autotune, from the request to the result.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// No autotune has been requested since the start.
        case idle
        /// The autotune is in progress.
        case running
        /// The autotune is complete. `axes` and `proposals` contain the result.
        case done
        /// The autotune has failed or was cancelled. `sentence` states the reason.
        case refused
    }

    /// State of the autotune, a case of `State`. The property is a string, so that older clients
    /// accept the new values of a newer daemon.
    public var state = State.idle.rawValue
    /// Approximate progress, 0...1.
    public var progress: Number = 0
    /// Estimated remaining time, s.
    public var secondsLeft: Number = .unknown
    /// Excited axis: `yaw`, `roll` or `pitch`; absent if no axis is excited.
    public var axis: String?
    /// Current activity as text for the user; empty if there is none.
    public var activity = ""
    /// Result as text for the user; empty while the autotune runs.
    public var sentence = ""
    /// Result of each axis; empty until the end.
    public var axes: [AutotuneAxis] = []
    /// Proposed settings, ready for `set`. With the measured load, the proposals give margins of 6
    /// dB and 45°.
    public var proposals: [SettingProposal] = []
    /// Time until the applied but unsaved proposals are reverted, s; absent if no proposals were
    /// applied.
    public var rollbackS: Number?

    /// Creates the state before the first autotune.
    public init() {}

    /// True if the autotune is running.
    public var isRunning: Bool { state == State.running.rawValue }
}

/// Result for one axis: the load of a motor or the response of a servo, and the stability margins
/// of the proposed loop.
public struct AutotuneAxis: Hashable, Sendable, Codable {
    /// Name of the axis: `yaw`, `roll` or `pitch`.
    public var axis: String
    /// Moment of inertia, kg·m².
    public var inertiaKgM2: Number = .unknown
    /// Delay from the torque command to the measured rate, including half a period of the loop, ms.
    /// For a servo, the delay is from the command to the beginning of the servo's response.
    public var delayMs: Number = .unknown
    /// Delay of the gyroscope relative to the joint's encoder, ms.
    public var gyroDelayMs: Number = .unknown
    /// Standard deviation of `gyroDelayMs`, ms.
    public var gyroDelaySigmaMs: Number = .unknown
    /// Time constant of the position loop inside the servo, ms; unknown for motors.
    public var lagMs: Number = .unknown
    /// Ratio of the camera's angle to a servo's commanded angle.
    public var gain: Number = .unknown
    /// Coulomb friction, N·m.
    public var coulombNm: Number = .unknown
    /// Viscous friction, N·m·s/rad.
    public var viscous: Number = .unknown
    /// Stiffness of cables and bearings, N·m/rad.
    public var stiffness: Number = .unknown
    /// RMS of the relative difference between model and measurement.
    public var residual: Number = .unknown
    /// Upper gain margin with the proposed gains, dB: largest increase of the gains that keeps the
    /// loop stable.
    public var gainMarginDb: Number = .unknown
    /// Lower gain margin with the proposed gains, dB: largest decrease of the gains that keeps the
    /// loop stable.
    public var gainMarginDownDb: Number = .unknown
    /// Phase margin of the loop with the proposed gains, degrees.
    public var phaseMarginDeg: Number = .unknown
    /// Crossover frequency (0 dB) of the open loop with the proposed gains, Hz.
    public var crossoverHz: Number = .unknown
    /// Measured frequency response. For a motor, the response is rate per moment; for a servo,
    /// camera angle per commanded angle.
    public var measured: [BodePoint] = []
    /// Frequency response of the fitted model, in the unit of `measured`.
    public var model: [BodePoint] = []
    /// Frequency response of the open loop with the proposed gains.
    public var loop: [BodePoint] = []

    /// True if a position servo turns the axis.
    public var isServo: Bool { lagMs.known != nil }

    /// Creates the result of an axis that has not been measured yet.
    public init(axis: String) { self.axis = axis }
}

/// One point of a Bode plot.
public struct BodePoint: Hashable, Sendable, Codable {
    /// Frequency, Hz.
    public var hz: Number
    /// Gain, dB.
    public var db: Number
    /// Phase, degrees, not wrapped.
    public var deg: Number
    /// Coherence between excitation and response, 0...1; absent if the response is computed from a
    /// model.
    public var coherence: Number?

    /// Creates a point.
    public init(hz: Number, db: Number, deg: Number, coherence: Number? = nil) {
        self.hz = hz
        self.db = db
        self.deg = deg
        self.coherence = coherence
    }
}
