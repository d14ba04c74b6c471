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
        try machine.driver.start()
        for problem in machine.problems { log.warning("Not real-time as wished: \(problem)") }
        try? await gracefulShutdown()
        machine.commander.shutDown()
        if machine.driver.stop() {
            log.notice("The outputs are off.")
        } else {
            log.critical("The motors did not confirm that they are off. Cut their power.")
        }
    }
}

/// The timer of what happens beside the loop, and the log's writer. In lockstep the simulator's lines are the timer.
struct HousekeepingService: Service {
    /// Often enough for subscribers at 200 Hz.
    private static let period = Duration.milliseconds(5)

    let housekeeping: Housekeeping
    let isTimer: Bool
    let log: Logger

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if isTimer {
                housekeeping.drain()
                housekeeping.advance(now: MonotonicClock.now, date: WallClock.seconds)
            }
            for event in housekeeping.takeEvents() {
                log.log(level: event.level, "\(event.sentence)")
            }
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
