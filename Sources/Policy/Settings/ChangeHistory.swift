package import Persistence
import Synchronization

/// The newest changes of the tuning, with time, author and action. The entries are written to the
/// disk with every save, and when the process ends. Any ordinary thread.
package final class ChangeHistory: Sendable {
    /// Largest number of entries; older ones are dropped, but are in the log.
    package static let capacity = 200

    private let list = Mutex<[SavedState.Change]>([])

    /// Saved entries, oldest first.
    package var saved: [SavedState.Change] { list.withLock { $0 } }

    /// Inserts the entries that an earlier process has saved, before the present ones.
    func restore(_ earlier: [SavedState.Change]) {
        list.withLock { $0 = Self.newest(earlier + $0) }
    }

    /// The saved entries followed by `changes`, to be saved together, oldest first.
    package func saved(with changes: [SavedState.Change]) -> [SavedState.Change] {
        list.withLock { Self.newest($0 + changes) }
    }

    /// Adds a change that has happened.
    func note(_ change: SavedState.Change) {
        list.withLock { $0 = Self.newest($0 + [change]) }
    }

    /// Adds a change that has happened.
    ///
    /// - Parameters:
    ///   - who: Name of the client that made the change.
    ///   - what: Description of the change, without a subject and a full stop.
    func note(_ who: String, _ what: String) {
        note(SavedState.Change(time: WallClock.seconds, who: who, what: what))
    }

    private static func newest(_ changes: [SavedState.Change]) -> [SavedState.Change] {
        Array(changes.suffix(capacity))
    }
}
