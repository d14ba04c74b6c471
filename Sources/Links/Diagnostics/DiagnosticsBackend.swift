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

    /// Asks for motion, or for control of it.
    func move(_ request: MotionRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    /// Emergency stop. Cannot be refused, whoever is in control.
    func stop(client: DiagnosticsClient) -> Acknowledgement

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
