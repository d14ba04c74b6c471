import GimbalCore
import Links
import Logging
import PlainText
import Port
import Realtime
import Synchronization
import Wire

/// Where log lines go: standard error, for the journal or a terminal, and a ring in memory, for
/// `airframectl log`.
///
/// Whoever logs waits for nothing: lines go through a bounded queue to a thread of their own, and
/// where a reader of standard error hangs, those that find no room are counted. One throttle stands
/// here for everything that is logged: each statement of the code may write `burst` lines at once
/// and one per second after that, so no stranger on any link fills disk or ring.
///
/// Never called from the loop or bus threads: they count, and an ordinary thread writes the
/// sentence.
final class LogStore: Sendable {
    /// Lines kept for the socket.
    static let capacity = 1000
    /// Lines that may wait for the reader of standard error.
    private static let queued = 500
    /// What the end waits for that reader, s.
    private static let patience = 0.5
    /// Lines that one statement may write at once.
    static let burst = 20.0

    /// A place in the code that logs, or one condition of those that share a place.
    struct Statement: Hashable {
        let file: String
        let line: UInt
        var reason: String?
    }

    /// How much one statement of the code has written.
    private struct Allowance {
        var bucket = TokenBucket(burst: LogStore.burst, perSecond: 1)
        var withheld = 0
    }

    private struct State {
        var lines: [LogLine] = []
        var next = 0
        var minimum = Logger.Level.info
        /// By statement: as many as the code has.
        var allowances: [Statement: Allowance] = [:]
        /// Lines that standard error has not got.
        var lost = 0
    }

    private let state = Mutex(State())
    private let writer = Worker(ThreadTable.log, capacity: LogStore.queued)
    private let standardError: @Sendable (String) -> Void
    /// The journal reads priorities from `<N>` prefixes (sd-daemon(3)); people at a terminal do
    /// not.
    private let isJournal: Bool
    /// Where the lines' time comes from.
    private let clock: LoopClock

    /// - Parameters:
    ///   - isJournal: Whether standard error is read by the journal.
    ///   - clock: The loop's.
    ///   - standardError: Takes the text of one line; may wait.
    init(
        isJournal: Bool, clock: LoopClock = .monotonic,
        standardError: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.isJournal = isJournal
        self.clock = clock
        self.standardError = standardError
    }

    /// Writes what waits. At the end; a reader that hangs keeps nobody from ending.
    func close() { writer.end(within: Self.patience) }

    /// The least severe level that is written from now on.
    func setMinimum(_ level: Logger.Level) { state.withLock { $0.minimum = level } }

    /// Keeps one line, and has it written. The journal gets `fields` as fields of their own.
    ///
    /// - Parameters:
    ///   - level: How severe it is.
    ///   - message: The sentence.
    ///   - fields: Names in capitals.
    ///   - statement: Where in the code it is said; nil: something that is rare by itself.
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
                        "\(lost) lines are missing here, because the log's reader was too slow.",
                    fields: [:])
            }
            self.write(level: level, message: line.message, fields: fields)
        }
        if !isQueued { state.withLock { $0.lost += lost + 1 } }
    }

    /// What is added to a line; nil when it is one too many of its kind.
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
            ? "" : " \(allowance.withheld) similar lines before it are not in the log."
    }

    /// Lines after sequence number `since`, or the newest ones.
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

    /// syslog(3) priorities.
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
    /// A field of the journal may have several values.
    fileprivate var all: [String] {
        if case .array(let values) = self { values.map(\.description) } else { [description] }
    }
}

/// swift-log's view of the store.
struct StoreLogHandler: LogHandler {
    let store: LogStore
    var metadata: Logger.Metadata = [:]
    /// The store filters, so that a change of `log.level` reaches every logger.
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
