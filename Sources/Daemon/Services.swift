import GimbalCore
import Logging
import Realtime
import ServiceLifecycle
import UnixSignals
import Wire

/// Starts the real-time threads, and stops them: motors off first.
struct ControlService: Service {
    let machine: Machine
    let log: Logger

    func run() async throws {
        try machine.runtime.start()
        for problem in machine.problems { log.warning("Not real-time as wished: \(problem)") }
        try? await gracefulShutdown()
        machine.commander.shutDown()
        let report = machine.runtime.stop()
        if report.motorsOff {
            log.notice("The outputs are off.")
        } else {
            log.critical("The motors did not confirm that they are off. Cut their power.")
        }
    }
}

/// Everything that happens now and then on ordinary threads: telemetry, dead-man timers, rollbacks, and the sentences
/// about what the loop has counted.
struct HousekeepingService: Service {
    /// Often enough for subscribers at 200 Hz.
    private static let period = Duration.milliseconds(5)

    let machine: Machine
    let tuning: Tuning
    let calibration: CalibrationService
    let log: Logger

    func run() async throws {
        var reporter = ConditionReporter()
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            machine.hub.drain { record in
                calibration.feed(record.snapshot)
                for event in reporter.events(in: record) {
                    log.log(level: event.level, "\(event.sentence)")
                }
            }
            let now = MonotonicClock.now
            machine.commander.advance(now: now)
            tuning.advance(now: now)
            calibration.advance(now: now, date: WallClock.seconds)
            try? await Task.sleep(for: Self.period)
        }
    }
}

/// SIGHUP reads the configuration again.
struct ReloadService: Service {
    let tuning: Tuning
    let log: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            do throws(RequestError) {
                let report = try tuning.reload()
                log.notice("\(report.sentence)")
            } catch {
                log.error("\(error.message)")
            }
        }
    }
}
