import Synchronization
import Wire

/// The newest changes of the tuning: when, who, what. Any ordinary thread.
final class ChangeHistory: Sendable {
    /// Older ones are forgotten; the log has them.
    static let capacity = 200

    private let list = Mutex<[HistoryEntry]>([])

    /// Oldest first.
    var entries: [HistoryEntry] { list.withLock { $0 } }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - who: Who made it.
    ///   - what: The change, without a subject and a full stop.
    ///   - date: Seconds since 1970.
    func note(_ who: String, _ what: String, date: Double = WallClock.seconds) {
        list.withLock { list in
            if list.count >= Self.capacity { list.removeFirst() }
            list.append(HistoryEntry(time: Number(date), who: who, what: what))
        }
    }
}
