public import Configuration
import GimbalCore
import Glibc
import Hardware
import Links
import Logging
import Persistence
import Policy
import Port
import Realtime
import Recording
import Robot
import ServiceLifecycle
import Simulation
import SystemPackage
import UnixSignals
import Wire

/// The whole daemon. `Daemon` creates the machine from a configuration, and runs the machine until
/// a signal arrives. Only this type chooses the concrete types of the parts; `init` creates all
/// parts that run.
public struct Daemon {
    private let machine: Machine
    private let tuning: Tuning
    private let housekeeping: Housekeeping
    private let diagnostics: DiagnosticsServer
    /// The simulator's server; nil unless the backend is lockstep.
    private let simulator: LockstepServer?
    /// Monitor of the battery.
    private let battery: BatteryMonitor
    /// The Bluetooth server; nil if Bluetooth is off.
    private let radio: BluetoothServer?
    /// The network links; nil in lockstep, because the peers do not use the simulator's clock.
    private let links: NetworkLinks?
    /// The wheels; nil if there are none.
    private let wheels: DriveMotors?
    /// The flight recorder; nil if it is off.
    private let recorder: FlightRecorder?
    /// The robot's motors; nil without stepper motors.
    private let steppers: StepperMotors?
    private let logger: Logger
    private let logStore: LogStore
    /// Record of the latched emergency stops; nil without a folder that outlives the process.
    private let stopRecord: StopRecord?
    /// Lock of the state directory; nil if the directory cannot be locked.
    private let stateLock: StateLock?

    /// Creates all parts of the daemon, but does not start them. The only file that this
    /// initialiser creates is the socket.
    ///
    /// - Parameters:
    ///   - source: Source of the configuration, for a reload.
    ///   - configuration: The loaded configuration.
    ///   - startProblems: Missing resources of the process, as sentences.
    /// - Throws: `DaemonError`, a sentence with a remedy.
    public init(
        source: ConfigurationSource, configuration: LoadedConfiguration, startProblems: [String]
    ) throws {
        let started = MonotonicClock.now
        try DescriptorLimit.demand()
        let isLockstep = configuration.settings.hardware.backend == .lockstep
        let clock = isLockstep ? LoopClock.lockstep() : .monotonic
        logStore = LogStore(isJournal: Journal.reads(STDERR_FILENO), clock: clock)
        let logStore = logStore
        logger = Logger(label: "airframed") { _ in StoreLogHandler(store: logStore) }
        let log = logger

        let stateOwner = StateOwner(
            directory: configuration.settings.persistence.directory, log: log)
        do throws(StateProblem) {
            stateLock = try stateOwner.lock()
        } catch {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.cannotCreate)
        }
        let store = stateOwner.load(into: configuration)
        let settings = store.settings
        let stabilizer = settings.stabilizerParameters(calibrated: stateOwner.calibrations)
        let loop = try LoopAssembly(settings, stabilizer)
        let sensors = loop.sensors
        let hub = TelemetryHub(ring: loop.telemetry)
        let wheels = settings.wheels
        self.wheels = wheels
        var turnWheels: (@Sendable (DriveModel.Request) -> Refusal?)?
        if let wheels { turnWheels = { wheels.refusal(of: $0) } }
        let steppers = isLockstep ? nil : settings.steppers
        self.steppers = steppers
        let commander = Commander(
            ring: loop.commands, bootMode: settings.mode.boot, rules: settings.commanderRules,
            loop: { hub.view.map { LoopState($0.record.snapshot) } },
            wheels: turnWheels,
            steppers: steppers.map { steppers in
                Steppers(hasSwitches: steppers.hasSwitches) { steppers.ask($1, axis: $0) }
            })
        stopRecord = StopRecord()
        stopRecord?.repeatStops(commander, now: clock.now, log: log)
        tuning = Tuning(
            store: store, source: source, stateOwner: stateOwner, correction: stabilizer.correction,
            mailbox: loop.tuning, commander: commander, clock: clock, log: log
        ) {
            logStore.setMinimum($0.logLevel)
            wheels?.set($0.robotPose)
        }
        let calibration = CalibrationService(store: tuning)
        let spectra = SpectrumService()
        let autotuning = AutotuneService(
            tuning: tuning, commander: commander, calibration: calibration)
        let setup = SetupService(
            tuning: tuning, commander: commander, calibration: calibration, hub: hub)
        let tuning = tuning
        recorder =
            settings.recording.enabled
            ? FlightRecorder(
                replayLog: loop.replayLog, bytes: settings.replayLogBytes,
                setup: settings.recorderSetup(clock: clock),
                settings: { tuning.settings.listing }) : nil
        housekeeping = Housekeeping(
            hub: hub, commander: commander, tuning: tuning, calibration: calibration,
            spectra: spectra, autotuning: autotuning, setup: setup, recorder: recorder,
            sensors: sensors)
        let driver = loop.source.driver(settings, clock: clock, housekeeping: housekeeping)
        let session = driver as? LockstepSession
        simulator = try session.map { session in
            try LockstepServer(
                configuration: settings.lockstepConfiguration, backend: session, logger: log)
        }

        // All long-lived memory has been allocated, so the memory can be locked.
        let isLocked = settings.loop.lockMemory && !isLockstep
        machine = Machine(
            driver: driver, commander: commander, hub: hub, sensors: sensors, steppers: steppers,
            clock: clock, lockstep: session,
            wakefulness: Wakefulness(), started: started,
            memory: isLocked ? RealtimeSetup.lockMemory() : nil, startProblems: startProblems)
        let port = DaemonPort(
            commander: commander, tuning: tuning, calibrations: calibration, spectra: spectra,
            autotuning: autotuning, setup: setup, steppers: steppers, hub: hub, clock: clock)
        let battery = BatteryMonitor(
            settings: { [tuning] in tuning.settings.battery },
            robot: { wheels?.report.flatMap { $0.battery.isFinite ? $0.battery : nil } },
            supply: sensors.drives.supply)
        self.battery = battery
        // In lockstep Bluetooth is off, because a phone does not use the simulator's clock.
        radio =
            settings.bluetooth.enabled && !isLockstep
            ? try BluetoothServer(
                configuration: settings.bluetoothConfiguration,
                services: BluetoothServices.make(port: port, log: log, battery: battery),
                logger: log) : nil
        let companions = Companions()
        do {
            links =
                isLockstep
                ? nil
                : try NetworkLinks(
                    settings, port: port, wheels: wheels, companions: companions, battery: battery,
                    effects: ControlEffects(tuning, recorder), log: log)
        } catch let error as SocketError {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.cannotCreate)
        }
        diagnostics = try DiagnosticsServer(
            configuration: DiagnosticsConfiguration(
                path: settings.diagnostics.socket, group: settings.diagnostics.group),
            port: port,
            services: MachineMethods(
                tuning: tuning, machine: machine, recorder: recorder, simulator: simulator,
                radio: radio, links: links, companions: companions, battery: battery,
                wheels: wheels
            ).services(
                port,
                TaskMethods(
                    tuning: tuning, commander: commander, calibration: calibration,
                    spectra: spectra, autotuning: autotuning, setup: setup, recorder: recorder,
                    logStore: logStore, radio: radio, clock: clock)),
            logger: log)
        do {
            try diagnostics.open()
            try simulator?.open()
        } catch {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.cannotCreate)
        }
        log.notice(
            "Version \(Version.text), configuration: \(configuration.filesSentence), backend: \(settings.hardware.backend.rawValue)."
        )
        if let sentence = configuration.unusedChips { log.warning("\(sentence)") }
    }

    /// Runs the daemon until SIGTERM or SIGINT. After the signal, the outputs are switched off
    /// within a second, before the other parts stop.
    ///
    /// - Throws: `DaemonError` if a part fails.
    public func run() async throws {
        let manager = ServiceManager()
        let control = ControlService(
            machine: machine, wheels: wheels, steppers: steppers, manager: manager, log: logger)
        let housekeeper = HousekeepingService(
            housekeeping: housekeeping, isTimer: simulator == nil, log: logger)
        // The services are stopped in reverse order: first the machine with its motors, last the
        // socket, which can report the stop.
        var services: [any Service] = [
            diagnostics, ReloadService(tuning: tuning, log: logger), housekeeper,
        ]
        if let recorder { services.append(RecorderService(recorder: recorder, log: logger)) }
        if let simulator { services.append(simulator) }
        if tuning.settings.battery.source != .none {
            services.append(BatteryService(monitor: battery, log: logger))
        }
        if let stopRecord {
            services.append(
                StopRecordService(record: stopRecord, commander: machine.commander, log: logger))
        }
        if let radio { services.append(radio) }
        if let links { services += links.services }
        if simulator == nil {
            services.append(
                SignalService(
                    hub: machine.hub, battery: battery,
                    settings: { [tuning] in tuning.settings.signals }, log: logger))
        }
        if manager.isThere {
            services.append(StatusLineService(hub: machine.hub, manager: manager))
        }
        if let feeder = manager.feeder {
            services.append(WatchdogService(driver: machine.driver, feeder: feeder))
        }
        services.append(control)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        defer {
            tuning.close()
            logStore.close()
        }
        do {
            try await group.run()
        } catch {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.failed)
        }
        logger.notice("airframed has stopped.")
    }
}

/// Reason why the daemon cannot run, as a sentence with a remedy.
public struct DaemonError: Error, CustomStringConvertible {
    /// Problem and remedy as a sentence.
    public let sentence: String
    /// Exit status of the process, as in sysexits(3).
    public let exitStatus: Int32

    /// EX_NOINPUT: the recorded motion for the simulation cannot be read.
    static let noInput: Int32 = 66
    /// EX_SOFTWARE: a part of the daemon failed.
    static let failed: Int32 = 70
    /// EX_IOERR: the hardware did not execute a command.
    static let inputOutput: Int32 = 74
    /// EX_CANTCREAT: the socket cannot be created, or another airframed uses the state directory.
    /// Only `Daemon.init` may use this status, because after this status `OutputsOff` assumes that
    /// the motors have not been switched on.
    static let cannotCreate: Int32 = 73

    /// Problem and remedy as a sentence.
    public var description: String { sentence }
}

extension LoadedConfiguration {
    /// Names of the configuration files, as part of a sentence.
    public var filesSentence: String {
        files.isEmpty ? "built-in defaults" : files.joined(separator: ", ")
    }
}
