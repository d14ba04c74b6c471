import Configuration
import Dispatch
import GimbalCore
import Glibc
import Links
import Logging
import Policy
import Port
import Realtime
import Simulation
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

/// Simulated phone: keeps all notified values of each characteristic.
final class Phone: GATTNotifier {
    nonisolated(unsafe) private(set) var heard: [GATTUUID: [[UInt8]]] = [:]

    func notify(_ characteristic: GATTUUID, _ value: [UInt8]) {
        heard[characteristic, default: []].append(value)
    }

    /// Result of a write that is answered later.
    private final class Answer: Sendable {
        let result = Mutex<Result<Void, ATTError>?>(nil)
    }
    nonisolated(unsafe) private var answer: Answer?

    func answerLater() -> @Sendable (ATTError?) -> Void {
        let answer = Answer()
        self.answer = answer
        return { error in answer.result.withLock { $0 = error.map { .failure($0) } ?? .success(()) }
        }
    }

    /// Discards the pending answer of the previous write.
    func begin() { answer = nil }

    /// Waits for the answer if the write is answered later.
    func finish() throws(ATTError) {
        guard let answer else { return }
        self.answer = nil
        for _ in 0..<20_000 {
            if let result = answer.result.withLock({ $0 }) { return try result.get() }
            usleep(500)
        }
        Issue.record("no answer within 10 s")
    }
}

/// The daemon's Bluetooth services with a simulated gimbal. Time advances only in `run`.
final class BluetoothBench {
    static let iPhone = Central(address: "C0:1A:B0:00:00:02", connection: 1)
    static let iPad = Central(address: "C0:1A:B0:00:00:03", connection: 2)
    static let laptop = CommandSource(link: .diagnostics, connection: 1)
    static let degrees = 180 / Double.pi

    let commander: Commander
    let tuning: Tuning
    let calibration: CalibrationService
    let spectra = SpectrumService()
    let autotuning: AutotuneService
    let setup: SetupService
    let services: [any GATTService]
    let phone = Phone()
    var airOS: any GATTService { services[0] }

    let logStore = LogStore(isJournal: false)
    let hub: TelemetryHub
    let clock = LoopClock.lockstep()
    private var engine: LockstepEngine
    private var gimbal: SimulatedGimbal
    private var tick: Int64 = 1000

    init(
        _ directory: FilePath, _ overrides: [String] = [], file: FilePath? = nil,
        encoders: Bool = true, motion: HandleMotion = .still
    ) throws {
        let source = ConfigurationSource(
            config: file?.string,
            overrides: ["persistence.directory=\(directory)/state", "log.level=trace"] + overrides)
        let logStore = logStore
        let log = Logger(label: "test") { _ in StoreLogHandler(store: logStore) }
        let stateOwner = StateOwner(directory: "\(directory)/state", log: log)
        let store = stateOwner.load(into: try ConfigurationLoader.load(source))
        let settings = store.settings
        let assembly = LockstepEngine.assemble(
            parameters: settings.stabilizerParameters(calibrated: stateOwner.calibrations))
        engine = assembly.engine
        let hub = TelemetryHub(ring: assembly.telemetry)
        self.hub = hub
        commander = Commander(
            ring: assembly.commands, bootMode: settings.mode.boot, rules: settings.commanderRules,
            loop: { hub.view.map { LoopState($0.record.snapshot) } })
        tuning = Tuning(
            store: store, source: source, stateOwner: stateOwner,
            correction: settings.stabilizerParameters(calibrated: stateOwner.calibrations)
                .correction,
            mailbox: assembly.tuning, commander: commander, clock: clock, log: log
        ) { [logStore] in logStore.setMinimum($0.logLevel) }
        calibration = CalibrationService(store: tuning)
        autotuning = AutotuneService(
            tuning: tuning, commander: commander, calibration: calibration)
        setup = SetupService(
            tuning: tuning, commander: commander, calibration: calibration, hub: hub)
        services = BluetoothServices.make(
            port: DaemonPort(
                commander: commander, tuning: tuning, calibrations: calibration,
                spectra: spectra, autotuning: autotuning, setup: setup, steppers: nil, hub: hub,
                clock: clock),
            log: log, battery: BatteryMonitor { [tuning] in tuning.settings.battery })
        var parameters = SimulatedGimbal.Parameters()
        parameters.plant.stepRate = 4000
        parameters.imu.sampleRate = 500
        if !encoders { parameters.encoderCounts = 0 }
        gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(motion, seed: 1), seed: 1)
        clock.set(now, t: now.seconds(since: Instant(nanoseconds: 0)))
    }

    /// Time of the loop, which is the simulated time.
    var now: Instant { Instant(nanoseconds: tick * 2_000_000) }
    /// True direction of the camera, degrees.
    var camera: AxisVector { EulerZXY.angles(gimbal.attitude) * Self.degrees }
    var snapshot: StabilizerSnapshot { engine.snapshot }
    var door: ControlState { commander.view(now: now) }

    /// All log messages.
    var log: String {
        logStore.page(since: 0, limit: 1000).lines.map(\.message).joined(separator: "\n")
    }

    /// Advances the simulated time, with 500 ticks per second.
    func run(_ seconds: Double) {
        for _ in 0..<Int((seconds * 500).rounded()) { step() }
    }

    /// Advances the simulated time until the condition is true, for at most this time. Waits in
    /// real time for the disk, which uses no simulated time.
    func run(until isTrue: () throws -> Bool, atMost seconds: Double) rethrows -> Double? {
        for count in 1...Int(seconds * 500) {
            step()
            if calibration.progress.isRunning { waitForDisk() }
            if try isTrue() { return Double(count) / 500 }
        }
        return nil
    }

    /// Waits in real time, for at most 10 s, until all earlier changes are on the disk.
    private func waitForDisk() {
        let end = DispatchSemaphore(value: 0)
        tuning.stateOwner.write(by: "test", "nothing") { _ in
            throw Trouble("this change only waits for the earlier changes")
        } done: { _ in
            end.signal()
        }
        _ = end.wait(timeout: .now() + 10)
    }

    /// Restarts the loop, as for another simulator: the present heading becomes zero.
    func restartLoop() { engine.restart() }

    private func step() {
        tick += 1
        let time = now
        clock.set(time, t: time.seconds(since: Instant(nanoseconds: 0)))
        var output = MotorOutput.off
        gimbal.advance(to: time) { output = self.engine.tick($0, conditions: .none) }
        gimbal.apply(output, at: time)
        hub.drain {
            calibration.feed($0.snapshot)
            autotuning.feed($0.snapshot)
        }
        commander.advance(now: time)
        tuning.advance(now: time)
        calibration.advance(now: time, date: 1000)
        autotuning.advance(now: time)
        for service in services { _ = service.advance(now: time, mtu: 23, phone) }
    }

    func write(
        _ characteristic: AirOSCharacteristic, _ value: [UInt8], by central: Central = iPhone
    ) throws(ATTError) {
        phone.begin()
        try airOS.write(GATTUUID(characteristic.rawValue), value, by: central, now: now, phone)
        try phone.finish()
    }

    func say(_ text: String, by central: Central = iPhone) throws(ATTError) {
        try write(.control, Array(text.utf8), by: central)
    }

    func read(_ characteristic: AirOSCharacteristic) throws(ATTError) -> [UInt8] {
        try airOS.read(GATTUUID(characteristic.rawValue), by: Self.iPhone, now: now)
    }

    /// Angle that the app receives, degrees.
    func angle(_ characteristic: AirOSCharacteristic) throws(ATTError) -> Double {
        let bytes = try read(characteristic)
        let bits = bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(Float(bitPattern: bits))
    }

    /// Advances the simulated time until the motors hold the camera.
    func start() throws {
        let seconds = run(
            until: { snapshot.output.enabled && !snapshot.conditions.intersects(.inertiaUnknown) },
            atMost: 10)
        try #require(seconds != nil)
        run(1)
    }
}

/// Runs `body` with a bench in a temporary directory, with these settings.
func withBench(
    _ overrides: [String] = [], motion: HandleMotion = .still,
    _ body: (BluetoothBench, FilePath) throws -> Void
) throws {
    try withTemporaryDirectory { directory in
        try body(BluetoothBench(directory, overrides, motion: motion), directory)
    }
}
