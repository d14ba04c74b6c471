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
    let log: Logger

    func run() async throws {
        var reporter = ConditionReporter()
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            machine.hub.drain { record in
                for event in reporter.events(in: record) {
                    log.log(level: event.level, "\(event.sentence)")
                }
            }
            let now = MonotonicClock.now
            machine.commander.advance(now: now)
            tuning.advance(now: now)
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

/// Turns changes of the loop's conditions into log lines: one when a condition appears, one when it goes, however often it
/// flickers within a second.
struct ConditionReporter {
    /// One line for the log.
    struct Event: Equatable {
        let level: Logger.Level
        let sentence: String
    }

    /// How long a condition must have been quiet before its next appearance is worth a line, s.
    private static let quietSeconds = 1.0

    private var known = Conditions.none
    private var isEnabled = false
    private var lastChange: [UInt32: Instant] = [:]

    /// What is worth saying about this record.
    mutating func events(in record: TelemetryRecord) -> [Event] {
        let snapshot = record.snapshot
        var events: [Event] = []
        for words in Conditions.catalogue {
            let holds = snapshot.conditions.intersects(words.condition)
            guard holds != known.intersects(words.condition) else { continue }
            let bit = words.condition.rawValue
            if holds {
                known.insert(words.condition)
                let quiet = lastChange[bit].map { record.now.seconds(since: $0) } ?? .infinity
                if quiet >= Self.quietSeconds {
                    events.append(
                        Event(
                            level: Self.level(of: words.condition),
                            sentence: "\(words.name): \(words.sentence)"))
                }
            } else {
                known = known.subtracting(words.condition)
            }
            lastChange[bit] = record.now
        }
        if snapshot.output.enabled != isEnabled {
            isEnabled = snapshot.output.enabled
            events.append(
                Event(
                    level: .notice,
                    sentence: isEnabled ? "The outputs come on." : "The outputs are off."))
        }
        return events
    }

    private static func level(of condition: Conditions) -> Logger.Level {
        switch Supervisor.response(to: condition.subtracting(.inactiveMode | .shutdown)) {
        case .off, .softOff: .error
        case .blockStart, .report: .info
        }
    }
}
