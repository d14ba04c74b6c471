public import Port
public import Wire

/// One connection to the socket, as the backend sees it: who holds control, and whom a log line is about.
public struct DiagnosticsClient: Hashable, Sendable, CustomStringConvertible {
    /// Unique in the life of the process.
    public var id: Int
    /// Process that connected; 0 when it is in a namespace that the daemon cannot see.
    public var pid: Int32
    /// User that connected.
    public var user: UInt32

    /// A client with this identity.
    public init(id: Int, pid: Int32, user: UInt32) {
        self.id = id
        self.pid = pid
        self.user = user
    }

    /// "diagnostics client 3 (pid 812, uid 1000)".
    public var description: String { "diagnostics client \(id) (pid \(pid), uid \(user))" }
}

/// Angles to turn to, earth frame, Z-X-Y, degrees; an axis left out keeps its set-point.
public struct PointRequest: Hashable, Sendable {
    /// Yaw, -360...360.
    public var yaw: Double?
    /// Roll, -180...180.
    public var roll: Double?
    /// Pitch, -180...180.
    public var pitch: Double?
    /// Seconds, 0...600; 0 is as fast as the limits allow.
    public var duration: Double
    /// Fastest that an axis may turn, degrees per second; 0 is as the limits allow.
    public var rate: Double

    /// A request for these angles.
    public init(
        yaw: Double?, roll: Double?, pitch: Double?, duration: Double = 0, rate: Double = 0
    ) {
        self.rate = rate
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
        self.duration = duration
    }
}

/// Rates to turn at, degrees per second, -1000...1000 each.
public struct RateRequest: Hashable, Sendable {
    /// About the outermost joint.
    public var yaw: Double
    /// About the middle joint.
    public var roll: Double
    /// About the innermost joint.
    public var pitch: Double

    /// A request for these rates.
    public init(yaw: Double, roll: Double, pitch: Double) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }
}

/// Speeds of two wheels, shares of full speed, -1...1 each.
public struct DriveRequest: Hashable, Sendable {
    /// The left wheel, forwards positive.
    public var left: Double
    /// The right wheel.
    public var right: Double

    /// A request for these speeds.
    public init(left: Double, right: Double) {
        self.left = left
        self.right = right
    }
}

/// What one of a robot's stepper motors is to do: go to a position, look for its home, or stand.
public struct StepRequest: Hashable, Sendable {
    /// Which motor.
    public enum Axis: String, Sendable, CaseIterable {
        /// The slider's.
        case slider
        /// The joystick's x.
        case x
        /// The joystick's y.
        case y

        /// 0...2, as the Commander counts them.
        public var index: Int {
            switch self {
            case .slider: 0
            case .x: 1
            case .y: 2
            }
        }
    }

    /// Which motor.
    public var axis: Axis
    /// Steps from home; nil: not to a position.
    public var position: Int?
    /// Whether it is to look for its home.
    public var isHome: Bool

    /// Whether it is to move, and not to stand.
    public var isMotion: Bool { isHome || position != nil }

    /// A request; with neither position nor home the motor stands.
    public init(axis: Axis, position: Int? = nil, isHome: Bool = false) {
        self.axis = axis
        self.position = position
        self.isHome = isHome
    }
}

/// Rates of whoever tracks a person, degrees per second, -1000...1000; one left out goes on as it is.
public struct TrackRequest: Hashable, Sendable {
    /// Right is positive.
    public var pan: Double?
    /// Down is positive.
    public var tilt: Double?

    /// A request for these rates.
    public init(pan: Double?, tilt: Double?) {
        self.pan = pan
        self.tilt = tilt
    }
}

/// What a request about baselines wants.
public enum BaselineRequest: Hashable, Sendable {
    /// The names there are.
    case list
    /// Keep the present values under a name.
    case store(String)
    /// Return to the values under a name.
    case restore(String)
    /// Forget a name and its values.
    case delete(String)
}

/// What a request about calibration wants.
public enum CalibrationRequest: Hashable, Sendable {
    /// Where it stands, and what is in force.
    case status
    /// Begin one of `calibrationNames`.
    case start(String)
    /// End it without a result.
    case cancel
    /// Return to the one before; nil: of what was calibrated last.
    case undo(String?)
}

/// What a request about a spectrum wants.
public enum SpectrumRequest: Hashable, Sendable {
    /// Where a recording stands, and what came out.
    case status
    /// Begin one of so many seconds.
    case start(seconds: Double)
    /// End it without a result.
    case cancel
}

/// What a request about paired phones wants.
public enum PairRequest: Hashable, Sendable {
    /// Who is paired, and whether somebody waits for a passkey.
    case status
    /// New phones may pair for so many seconds; 0 ends it.
    case allow(seconds: Double)
    /// Forget the keys of the phone with this address.
    case forget(address: String)
}

/// What a request about recordings wants.
public enum RecordRequest: Hashable, Sendable {
    /// Where the recorder stands.
    case status
    /// Write the newest seconds of its memory.
    case last(seconds: Double)
    /// Begin a continuous recording.
    case start
    /// End it.
    case stop
}

/// What a request about autotune wants.
public enum AutotuneRequest: Hashable, Sendable {
    /// Where it stands, and what came out.
    case status
    /// Begin with these axes, by name, and put the result in force if asked.
    case start(axes: [String], apply: Bool)
    /// End it without a result.
    case cancel
}

/// One reading of subscribed variables.
public struct VariableSample: Sendable {
    /// When the values were true: seconds on the loop's clock.
    public var t: Double
    /// The values in the order in which they were asked for.
    public var values: [JSONValue]

    /// A reading with these values.
    public init(t: Double, values: [JSONValue]) {
        self.t = t
        self.values = values
    }
}

/// What the daemon offers to the diagnostics socket; the socket owns the protocol, the daemon implements it.
///
/// Functions that only look are called on the thread of the `QuestionDesk`, all others on the server's thread, where they should return
/// within a millisecond or so: while one runs, no client is served. A result that may have to wait for a disk is told to a `Later`, on
/// any thread; only its client waits. Types, ranges and write access are checked before; a refusal that needs the daemon's knowledge is
/// a `Refusal`, whose message the user reads.
public protocol DiagnosticsBackend: Sendable {
    /// Called before each request: whatever happened before it elsewhere, and counts, has been seen when this returns.
    func settle()
    /// Seconds on the loop's clock, for the `t` of every reply.
    func time() -> Double
    /// Everything about the machine; the server fills in `clients`.
    func status() -> Status
    /// The checks that only the daemon can make.
    func doctor() -> [DoctorCheck]
    /// Program and version.
    func version() -> VersionInfo

    /// Every setting, in the order of the sample file.
    func settings() -> [Setting]
    /// Changes a live setting; with `rollback` (seconds) it is taken back unless saved in time. Returns it as it is now.
    func set(key: String, value: JSONValue, rollback: Double?, client: DiagnosticsClient)
        throws(Refusal) -> Setting
    /// What differs from defaults, and what is not saved.
    func diff() -> [SettingChange]
    /// The newest changes of the tuning, oldest first.
    func history() -> [HistoryEntry]
    /// Writes live changes to the state directory.
    func save(client: DiagnosticsClient, _ done: @escaping Later<Acknowledgement>)
    /// Lists, stores, restores or deletes baselines.
    func baseline(
        _ request: BaselineRequest, client: DiagnosticsClient,
        _ done: @escaping Later<BaselineReport>)
    /// Reads the files again; a bad file is rejected whole.
    func reload(client: DiagnosticsClient, _ done: @escaping Later<ReloadReport>)

    /// Names that `setMode` takes.
    var modeNames: [String] { get }
    /// Changes the mode to one of `modeNames`.
    func setMode(_ name: String, client: DiagnosticsClient) throws(Refusal) -> Acknowledgement
    /// Turns to angles.
    func point(_ request: PointRequest, client: DiagnosticsClient)
        throws(Refusal) -> Acknowledgement
    /// Turns at rates until the socket's dead-man runs out.
    func rate(_ request: RateRequest, client: DiagnosticsClient)
        throws(Refusal) -> Acknowledgement
    /// Drives two wheels until the dead-man of driving runs out.
    func drive(_ request: DriveRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    /// Moves one of a robot's stepper motors, has it look for its home, or has it stand.
    func step(_ request: StepRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    /// With the mode inactive, moves the motor of an axis a little, for half a second from now.
    func testMotor(_ axis: String, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    /// In mode tracking, turns at these rates until the dead-man of tracking runs out.
    func track(_ request: TrackRequest, client: DiagnosticsClient)
        throws(Refusal) -> Acknowledgement
    /// Emergency stop. Cannot be refused, whoever is in control.
    func stop(client: DiagnosticsClient) -> Acknowledgement
    /// Releases a latched emergency stop.
    func resetStop(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement
    /// Takes control.
    func take(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement
    /// Gives control back.
    func release(client: DiagnosticsClient) throws(Refusal) -> Acknowledgement

    /// Names of what can be calibrated.
    var calibrationNames: [String] { get }
    /// Begins, watches, cancels or undoes a calibration; it goes on by itself, and ends with the connection.
    func calibrate(
        _ request: CalibrationRequest, client: DiagnosticsClient,
        _ done: @escaping Later<CalibrationReport>)

    /// Begins, watches or cancels a recording of the gyroscope; it goes on by itself, and ends with the connection.
    func spectrum(_ request: SpectrumRequest, client: DiagnosticsClient)
        throws(Refusal) -> SpectrumReport

    /// Begins, watches or cancels an autotune; it goes on by itself, and ends with the connection.
    func autotune(_ request: AutotuneRequest, client: DiagnosticsClient)
        throws(Refusal) -> AutotuneReport

    /// Has something recorded, or says how the recorder is; writing goes on by itself.
    func record(_ request: RecordRequest, client: DiagnosticsClient)
        throws(Refusal) -> RecorderStatus

    /// Lists paired phones, lets new ones pair, or forgets one.
    func pair(_ request: PairRequest, client: DiagnosticsClient)
        throws(Refusal) -> BluetoothStatus

    /// Log lines after `since` (nil: the newest), at most `limit`.
    func log(since: Int?, limit: Int) -> LogPage
    /// What can be subscribed to; fixed for the life of the process.
    var variables: [Variable] { get }
    /// The newest values of these elements of `variables`.
    func sample(_ indices: [Int]) -> VariableSample

    /// A connection has ended, whatever the reason: control that it held is released at once.
    func clientClosed(_ client: DiagnosticsClient)
}

extension DiagnosticsBackend {
    /// Nothing to wait for.
    public func settle() {}
}
