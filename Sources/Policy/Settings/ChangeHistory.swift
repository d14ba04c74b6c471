package import Persistence
import Synchronization

/// History of the newest changes of the tuning, with time, author and action. The entries are
/// written to the disk at every save, and at the end of the process. Any ordinary thread can use
/// the history.
package final class ChangeHistory: Sendable {
    /// Largest number of entries in the history. Older entries are dropped, but remain in the log.
    package static let capacity = 200

    private let list = Mutex<[SavedState.Change]>([])

    /// Saved entries, oldest first.
    package var saved: [SavedState.Change] { list.withLock { $0 } }

    /// Inserts the saved entries of an earlier process in front of the present entries.
    func restore(_ earlier: [SavedState.Change]) {
        list.withLock { $0 = Self.newest(earlier + $0) }
    }

    /// The saved entries followed by `changes`, to be saved together, oldest first.
    package func saved(with changes: [SavedState.Change]) -> [SavedState.Change] {
        list.withLock { Self.newest($0 + changes) }
    }

    /// Adds a change to the history.
    func note(_ change: SavedState.Change) {
        list.withLock { $0 = Self.newest($0 + [change]) }
    }

    /// Adds a change to the history.
    ///
    /// - Parameters:
    ///   - who: Name of the client that made the change.
    ///   - what: Description of the change, without a subject or a full stop.
    func note(_ who: String, _ what: String) {
        note(SavedState.Change(time: WallClock.seconds, who: who, what: what))
    }

    private static func newest(_ changes: [SavedState.Change]) -> [SavedState.Change] {
        Array(changes.suffix(capacity))
    }
}
