import Persistence
import Synchronization
import Wire

/// The newest changes of the tuning: when, who, what. They are saved with whatever is saved, and at the end. Any ordinary
/// thread.
final class ChangeHistory: Sendable {
    /// Older ones are forgotten; the log has them.
    static let capacity = 200

    private let list = Mutex<[SavedState.Change]>([])

    /// Oldest first.
    var entries: [HistoryEntry] {
        saved.map { HistoryEntry(time: Number($0.time), who: $0.who, what: $0.what) }
    }

    /// As it is saved, oldest first.
    var saved: [SavedState.Change] { list.withLock { $0 } }

    /// Puts what an earlier process saved before everything else.
    func restore(_ earlier: [SavedState.Change]) {
        list.withLock { $0 = Array((earlier + $0).suffix(Self.capacity)) }
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - who: Who made it.
    ///   - what: The change, without a subject and a full stop.
    ///   - date: Seconds since 1970.
    func note(_ who: String, _ what: String, date: Double = WallClock.seconds) {
        let change = SavedState.Change(time: date, who: who, what: what)
        list.withLock { $0 = Array(($0 + [change]).suffix(Self.capacity)) }
    }

    /// Adds a change that is saved together with this note of it; a change that fails leaves none.
    ///
    /// - Parameters:
    ///   - who: Who makes it.
    ///   - what: The change, without a subject and a full stop.
    ///   - change: Makes it.
    /// - Throws: What `change` throws.
    func note<Failure: Error>(
        _ who: String, _ what: String, with change: () throws(Failure) -> Void
    ) throws(Failure) {
        let before = saved
        note(who, what)
        do {
            try change()
        } catch {
            list.withLock { $0 = before }
            throw error
        }
    }
}
