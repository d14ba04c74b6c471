package import Persistence
import Synchronization

/// The newest changes of the tuning: when, who, what. They are saved with whatever is saved, and at
/// the end. Any ordinary thread.
package final class ChangeHistory: Sendable {
    /// Older ones are forgotten; the log has them.
    package static let capacity = 200

    private let list = Mutex<[SavedState.Change]>([])

    /// As it is saved, oldest first.
    package var saved: [SavedState.Change] { list.withLock { $0 } }

    /// Puts what an earlier process saved before everything else.
    func restore(_ earlier: [SavedState.Change]) {
        list.withLock { $0 = Self.newest(earlier + $0) }
    }

    /// What there will be after changes, as it is saved together with them, oldest first.
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
    ///   - who: Who made it.
    ///   - what: The change, without a subject and a full stop.
    func note(_ who: String, _ what: String) {
        note(SavedState.Change(time: WallClock.seconds, who: who, what: what))
    }

    private static func newest(_ changes: [SavedState.Change]) -> [SavedState.Change] {
        Array(changes.suffix(capacity))
    }
}
