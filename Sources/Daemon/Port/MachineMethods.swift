import Calibration
import Configuration
import GimbalCore
import Hardware
import Links
import Observables
import Policy
import Port
import Realtime
import Wire

/// Methods of the diagnostics socket that report the state of the machine.
struct MachineMethods: Sendable {
    let tuning: Tuning
    let machine: Machine
    /// The flight recorder; nil if it is off.
    let recorder: FlightRecorder?
    /// The simulator's server; nil unless the backend is lockstep.
    let simulator: LockstepServer?
    /// The Bluetooth server; nil if Bluetooth is off.
    let radio: BluetoothServer?
    /// The links over networks and serial ports; nil in lockstep.
    let links: NetworkLinks?
    let companions: Companions
    let battery: BatteryMonitor
    /// The wheels; nil if there are none.
    let wheels: DriveMotors?
    private let doctorLooks = StatusHistory()

    /// All methods and variables of the socket, in the order in which the socket lists them.
    func services(_ port: DaemonPort, _ tasks: TaskMethods) -> SocketServices {
        let following = FollowingMethods(
            port: port, hub: machine.hub, companions: companions, clock: machine.clock)
        return SocketServices(
            methods: looks + [companions.method] + following.methods
                + [CameraMethods(companions: companions).method] + SocketMethod.settings(tuning)
                + SocketMethod.motion(port) + tasks.methods,
            variables: Observable.variables, sample: sample, time: time,
            settle: { [simulator] in simulator?.settle() },
            left: { [recorder] in
                following.left($0)
                recorder?.endRecording(of: $0)
            })
    }

    private var looks: [SocketMethod] {
        [
            .question(
                "status",
                "Returns the present state of the gimbal: mode, attitude, motors, faults, links and recorder."
            ) { (_, clients) throws(Refusal) in
                status(clients)
            }.answering(Status.self),
            .question("doctor", "Runs checks, and returns findings with remedies.") {
                (_, _) throws(Refusal) in
                let status: Status
                do {
                    status = try self.status(ClientStatus()).decoded()
                } catch {
                    throw Refusal(.internalError, "The status cannot be read: \(error)")
                }
                let settings = tuning.settings
                var facts = MachineFacts.read(settings)
                (facts.startProblem, facts.unusedChips) = tuning.startFindings()
                let calibrations = tuning.calibrations
                let calibrated = calibrations.check(of: settings.calibrationKinds)
                let others: [DoctorCheck?] = [
                    status.drive?.check, status.battery?.check, calibrated,
                    SettingsDoctor(settings: settings).check,
                ]
                let before = doctorLooks.note(status, now: MonotonicClock.now)
                let compared = StatusDoctor.checks(
                    before?.status, status, elapsed: before?.elapsed ?? 0,
                    isMountingCalibrated: calibrations.record(.mounting) != nil)
                return Doctor(status: status, earlier: before?.status).checks
                    + MachineDoctor(status: status, facts: facts).checks
                    + BluetoothDoctor.checks(status.bluetooth)
                    + LinkDoctor(settings: settings, controls: links?.controls.report).checks
                    + others.compactMap(\.self)
                    + status.companions.map(\.check) + compared
            }.answering([DoctorCheck].self),
            .task(
                "controls",
                "Lists buttons, sticks and gamepads, or identifies the control that a person uses next.",
                [
                    .action(
                        ["status", "learn", "cancel"],
                        "\"status\" changes nothing; \"learn\" replies at once, then \"status\" contains the next control that is used."
                    ),
                    .number(
                        "seconds", in: 1...300, unit: "seconds",
                        "Timeout of the action \"learn\"; default: 30."),
                ]
            ) { (parameters, caller) throws(Refusal) in
                let seconds = try parameters.number("seconds")
                let action = try parameters.action()
                guard let controls = links?.controls else {
                    throw Refusal(
                        .refused,
                        "Controls are not used while a simulator supplies the clock (lockstep).")
                }
                if action == "status" { return controls.report }
                try caller.requireWrite()
                try caller.requirePerson(for: "controls \(action)")
                controls.learn(seconds: action == "learn" ? seconds ?? 30 : 0)
                return controls.report
            }.answering(ControlsReport.self),
            .question(
                "hardware",
                "Lists buses, devices and chips of the computer, and proposes a configuration. The buses are read only while the motors are off.",
                [
                    .bool(
                        "spi",
                        "If true, SPI devices are also read, which can change chips that are not sensors."
                    )
                ], needsWrite: true
            ) { (parameters, _) throws(Refusal) in
                HardwareInventory().report(includesSPI: try parameters.bool("spi") ?? false) {
                    // If there is no record, the loop has not run, so the motors have not been on.
                    tuning.settings.hardware.backend != .linux
                        || machine.hub.view?.record.snapshot.phase ?? .off == .off
                }
            }.answering(HardwareReport.self),
            .question("version", "Returns the versions of airframed and of the protocol.") {
                (_, _) throws(Refusal) in
                VersionInfo(program: "airframed", version: Version.text)
            }.answering(VersionInfo.self),
        ]
    }

    // MARK: Status

    private func status(_ clients: ClientStatus) -> StatusReply {
        let view = machine.hub.view
        var status = Status()
        let now = machine.clock.now
        StatusReport(
            view: view, control: machine.commander.view(now: now),
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
        status.bluetooth = radio?.status
        status.recorder = recorder?.status ?? RecorderStatus()
        status.links = links?.status ?? []
        status.robot = machine.steppers?.status
        status.drive = wheels?.status(tuning.settings, now: MonotonicClock.now)
        status.battery = battery.status(now: MonotonicClock.now)
        status.supply = machine.sensors.drives.supply.status(tuning.settings)
        status.companions = companions.status(now: MonotonicClock.now)
        status.clients = clients
        return StatusReply(status, view?.record)
    }

    /// Adds the state of lockstep to the status. In lockstep the loop executes requests only at the
    /// simulator's next message, but `status` already shows the newest request.
    private func fill(_ status: inout Status, _ lockstep: LockstepSession) {
        let control = machine.commander.view(now: machine.clock.now)
        status.lockstep = lockstep.report
        status.mode = control.mode.name
        let stop = Conditions.emergencyStop.words.map {
            Inhibition(name: $0.name, sentence: $0.sentence)
        }
        if control.isStopped, !stop.allSatisfy(status.inhibitions.contains) {
            status.inhibitions = stop + status.inhibitions
        }
    }

    @Sendable private func time() -> Double { machine.clock.seconds(machine.clock.now) }

    @Sendable private func sample(_ indices: [Int]) -> VariableSample {
        guard let record = machine.hub.view?.record else {
            return VariableSample(t: time(), values: indices.map { _ in .null })
        }
        return VariableSample(
            t: machine.clock.seconds(record.now),
            values: indices.map { Observable.all[$0].read(record) })
    }
}
