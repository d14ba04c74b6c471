import Configuration
import GimbalCore
import Hardware
import Logging
import PlainText
import Policy
import Realtime
import ServiceLifecycle
import Synchronization
import Wire

/// The newest state of the battery. A separate thread reads the battery, because a read can wait
/// for a bus.
final class BatteryMonitor: Sendable {
    /// Interval between two readings, s.
    private static let period = 2.0
    /// Maximum age of a reading, s; older readings are discarded.
    private static let oldest = 10.0

    /// Longest interval between two log messages about readings that fail and succeed in turn, s.
    private static let longestSilence = 600.0

    private struct State {
        var status = BatteryStatus()
        /// The first two messages, failure and recovery, are written immediately.
        var changes = Repetition(longest: longestSilence, first: 2)
        var time: Instant?
        /// True until the robot's board has been asked once.
        var isFirst = true
    }

    private let settings: @Sendable () -> Settings.Battery
    private let roots: BatteryReader.Roots
    private let robot: @Sendable () -> Double?
    private let supply: SupplyReport
    private let state = Mutex(State())

    /// Creates a monitor that has no reading yet.
    ///
    /// - Parameters:
    ///   - settings: Function that returns the active settings.
    ///   - roots: The kernel's folders with power supplies and hardware monitors.
    ///   - robot: Function that returns the charge that a robot's board reports, 0...100 %; nil if
    ///     it is not known.
    ///   - supply: Receiver of the battery's voltage, for the motors.
    init(
        settings: @escaping @Sendable () -> Settings.Battery,
        roots: BatteryReader.Roots = BatteryReader.Roots(),
        robot: @escaping @Sendable () -> Double? = { nil }, supply: SupplyReport = SupplyReport()
    ) {
        self.settings = settings
        self.roots = roots
        self.robot = robot
        self.supply = supply
    }

    /// State of the battery.
    ///
    /// - Parameter now: Current time on the monotonic clock.
    /// - Returns: nil if no battery is configured.
    func status(now: Instant) -> BatteryStatus? {
        guard settings().source != .none else { return nil }
        return state.withLock { state in
            guard let time = state.time else {
                var status = BatteryStatus()
                status.problem = "the battery has not been read yet"
                return status
            }
            guard now.seconds(since: time) > Self.oldest else { return state.status }
            var status = BatteryStatus()
            status.problem = "the battery's driver does not answer"
            status.remedy = "Check the wires of the fuel gauge, and the output of dmesg."
            return status
        }
    }

    /// Reads the battery once.
    ///
    /// - Returns: Log message about a change of the battery's state (low, unreadable or recovered);
    ///   nil if the state has not changed, or if it changes too often.
    func look(now: Instant) -> (level: Logger.Level, sentence: String)? {
        let settings = settings()
        var status = BatteryStatus()
        do throws(BatteryReader.Failure) {
            guard let reading = try read(settings) else { return nil }
            status = BatteryStatus(
                reading, lowPercent: settings.lowPercent,
                wasLow: state.withLock(\.status.isLow))
            supply.note(battery: reading.voltage ?? .nan, now: now)
        } catch {
            supply.note(battery: .nan, now: now)
            status.problem = error.problem
            status.remedy = error.remedy
        }
        return state.withLock { state in
            let before = state.status
            (state.status, state.time) = (status, now)
            let withheld = state.changes.withheld(now: now)
            let isDue = before.problem != status.problem && state.changes.happens(now: now)
            let isOther = status.problem == nil && before.isLow != status.isLow
            guard isDue || isOther || withheld != nil else { return nil }
            let more =
                withheld.map {
                    " Its state changed \($0.count) more times in \(Format.duration($0.seconds))."
                } ?? ""
            if let problem = status.problem {
                return (.warning, "Battery: \(problem). \(status.remedy ?? "")\(more)")
            }
            return (status.isLow ? .warning : .notice, "Battery: \(status.summary).\(more)")
        }
    }

    private func read(_ settings: Settings.Battery) throws(BatteryReader.Failure) -> BatteryReading?
    {
        guard settings.source == .drive else {
            return try BatteryReader(settings, roots: roots).read()
        }
        let isFirst = state.withLock { state in
            defer { state.isFirst = false }
            return state.isFirst
        }
        guard let percent = robot() else {
            // At the start of airframed, the board has not had time to answer.
            if isFirst { return nil }
            throw BatteryReader.Failure(
                problem: "the robot's board does not report its battery",
                remedy:
                    "Check the robot's switch, drive.port and the wires. If drive.board is not \"xgo\", choose another battery.source, because other boards do not report a battery."
            )
        }
        var reading = BatteryReading()
        reading.name = "robot"
        reading.percent = percent
        return reading
    }

    /// Reads the battery periodically until airframed shuts down.
    func run(until bell: Doorbell, log: Logger) {
        repeat {
            if let event = look(now: MonotonicClock.now) {
                log.log(level: event.level, "\(event.sentence)")
            }
        } while bell.wait(until: MonotonicClock.now.advanced(bySeconds: Self.period)) != .rung
    }
}

/// Service with a thread that reads the battery periodically.
struct BatteryService: Service {
    let monitor: BatteryMonitor
    let log: Logger

    func run() async throws {
        let (monitor, log) = (monitor, log)
        let bell = Doorbell()
        let thread = try RealtimeThread(ThreadTable.battery) { monitor.run(until: bell, log: log) }
        try? await gracefulShutdown()
        bell.ring()
        if thread.join(until: MonotonicClock.now.advanced(bySeconds: 1)) { bell.deallocate() }
    }
}

extension BatteryStatus {
    /// Charge above `lowPercent` at which a low battery counts as recovered, %. The voltage, and so
    /// the charge, changes with the motors' load.
    private static var recovery: Double { 5 }

    /// Creates the state from a reading; `wasLow` is the state of the previous reading.
    init(_ reading: BatteryReading, lowPercent: Double, wasLow: Bool = false) {
        self.init()
        name = reading.name
        state = reading.state.rawValue
        voltageV = Number(reading.voltage ?? .nan)
        currentA = Number(reading.current ?? .nan)
        percent = Number(reading.percent ?? .nan)
        temperatureC = Number(reading.temperature ?? .nan)
        timeLeftS = Number(reading.secondsLeft ?? .nan)
        let limit = lowPercent + (wasLow ? Self.recovery : 0)
        isLow = reading.percent.map { $0 < limit && reading.state != .charging } ?? false
    }

    /// Check of the battery in `doctor`.
    var check: DoctorCheck {
        DoctorCheck(
            "battery", problem == nil && !isLow ? .ok : .warn, summary,
            remedy: problem != nil
                ? remedy ?? "" : isLow ? "Charge or replace the battery." : "")
    }
}
