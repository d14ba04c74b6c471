import GimbalCore
import Logging
import Realtime
import Synchronization
import Wire

/// Where log lines go: standard error, for the journal or a terminal, and a ring in memory, for `airframectl log`.
///
/// Never called from the loop or bus threads: they count, and an ordinary thread writes the sentence.
final class LogStore: Sendable {
    /// Lines kept for the socket.
    static let capacity = 1000

    private struct State {
        var lines: [LogLine] = []
        var next = 0
        var minimum = Logger.Level.info
    }

    private let state = Mutex(State())
    /// The journal reads priorities from `<N>` prefixes (sd-daemon(3)); people at a terminal do not.
    private let isJournal: Bool
    /// Where the lines' time comes from.
    private let clock: LoopClock

    /// - Parameters:
    ///   - isJournal: Whether standard error is read by the journal.
    ///   - clock: The loop's.
    init(isJournal: Bool, clock: LoopClock = .monotonic) {
        self.isJournal = isJournal
        self.clock = clock
    }

    /// The least severe level that is written from now on.
    func setMinimum(_ level: Logger.Level) { state.withLock { $0.minimum = level } }

    /// Writes and keeps one line. The journal gets `fields` as fields of their own.
    func append(level: Logger.Level, message: String, fields: Logger.Metadata = [:]) {
        let time = clock.seconds(clock.now)
        let isWanted = state.withLock { state in
            guard level >= state.minimum else { return false }
            let line = LogLine(
                sequence: state.next, t: Number(time),
                level: level.rawValue, message: message)
            state.next += 1
            if state.lines.count == Self.capacity { state.lines.removeFirst() }
            state.lines.append(line)
            return true
        }
        if isWanted { write(level: level, message: message, fields: fields) }
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
        if isJournal, !fields.isEmpty {
            let entry =
                [("MESSAGE", message), ("PRIORITY", "\(Self.priority(level))")]
                + fields.flatMap { field in
                    field.value.all.map { (field.key, $0) }
                }
            if Journal.send(entry) { return }
        }
        let prefix = isJournal ? "<\(Self.priority(level))>" : "airframed: \(level.rawValue): "
        StandardError.write(prefix + message + "\n")
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
            level: event.level, message: event.message.description, fields: event.metadata ?? [:])
    }
}
