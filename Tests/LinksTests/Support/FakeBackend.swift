import Glibc
import Links
import Port
import Synchronization
import Wire

/// A daemon without a machine: remembers what it was asked for, and can be told what to refuse.
final class FakeBackend: DiagnosticsBackend {
    struct Record {
        var time = 12.5
        var calls: [String] = []
        var closed: [Int] = []
        var refusal: Refusal?
        var samples = 0
        var statuses = 0
        /// Makes `status` as large as a test needs.
        var padding = 0
        /// Whether what is saved waits for `finishDisk`.
        var isDiskSlow = false
        var waiting: [@Sendable () -> Void] = []
        /// While this is true, `doctor` does not return.
        var isDoctorSlow = false
    }

    let record = Mutex(Record())

    var calls: [String] { record.withLock { $0.calls } }
    /// How often `status` was computed.
    var statuses: Int { record.withLock { $0.statuses } }
    var closed: [Int] { record.withLock { $0.closed } }

    func note(_ call: String) throws(Refusal) {
        let refusal = record.withLock { record in
            record.calls.append(call)
            return record.refusal
        }
        if let refusal { throw refusal }
    }

    func time() -> Double { record.withLock { $0.time } }

    func status() -> Status {
        record.withLock { $0.statuses += 1 }
        var status = Status()
        status.t = Number(time())
        status.version = "0.1.0"
        status.mode = "locked"
        status.isEnabled = true
        status.attitude.pitchDeg = -29.5
        status.attitude.yawDeg = Number(.infinity)
        status.inhibitions = [
            Inhibition(name: "imu_missing", sentence: "No sample has arrived yet.")
        ]
        let padding = record.withLock { $0.padding }
        status.faults.lastError = String(repeating: "x", count: padding)
        return status
    }

    func doctor() -> [DoctorCheck] {
        while record.withLock({ $0.isDoctorSlow }) { usleep(1000) }
        return [DoctorCheck("loop", .ok, "1000 Hz")]
    }
    func version() -> VersionInfo { VersionInfo(program: "airframed", version: "0.1.0") }

    func settings() -> [Setting] {
        [
            Setting(key: "loop.rate_hz", value: 1000, defaultValue: 1000, origin: "default"),
            Setting(key: "mode.boot", value: "locked", defaultValue: "inactive", origin: "live"),
        ]
    }

    func set(key: String, value: JSONValue, rollback: Double?, client: DiagnosticsClient)
        throws(Refusal) -> Setting
    {
        try note("set \(key) \(value.text) \(rollback.map { "\($0)" } ?? "-")")
        return Setting(key: key, value: value, defaultValue: .null, origin: "live")
    }

    func diff() -> [SettingChange] { [] }
    func history() -> [HistoryEntry] { [] }
    func save(client: DiagnosticsClient, _ done: @escaping Later<Acknowledgement>) {
        answer("save", Acknowledgement("Saved."), done)
    }
    func baseline(
        _ request: BaselineRequest, client: DiagnosticsClient,
        _ done: @escaping Later<BaselineReport>
    ) {
        answer("baseline \(request)", BaselineReport(names: ["good"], sentence: "Done."), done)
    }
    func reload(client: DiagnosticsClient, _ done: @escaping Later<ReloadReport>) {
        answer(
            "reload",
            ReloadReport(applied: [], needsRestart: [], sentence: "Nothing changed."), done)
    }

    /// Answers at once, or when the test says that the disk is done.
    private func answer<Value: Sendable>(
        _ call: String, _ value: Value, _ done: @escaping Later<Value>
    ) {
        let result = Result { () throws(Refusal) in
            try note(call)
            return value
        }
        let isSlow = record.withLock { record in
            if record.isDiskSlow { record.waiting.append { done(result) } }
            return record.isDiskSlow
        }
        if !isSlow { done(result) }
    }

    /// The disk has done what waits for it.
    func finishDisk() {
        let waiting = record.withLock { record in
            defer { record.waiting = [] }
            return record.waiting
        }
        for answer in waiting { answer() }
    }

    func move(_ request: MotionRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        try note("\(request)")
        return Acknowledgement("Moving.")
    }
    func stop(client: DiagnosticsClient) -> Acknowledgement {
        record.withLock { $0.calls.append("stop") }
        return Acknowledgement("Stopped.")
    }

    var calibrationNames: [String] { ["gyro", "accelerometer"] }
    func calibrate(
        _ request: CalibrationRequest, client: DiagnosticsClient,
        _ done: @escaping Later<CalibrationReport>
    ) {
        var report = CalibrationReport()
        report.sentence = "Looked at."
        answer("calibrate \(request)", report, done)
    }

    func spectrum(_ request: SpectrumRequest, client: DiagnosticsClient)
        throws(Refusal) -> SpectrumReport
    {
        try note("spectrum \(request)")
        return SpectrumReport()
    }

    func autotune(_ request: AutotuneRequest, client: DiagnosticsClient)
        throws(Refusal) -> AutotuneReport
    {
        try note("autotune \(request)")
        return AutotuneReport()
    }

    func record(
        _ request: RecordRequest, client: DiagnosticsClient
    ) throws(Refusal) -> RecorderStatus {
        try note("record \(request)")
        return RecorderStatus()
    }

    func pair(
        _ request: PairRequest, client: DiagnosticsClient
    ) throws(Refusal) -> BluetoothStatus {
        try note("pair \(request)")
        return BluetoothStatus()
    }

    func log(since: Int?, limit: Int) -> LogPage {
        LogPage(
            lines: [LogLine(sequence: 7, t: 1, level: "info", message: "Started.")], next: 8,
            lost: 0)
    }

    var variables: [Variable] {
        [
            Variable(name: "attitude.pitch_deg", unit: "°", summary: "Pitch"),
            Variable(name: "attitude.roll_deg", unit: "°", summary: "Roll"),
            Variable(name: "loop.ticks", unit: "", summary: "Ticks"),
        ]
    }
    func sample(_ indices: [Int]) -> VariableSample {
        record.withLock { record in
            record.samples += 1
            return VariableSample(
                t: Double(record.samples),
                values: indices.map { $0 == 1 ? .double(.nan) : .int(record.samples) })
        }
    }

    func clientClosed(_ client: DiagnosticsClient) {
        record.withLock { $0.closed.append(client.id) }
    }
}
