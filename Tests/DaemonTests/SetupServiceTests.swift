import Calibration
import Configuration
import GimbalCore
import Glibc
import Logging
import Policy
import Port
import Realtime
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Steps of the set-up, with simultaneous requests") struct SetupServiceTests {
    /// Action that the Commander executes once, before it accepts a request.
    private final class Hook: Sendable {
        let action = Mutex<(@Sendable () -> Void)?>(nil)

        func run() {
            let action = action.withLock { $0.take() }
            action?()
        }
    }

    private final class Flag: Sendable { let isSet = Mutex(false) }

    @Test("after the cancellation of a step, the step sends no request to the motors")
    func cancelled() throws {
        try withTemporaryDirectory { directory throws in
            let hook = Hook()
            let ends = makeRing(of: TimedCommand.self, capacity: 16)
            var ring = ends.reader
            let commander = Commander(
                ring: ends.writer, bootMode: .inactive, rules: Commander.Rules(),
                loop: {
                    hook.run()
                    return nil
                })
            let service = try Self.service(commander, in: "\(directory)/state")
            let (laptop, now) = (
                CommandSource(link: .diagnostics, connection: 1), Instant(seconds: 2)
            )
            try service.start(.motors, owner: laptop, who: "laptop", now: Instant(seconds: 1))
            for seconds in [1.0, 2] {
                service.feed(.at(seconds) { $0.accel = Vector3(0, 0, -9.81) })
            }
            let link = Worker(ThreadTable.state, capacity: 1)
            hook.action.withLock { action in
                action = {
                    let hasEnded = Flag()
                    link.post {
                        service.cancel(now: now)
                        hasEnded.isSet.withLock { $0 = true }
                    }
                    // The cancellation ends here, unless it waits for the request of the step.
                    for _ in 0..<100 where !hasEnded.isSet.withLock({ $0 }) { usleep(1000) }
                }
            }
            service.advance(now: now)
            #expect(link.end(within: 10))
            var commands: [Command] = []
            while let timed = ring.pop() { commands.append(timed.command) }
            // The start and the cancellation switch the motors off.
            #expect(commands.count == 3)
            #expect(commands.last == .mode(.inactive))
        }
    }

    @Test("a client that disconnects during a step switches the motors off, and loses control")
    func disconnected() throws {
        try withBench { bench, _ throws in
            let port = DaemonPort(
                commander: bench.commander, tuning: bench.tuning, calibrations: bench.calibration,
                spectra: bench.spectra, autotuning: bench.autotuning, setup: bench.setup,
                steppers: nil, hub: bench.hub, clock: bench.clock)
            bench.run(0.1)
            let laptop = BluetoothBench.laptop
            try bench.setup.start(.locked, owner: laptop, who: "laptop", now: bench.now)
            #expect(bench.door.holder == laptop)
            port.left(laptop, now: bench.now)
            #expect(bench.door.mode == .inactive && bench.door.holder == nil)
        }
    }

    @Test(
        "a later calibration without the set-up ends the failure of the step",
        .timeLimit(.minutes(1)))
    func calibratedOutside() throws {
        try withTemporaryDirectory { directory throws in
            let service = try Self.service(.idle(), in: "\(directory)/state")
            func state() -> String? {
                service.report().steps.first { $0.name == "gyro" }?.state
            }
            func calibrate(_ x: Double) throws {
                let record = CalibrationRecord(
                    kind: .gyro, values: [x, 0, 0], sigma: 2e-4, residual: 2e-4, date: 1e9 + x,
                    temperature: nil)
                try awaited { service.tuning.apply(record, by: "test", $0) }
            }
            for x in [0.01, 0.02] {
                service.fail(.gyro, "refused", "The camera moved.")
                #expect(state() == "failed")
                try calibrate(x)
                #expect(state() == "done")
            }
            // The undo restores the calibration that was active at the failure.
            _ = try awaited { service.tuning.undo(.gyro, by: "test", $0) }
            #expect(state() != "failed")
        }
    }

    @Test("the step locked names a fault that ended while the motors braked")
    func shortFault() {
        var run = LockedSetupRun(now: Instant(seconds: 1))
        func tick(_ milliseconds: Double, _ phase: Supervisor.Phase, _ fault: Conditions = .none) {
            run.feed(
                .at(1 + milliseconds / 1000, fault, enabled: phase != .off) {
                    $0.phase = phase
                    $0.authority = phase == .off ? 0 : 1
                })
        }
        tick(1, .off, .inactiveMode)
        tick(2, .active)
        tick(3, .braking, .driveSilent)
        tick(4, .braking)
        tick(5, .off)
        #expect(run.failure?.code == "switched_off")
        #expect(run.failure?.sentence == Conditions.driveSilent.words.first?.sentence)
    }

    private static func service(
        _ commander: Commander, in directory: String
    ) throws -> SetupService {
        let source = ConfigurationSource(
            config: nil,
            overrides: ["persistence.directory=\(directory)", "motors.type=servo"])
        let stateOwner = StateOwner(directory: directory, log: .silent)
        let store = stateOwner.load(into: try ConfigurationLoader.load(source))
        let mailbox = makeMailbox(initial: store.settings.stabilizerParameters)
        let tuning = Tuning(
            store: store, source: source, stateOwner: stateOwner, correction: SensorCorrection(),
            mailbox: mailbox.writer, commander: commander, log: .silent
        ) { _ in }
        let records = makeRing(of: TelemetryRecord.self, capacity: 16)
        return SetupService(
            tuning: tuning, commander: commander, calibration: CalibrationService(store: tuning),
            hub: TelemetryHub(ring: records.reader))
    }
}
