public import Configuration
import GimbalCore
import Glibc
import Links
import Logging
import Persistence
import Realtime
import ServiceLifecycle
import Simulation
import SystemPackage
import UnixSignals
import Wire

/// The whole daemon: builds the machine from a configuration, and runs it until it is asked to stop. The only place that
/// names concrete types; read `init` and you know what runs.
public struct Daemon {
    private let machine: Machine
    private let tuning: Tuning
    private let calibration: CalibrationService
    private let diagnostics: DiagnosticsServer
    private let logger: Logger

    /// Builds everything, starts nothing but the socket's file.
    ///
    /// - Parameters:
    ///   - source: Where the configuration came from, to be read again on reload.
    ///   - configuration: What was read.
    ///   - startProblems: What the process could not have, in sentences.
    /// - Throws: `DaemonError` with a sentence that says what to do.
    public init(
        source: ConfigurationSource, configuration: LoadedConfiguration, startProblems: [String]
    ) throws {
        let started = MonotonicClock.now
        let logStore = LogStore(isJournal: getenv("JOURNAL_STREAM") != nil)
        logger = Logger(label: "airframed") { _ in StoreLogHandler(store: logStore) }
        let log = logger

        var saved = SavedTuning(directory: configuration.settings.persistence.directory, log: log)
        let store = saved.load(into: configuration)
        let settings = store.settings
        let stabilizer = settings.stabilizerParameters(calibrated: saved.calibrations)
        let assembly = GimbalRuntime.assemble(
            parameters: stabilizer, bus: Self.bus(settings),
            settings: settings.runtimeSettings)
        let runtime = assembly.runtime
        let commander = Commander(
            ring: assembly.commands, bootMode: settings.mode.boot, rules: settings.commanderRules)
        let hub = TelemetryHub(ring: assembly.telemetry)
        tuning = Tuning(
            store: store, source: source, saved: saved, correction: stabilizer.correction,
            mailbox: assembly.tuning, commander: commander, logStore: logStore, log: log)
        calibration = CalibrationService(door: tuning)

        // Everything that allocates for long is built now; what follows is locked in place.
        let memory = settings.loop.lockMemory ? RealtimeSetup.lockMemory() : nil
        machine = Machine(
            runtime: runtime, commander: commander, hub: hub, wakefulness: Wakefulness(),
            started: started, memory: memory,
            startProblems: startProblems)
        diagnostics = try DiagnosticsServer(
            configuration: DiagnosticsConfiguration(
                path: settings.diagnostics.socket, group: settings.diagnostics.group),
            backend: DiagnosticsAdapter(
                motion: MotionDoor(commander: commander), tuning: tuning, machine: machine,
                calibration: calibration, logStore: logStore),
            logger: log)
        do {
            try diagnostics.open()
        } catch {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.cannotCreate)
        }
        log.notice(
            "airframed \(Version.text): \(configuration.filesSentence), backend \(settings.hardware.backend.rawValue)."
        )
    }

    /// Runs until SIGTERM or SIGINT; then outputs off first, within a second.
    ///
    /// - Throws: `DaemonError` when a part fails.
    public func run() async throws {
        let control = ControlService(machine: machine, log: logger)
        // Stopped in reverse order: the machine and its motors first, the socket that can explain it last.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: diagnostics),
                    .init(service: ReloadService(tuning: tuning, log: logger)),
                    .init(
                        service: HousekeepingService(
                            machine: machine, tuning: tuning, calibration: calibration,
                            log: logger)),
                    .init(service: control),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.failed)
        }
        logger.notice("airframed has stopped.")
    }

    /// The sensors and motors that the configuration names.
    private static func bus(_ settings: Settings) -> any GimbalBus {
        switch settings.hardware.backend {
        case .simulated: SimulatedBus(settings)
        }
    }
}

/// Why the daemon cannot run, as a sentence that says what to do.
public struct DaemonError: Error, CustomStringConvertible {
    /// The sentence.
    public let sentence: String
    /// What the process ends with; sysexits(3).
    public let exitStatus: Int32

    /// EX_SOFTWARE: a part of the daemon failed.
    static let failed: Int32 = 70
    /// EX_CANTCREAT: the socket cannot be made.
    static let cannotCreate: Int32 = 73

    /// The sentence.
    public var description: String { sentence }
}

extension LoadedConfiguration {
    /// The files that were read, as part of a sentence.
    public var filesSentence: String {
        files.isEmpty ? "built-in defaults, no file" : files.joined(separator: ", ")
    }
}
