import GimbalCore
import Links
import Logging
import PlainText
import Port
import Realtime
import Synchronization
import Wire

/// Store of log lines. The store writes each line to standard error, for the journal or a terminal,
/// and to a buffer in memory with the newest lines, for `airframectl log`.
///
/// A caller never waits. Lines pass through a bounded queue to a separate thread. If the reader of
/// standard error hangs, lines that do not fit into the queue are dropped and counted. Every log
/// statement in the code can write `burst` lines immediately, and after that one line per second.
/// Therefore an unauthorised peer on a link can fill neither the disk nor the buffer.
///
/// Loop and bus threads never call the store: they count events, and an ordinary thread writes the
/// message.
final class LogStore: Sendable {
    /// Number of newest lines that the store keeps for the socket.
    static let capacity = 1000
    /// Number of lines that can wait for the reader of standard error.
    private static let queued = 500
    /// Timeout of `close` for the reader of standard error, s.
    private static let patience = 0.5
    /// Number of lines that one statement can write immediately.
    static let burst = 20.0

    /// Identity of a log statement. If several conditions share a statement, each condition has a
    /// separate identity.
    struct Statement: Hashable {
        let file: String
        let line: UInt
        var reason: String?
    }

    /// Remaining number of lines that one log statement can write immediately.
    private struct Allowance {
        var bucket = TokenBucket(burst: LogStore.burst, perSecond: 1)
        var withheld = 0
    }

    private struct State {
        var lines: [LogLine] = []
        var next = 0
        var minimum = Logger.Level.info
        /// Number of lines that each log statement can still write before its lines are limited to
        /// a rate. The number of log statements in the code is limited; therefore the dictionary's
        /// memory is limited.
        var allowances: [Statement: Allowance] = [:]
        /// Number of lines that were dropped before they reached standard error.
        var lost = 0
    }

    private let state = Mutex(State())
    private let writer = Worker(ThreadTable.log, capacity: LogStore.queued)
    private let standardError: @Sendable (String) -> Void
    /// True if lines have a priority prefix `<N>`, which the journal evaluates (sd-daemon(3)); a
    /// terminal would show the prefix.
    private let isJournal: Bool
    /// Clock that supplies the times of the lines.
    private let clock: LoopClock

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - isJournal: True if the journal reads standard error.
    ///   - clock: The loop's clock.
    ///   - standardError: Function that writes the text of one line; the function can block.
    init(
        isJournal: Bool, clock: LoopClock = .monotonic,
        standardError: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.isJournal = isJournal
        self.clock = clock
        self.standardError = standardError
    }

    /// Writes the waiting lines at the end of the process. If the reader hangs, the method returns
    /// after `patience`.
    func close() { writer.end(within: Self.patience) }

    /// Sets the lowest level of the lines that the store writes.
    func setMinimum(_ level: Logger.Level) { state.withLock { $0.minimum = level } }

    /// Stores one line, and adds the line to the queue of the writing thread. The journal receives
    /// `fields` as separate fields.
    ///
    /// - Parameters:
    ///   - level: Severity.
    ///   - message: Text of the line.
    ///   - fields: Fields for the journal, with names in capitals.
    ///   - statement: The log statement that writes the line. Each statement has a separate line
    ///     limit; nil means no limit.
    func append(
        level: Logger.Level, message: String, fields: Logger.Metadata = [:],
        statement: Statement? = nil
    ) {
        let time = clock.seconds(clock.now)
        let (line, lost) = state.withLock { state -> (LogLine?, Int) in
            guard level >= state.minimum else { return (nil, 0) }
            guard let more = Self.admit(statement, &state) else { return (nil, 0) }
            let line = LogLine(
                sequence: state.next, t: Number(time), level: level.rawValue,
                message: message + more)
            state.next += 1
            if state.lines.count == Self.capacity { state.lines.removeFirst() }
            state.lines.append(line)
            defer { state.lost = 0 }
            return (line, state.lost)
        }
        guard let line else { return }
        let isQueued = writer.post {
            if lost > 0 {
                self.write(
                    level: .warning,
                    message:
                        "\(lost) lines are missing here, because the program that reads the log was too slow.",
                    fields: [:])
            }
            self.write(level: level, message: line.message, fields: fields)
        }
        if !isQueued { state.withLock { $0.lost += lost + 1 } }
    }

    /// Decides whether a log statement can write a line now.
    ///
    /// - Returns: Suffix of the line, with the number of earlier lines that were withheld; nil if
    /// this line must be withheld too.
    private static func admit(_ statement: Statement?, _ state: inout State) -> String? {
        guard let statement else { return "" }
        var allowance = state.allowances[statement] ?? Allowance()
        defer { state.allowances[statement] = allowance }
        guard allowance.bucket.take(now: MonotonicClock.now) else {
            allowance.withheld += 1
            return nil
        }
        defer { allowance.withheld = 0 }
        return allowance.withheld == 0
            ? "" : " \(allowance.withheld) similar lines before this one are not in the log."
    }

    /// Returns at most `limit` lines after the sequence number `since`, or the newest lines if
    /// `since` is nil.
    func page(since: Int?, limit: Int) -> LogPage {
        state.withLock { state in
            let oldest = state.lines.first?.sequence ?? state.next
            let wanted = since.map { max($0, oldest) } ?? max(oldest, state.next - limit)
            let lines = state.lines.filter { $0.sequence >= wanted }.prefix(limit)
            let next = lines.last.map { $0.sequence + 1 } ?? state.next
            let lost = since.map { max(0, oldest - $0) } ?? 0
            return LogPage(lines: Array(lines), next: next, lost: lost)
        }
    }

    private func write(level: Logger.Level, message: String, fields: Logger.Metadata) {
        let message = message.visible
        if isJournal, !fields.isEmpty {
            let entry =
                [("MESSAGE", message), ("PRIORITY", "\(Self.priority(level))")]
                + fields.flatMap { field in
                    field.value.all.map { (field.key, $0.visible) }
                }
            if Journal.send(entry) { return }
        }
        let prefix = isJournal ? "<\(Self.priority(level))>" : "airframed: \(level.rawValue): "
        standardError(prefix + message + "\n")
    }

    /// Priority of a level as in syslog(3).
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension Logger.MetadataValue {
    /// All values of one journal field.
    fileprivate var all: [String] {
        if case .array(let values) = self { values.map(\.description) } else { [description] }
    }
}

/// Log handler of swift-log that writes to the store.
struct StoreLogHandler: LogHandler {
    let store: LogStore
    var metadata: Logger.Metadata = [:]
    /// Log level that the protocol requires. This handler does not filter by level. Only the store
    /// applies the minimum level, so that a change of `log.level` affects every logger.
    var logLevel: Logger.Level = .trace

    init(store: LogStore) { self.store = store }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        store.append(
            level: event.level, message: event.message.description, fields: event.metadata ?? [:],
            statement: LogStore.Statement(
                file: event.file, line: event.line,
                reason: event.metadata?["AIRFRAME_REASON"]?.description))
    }
}
