/// How an autotune stands, and what it found: the answer to `autotune`.
public struct AutotuneReport: Hashable, Sendable, Codable {
    /// Where the run is.
    public enum State: String, Sendable, Codable {
        /// None has been asked for since the start.
        case idle
        /// It goes on.
        case running
        /// Done; `axes` and `proposals` hold the result.
        case done
        /// It could not be done, or was ended; `sentence` says why.
        case refused
    }

    /// A `State`; a string, so that a newer daemon does not make an older client fail.
    public var state = State.idle.rawValue
    /// 0...1.
    public var progress: Number = 0
    /// About how long it still takes.
    public var secondsLeft: Number = .unknown
    /// yaw, roll or pitch: what is shaken at present; absent when nothing is.
    public var axis: String?
    /// What it does at present, for a person; empty when it does nothing.
    public var activity = ""
    /// How it ended, for a person; empty while it goes on.
    public var sentence = ""
    /// What was found; filled when done.
    public var axes: [AutotuneAxis] = []
    /// Settings with 6 dB and 45° on what was found (for servos, with the default's margins), ready
    /// for `set`.
    public var proposals: [SettingProposal] = []
    /// Seconds until the proposals are taken back unless saved; absent when they were not applied.
    public var rollbackS: Number?

    enum CodingKeys: String, CodingKey {
        case state, progress, axis, activity, sentence, axes, proposals
        case secondsLeft = "seconds_left"
        case rollbackS = "rollback_s"
    }

    /// Nothing has happened yet.
    public init() {}

    /// Whether it goes on by itself.
    public var isRunning: Bool { state == State.running.rawValue }
}

/// What one motor turns, or how a servo answers, and how far the proposed loop is from instability.
public struct AutotuneAxis: Hashable, Sendable, Codable {
    /// yaw, roll or pitch.
    public var axis: String
    /// Moment of inertia.
    public var inertiaKgM2: Number = .unknown
    /// From torque to rate, with half a period; of a servo from command to the start of its answer.
    public var delayMs: Number = .unknown
    /// Lag of a servo's own position loop.
    public var lagMs: Number = .unknown
    /// Angle of the camera per angle that a servo was told.
    public var gain: Number = .unknown
    /// Coulomb friction.
    public var coulombNm: Number = .unknown
    /// Viscous friction, N·m·s/rad.
    public var viscous: Number = .unknown
    /// Spring, N·m/rad.
    public var stiffness: Number = .unknown
    /// Root mean square of the relative error that the model leaves.
    public var residual: Number = .unknown
    /// Of the proposed gains.
    public var gainMarginDb: Number = .unknown
    /// Of the proposed gains: how far the gain may fall.
    public var gainMarginDownDb: Number = .unknown
    /// Of the proposed gains.
    public var phaseMarginDeg: Number = .unknown
    /// Where the proposed loop crosses 0 dB.
    public var crossoverHz: Number = .unknown
    /// Rate per moment as measured; of a servo the camera's angle per angle that it was told.
    public var measured: [BodePoint] = []
    /// The same of the model.
    public var model: [BodePoint] = []
    /// The open loop with the proposed gains.
    public var loop: [BodePoint] = []

    enum CodingKeys: String, CodingKey {
        case axis, gain, viscous, stiffness, residual, measured, model, loop
        case inertiaKgM2 = "inertia_kg_m2"
        case delayMs = "delay_ms"
        case lagMs = "lag_ms"
        case coulombNm = "coulomb_nm"
        case gainMarginDb = "gain_margin_db"
        case gainMarginDownDb = "gain_margin_down_db"
        case phaseMarginDeg = "phase_margin_deg"
        case crossoverHz = "crossover_hz"
    }

    /// Whether a position servo turns the axis.
    public var isServo: Bool { lagMs.known != nil }

    /// An axis of which nothing is known.
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
    /// How much of the answer the excitation explains, 0...1; absent on a model.
    public var coherence: Number?

    /// A point.
    public init(hz: Number, db: Number, deg: Number, coherence: Number? = nil) {
        self.hz = hz
        self.db = db
        self.deg = deg
        self.coherence = coherence
    }
}
