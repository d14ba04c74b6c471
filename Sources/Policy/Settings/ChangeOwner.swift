import GimbalCore
import Port

/// Owner of a temporary change of settings. Clients of the same kind share one owner, because a
/// client can use different connections for a change and for `save`.
package enum ChangeOwner: UInt64, Sendable {
    /// Clients of the socket that act for a person.
    case people
    /// Apps, over Bluetooth.
    case apps
    /// Assistants. Changes by an assistant always revert, and never extend the temporary change of
    /// a person or an app.
    case assistants

    /// Begins a temporary change, see `TimedRollback.begin`. A temporary change of a person or an
    /// app ends an assistant's temporary change. The new values must therefore be based on
    /// `Tuning.State.lasting`, which excludes the assistant's change.
    func begin<Snapshot>(
        _ rollback: inout TimedRollback<Snapshot>, _ snapshot: Snapshot, seconds: Double,
        now: Instant
    ) throws(Refusal) {
        try rollback.begin(
            snapshot, owner: rawValue, seconds: seconds, ending: Self.assistants.rawValue,
            now: now)
    }
}
