import CLinuxShim
import Calibration
import GimbalCore
import Hardware
import Links
import Policy
import Port
import Realtime
import Wire

/// What the diagnostics socket is told and may ask: the link's backend, made of the machine's own doors.
///
/// Called on the socket's thread. Motion is in `MotionAnswer.swift`, parameters go to `Tuning`; here is what only looks.
struct DiagnosticsAdapter: DiagnosticsBackend {
    let tuning: Tuning
    let machine: Machine
    let calibration: CalibrationService
    let spectra: SpectrumService
    let autotuning: AutotuneService
    /// Nil when it is off.
    let recorder: FlightRecorder?
    let logStore: LogStore
    /// Nil on the computer's own clock.
    let simulator: LockstepServer?
    let bluetooth: BluetoothDoor
    /// How the other links are.
    let links: NetworkLinks?

    func settle() { simulator?.settle() }

    func time() -> Double { machine.clock.seconds(machine.clock.now) }

    func status() -> Status {
        var status = Status()
        let now = machine.clock.now
        StatusReport(
            view: machine.hub.view, door: machine.commander.view(now: now),
            settings: tuning.settings, now: now
        ).fill(&status)
        status.t = Number(machine.clock.seconds(now))
        machine.sensors.fill(&status, tuning.settings)
        status.uptimeS = Number(MonotonicClock.now.seconds(since: machine.started))
        if let lockstep = machine.lockstep { fill(&status, lockstep) }
        status.loop.stages = Stage.allCases.map { machine.timing(of: $0) }
        status.realtime = machine.realtimeStatus
        status.memory = .current
        status.configuration = tuning.configurationStatus
        status.control = tuning.controlStatus
        status.bluetooth = bluetooth.server?.status
        status.recorder = recorder?.status ?? RecorderStatus()
        status.links = links?.status ?? []
        status.robot = machine.steppers?.status
        return status
    }

    /// Between two lines no tick shows what was asked for, although it is in force.
    private func fill(_ status: inout Status, _ lockstep: LockstepSession) {
        let door = machine.commander.view(now: machine.clock.now)
        status.lockstep = lockstep.report
        status.mode = door.mode.name
        let stop = Conditions.emergencyStop.words.map {
            Inhibition(name: $0.name, sentence: $0.sentence)
        }
        if door.isStopped, !stop.allSatisfy(status.inhibitions.contains) {
            status.inhibitions = stop + status.inhibitions
        }
    }

    func doctor() -> [DoctorCheck] {
        let status = status()
        let facts = MachineFacts.read(tuning.settings)
        return Doctor(status: status).checks
            + MachineDoctor(status: status, facts: facts).checks
            + bluetooth.checks(status.bluetooth) + LinkDoctor(settings: tuning.settings).checks
    }

    func pair(
        _ request: PairRequest, client: DiagnosticsClient
    ) throws(Refusal) -> BluetoothStatus {
        try bluetooth.pair(request)
    }

    func version() -> VersionInfo {
        VersionInfo(program: "airframed", version: Version.text)
    }

    func settings() -> [Setting] { tuning.list() }

    func set(
        key: String, value: JSONValue, rollback: Double?, client: DiagnosticsClient
    ) throws(Refusal) -> Setting {
        try tuning.set(key: key, value: value, rollback: rollback, client: client)
    }

    func diff() -> [SettingChange] { tuning.diff() }

    func history() -> [HistoryEntry] { tuning.history.entries }

    func save(client: DiagnosticsClient, _ done: @escaping Later<Acknowledgement>) {
        tuning.save(by: client.description, done)
    }

    func baseline(
        _ request: BaselineRequest, client: DiagnosticsClient,
        _ done: @escaping Later<BaselineReport>
    ) {
        tuning.baseline(request, by: client.description, done)
    }

    func reload(client: DiagnosticsClient, _ done: @escaping Later<ReloadReport>) {
        tuning.reload(by: client.description, done)
    }

    var calibrationNames: [String] { CalibrationKind.allCases.map(\.rawValue) }

    func calibrate(
        _ request: CalibrationRequest, client: DiagnosticsClient,
        _ done: @escaping Later<CalibrationReport>
    ) {
        switch request {
        case .status: done(.success(calibration.status()))
        case .cancel: done(.success(calibration.cancel()))
        case .undo(let name): calibration.undo(name.flatMap(CalibrationKind.init), done)
        case .start(let name):
            done(
                Result { () throws(Refusal) in
                    guard let kind = CalibrationKind(rawValue: name) else {
                        throw Refusal(
                            .invalidParams, "there is no \(name) to calibrate", field: "what")
                    }
                    return try calibration.start(
                        kind, owner: CommandSource(client), now: machine.clock.now)
                })
        }
    }

    func spectrum(
        _ request: SpectrumRequest, client: DiagnosticsClient
    ) throws(Refusal) -> SpectrumReport {
        switch request {
        case .status: spectra.status
        case .cancel: spectra.cancel()
        case .start(let seconds):
            try spectra.start(seconds: seconds, owner: client.id, now: machine.clock.now)
        }
    }

    func autotune(
        _ request: AutotuneRequest, client: DiagnosticsClient
    ) throws(Refusal) -> AutotuneReport {
        switch request {
        case .status: return autotuning.status
        case .cancel: return autotuning.cancel()
        case .start(let names, let apply):
            let axes = names.compactMap { name in GimbalAxis.allCases.first { $0.name == name } }
            return try autotuning.start(
                axes: axes, apply: apply, owner: client.id, now: machine.clock.now)
        }
    }

    func record(
        _ request: RecordRequest, client: DiagnosticsClient
    ) throws(Refusal) -> RecorderStatus {
        guard let recorder else {
            if request == .status { return RecorderStatus() }
            throw Refusal(
                .refused, "There is no recorder: recording.enabled is false. It takes a restart.")
        }
        switch request {
        case .status: return recorder.status
        case .last(let seconds): return recorder.record(last: seconds)
        case .start: return recorder.setRecording(true)
        case .stop: return recorder.setRecording(false)
        }
    }

    func log(since: Int?, limit: Int) -> LogPage { logStore.page(since: since, limit: limit) }

    var variables: [Variable] { VariableTable.variables }

    func sample(_ indices: [Int]) -> VariableSample {
        guard let record = machine.hub.view?.record else {
            return VariableSample(t: time(), values: indices.map { _ in .null })
        }
        return VariableSample(
            t: machine.clock.seconds(record.now),
            values: indices.map { VariableTable.value($0, in: record) })
    }

    func clientClosed(_ client: DiagnosticsClient) {
        machine.commander.disconnected(CommandSource(client), now: machine.clock.now)
        calibration.disconnected(CommandSource(client))
        spectra.disconnected(client.id)
        autotuning.disconnected(client.id)
    }
}
