import GimbalCore
import Hardware
import Logging
import Realtime
import ServiceLifecycle
import UnixSignals
import Wire

/// Starts the real-time threads, and stops them: motors off first.
struct ControlService: Service {
    let machine: Machine
    /// Nil without wheels.
    let wheels: DriveMotors?
    /// Nil without a robot.
    let steppers: StepperMotors?
    let manager: ServiceManager
    let log: Logger

    func run() async throws {
        try wheels?.start()
        try steppers?.start()
        try machine.driver.start()
        manager.ready()
        for problem in machine.problems { log.warning("Not real-time as wished: \(problem)") }
        try? await gracefulShutdown()
        manager.stopping()
        machine.commander.shutDown()
        if wheels?.stop() == false {
            log.critical("The wheels did not confirm that they are off. Cut their power.")
        }
        if steppers?.stop() == false {
            log.critical("The stepper motors did not stop. Cut their power.")
        }
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
                log.log(level: event.level, "\(event.sentence)", metadata: event.metadata)
            }
            try? await Task.sleep(for: Self.period)
        }
    }
}

/// Tells systemd whether the motors are on, and if not, why.
struct StatusLineService: Service {
    private static let period = Duration.milliseconds(500)

    let hub: TelemetryHub
    let manager: ServiceManager

    func run() async throws {
        var said = ""
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if let record = hub.view?.record {
                let line = StatusLine.text(record.snapshot)
                if line != said { manager.status(line) }
                said = line
            }
            try? await Task.sleep(for: Self.period)
        }
    }
}

/// Feeds systemd's watchdog with what loop and bus have done.
struct WatchdogService: Service {
    /// Shorter than any sensible watchdog.
    private static let period = Duration.milliseconds(50)

    let machine: Machine
    let feeder: WatchdogFeeder

    func run() async throws {
        var feeder = feeder
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            feeder.look(
                at: WatchdogFeeder.Progress(
                    ticks: machine.hub.view?.record.tick ?? 0,
                    periods: machine.driver.histogram(of: .wake).count),
                now: MonotonicClock.now.seconds(since: Instant(nanoseconds: 0)))
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
                let report = try tuning.reload(by: "SIGHUP")
                log.notice("\(report.sentence)")
            } catch {
                log.error("\(error.message)")
            }
        }
    }
}
