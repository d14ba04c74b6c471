/// Progress and results of an autotune: the answer to `autotune`.
public struct AutotuneReport: Hashable, Sendable, Codable {
    /// Stage of the run.
    public enum State: String, Sendable, Codable {
        /// Not requested since the start.
        case idle
        /// In progress.
        case running
        /// Done; `axes` and `proposals` contain the result.
        case done
        /// Failed or cancelled; `sentence` states the reason.
        case refused
    }

    /// A `State`; a string, so that a newer daemon does not make an older client fail.
    public var state = State.idle.rawValue
    /// 0...1.
    public var progress: Number = 0
    /// Estimated remaining time, s.
    public var secondsLeft: Number = .unknown
    /// Axis that is being excited: yaw, roll or pitch; absent if none is.
    public var axis: String?
    /// Present activity, for a person; empty without activity.
    public var activity = ""
    /// Result, for a person; empty while it is running.
    public var sentence = ""
    /// Results; empty until the end.
    public var axes: [AutotuneAxis] = []
    /// Settings with 6 dB and 45° on the results (for servos, with the default's margins), ready
    /// for `set`.
    public var proposals: [SettingProposal] = []
    /// Seconds until the proposals revert unless saved; absent if they were not applied.
    public var rollbackS: Number?

    /// The state before the first run.
    public init() {}

    /// Whether the autotune is running.
    public var isRunning: Bool { state == State.running.rawValue }
}

/// Load of one motor, or response of a servo, and stability margins of the proposed loop.
public struct AutotuneAxis: Hashable, Sendable, Codable {
    /// yaw, roll or pitch.
    public var axis: String
    /// Moment of inertia.
    public var inertiaKgM2: Number = .unknown
    /// Delay from torque to rate, including half a period; of a servo from the command to the
    /// beginning of its response.
    public var delayMs: Number = .unknown
    /// Lag of a servo's own position loop.
    public var lagMs: Number = .unknown
    /// Ratio of the camera's angle to a servo's commanded angle.
    public var gain: Number = .unknown
    /// Coulomb friction.
    public var coulombNm: Number = .unknown
    /// Viscous friction, N·m·s/rad.
    public var viscous: Number = .unknown
    /// Spring, N·m/rad.
    public var stiffness: Number = .unknown
    /// Root mean square of the model's remaining relative error.
    public var residual: Number = .unknown
    /// Gain margin of the proposed gains upwards.
    public var gainMarginDb: Number = .unknown
    /// Margin of the proposed gains downwards.
    public var gainMarginDownDb: Number = .unknown
    /// Phase margin of the proposed gains.
    public var phaseMarginDeg: Number = .unknown
    /// Frequency at which the proposed loop crosses 0 dB.
    public var crossoverHz: Number = .unknown
    /// Measured rate per moment; for a servo, the camera's angle per commanded angle.
    public var measured: [BodePoint] = []
    /// The same of the model.
    public var model: [BodePoint] = []
    /// The open loop with the proposed gains.
    public var loop: [BodePoint] = []

    /// Whether a position servo turns the axis.
    public var isServo: Bool { lagMs.known != nil }

    /// Creates an axis without results.
    public init(axis: String) { self.axis = axis }
}

/// One point of a Bode plot.
public struct BodePoint: Hashable, Sendable, Codable {
    /// Frequency.
    public var hz: Number
    /// Gain.
    public var db: Number
    /// Phase, not wrapped.
    public var deg: Number
    /// Coherence: share of the response that the excitation explains, 0...1; absent for a model.
    public var coherence: Number?

    /// A point.
    public init(hz: Number, db: Number, deg: Number, coherence: Number? = nil) {
        self.hz = hz
        self.db = db
        self.deg = deg
        self.coherence = coherence
    }
}
