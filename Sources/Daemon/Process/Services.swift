import Configuration
import GimbalCore
import Hardware
import Logging
import Policy
import Port
import Realtime
import ServiceLifecycle
import UnixSignals
import Wire

/// Service that starts and stops the driver of the loop. Before the driver stops, the service
/// switches the motors off.
struct ControlService: Service {
    let machine: Machine
    /// The wheels; nil if there are none.
    let wheels: DriveMotors?
    /// The robot's motors; nil without stepper motors.
    let steppers: StepperMotors?
    let manager: ServiceManager
    let log: Logger

    func run() async throws {
        EarlyStop.repeatSignal()
        try wheels?.start()
        try steppers?.start()
        try machine.driver.start()
        manager.ready()
        for problem in machine.problems {
            log.warning("Real-time set-up is incomplete: \(problem)")
        }
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
            log.notice("The motors are off.")
        } else {
            log.critical("The motors did not confirm that they are off. Cut their power.")
        }
    }
}

/// Service that runs the periodic tasks, and writes the tasks' messages to the log. In lockstep,
/// each message from the simulator starts a round of the tasks; otherwise a timer does.
struct HousekeepingService: Service {
    /// Interval between two rounds of the periodic tasks; short enough for subscriptions at 200 Hz.
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

/// Service that reports to systemd whether the motors are on, or why they are off.
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

/// Service that feeds systemd's watchdog while the loop and the bus thread make progress. A
/// separate thread reads the progress counters of the loop and of the bus thread. This watchdog
/// thread takes no shared lock and never waits for other threads. Therefore a slow disk or log
/// reader cannot delay the watchdog.
struct WatchdogService: Service {
    /// Interval between two checks of the threads' progress, s; it must be shorter than a quarter
    /// of the watchdog timeout.
    private static let period = 0.05

    let driver: any LoopDriver
    let feeder: WatchdogFeeder

    func run() async throws {
        let (driver, feeder) = (driver, feeder)
        let bell = Doorbell()
        let thread = try RealtimeThread(ThreadTable.watch) {
            var feeder = feeder
            repeat {
                let now = MonotonicClock.now.seconds(since: Instant(nanoseconds: 0))
                feeder.look(at: driver.progress, now: now)
            } while bell.wait(until: MonotonicClock.now.advanced(bySeconds: Self.period)) != .rung
        }
        try? await gracefulShutdown()
        bell.ring()
        if thread.join(until: MonotonicClock.now.advanced(bySeconds: 1)) { bell.deallocate() }
    }
}

/// Service that reloads the configuration on SIGHUP.
struct ReloadService: Service {
    let tuning: Tuning
    let log: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            tuning.reload(by: "SIGHUP") { result in
                switch result {
                case .success(let report): log.notice("\(report.sentence)")
                case .failure(let error): log.error("\(error.message)")
                }
            }
        }
    }
}
