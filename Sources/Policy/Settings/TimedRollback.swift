public import GimbalCore
public import Port

/// Timed rollback of a live change. The rollback stores the state before the change, and a
/// deadline. At the deadline, the stored state is restored unless the change has been made
/// permanent.
///
/// The rollback has no clock and no thread. The caller calls `expire` regularly, and restores the
/// state that `expire` returns. When the change is saved, the caller calls `keep`.
public struct TimedRollback<Snapshot: Sendable>: Sendable {
    private struct Pending: Sendable {
        var snapshot: Snapshot
        var deadline: Instant
        var owner: UInt64
    }

    private var pending: Pending?
    /// Number of successful calls of `begin`. A write to the disk takes time; if this number has
    /// changed at its end, the write does not contain the present temporary change.
    public private(set) var beginnings = 0

    /// Creates a rollback without a temporary change.
    public init() {}

    /// Seconds until the change reverts, not negative; nil without a temporary change.
    public func secondsLeft(now: Instant) -> Double? {
        pending.map { max(0, $0.deadline.seconds(since: now)) }
    }

    /// State before the temporary change; nil without a temporary change.
    public var snapshot: Snapshot? { pending?.snapshot }

    /// State before the temporary change of the given owner; nil if this owner has no temporary
    /// change.
    public func snapshot(of owner: UInt64) -> Snapshot? {
        pending.flatMap { $0.owner == owner ? $0.snapshot : nil }
    }

    /// Begins a temporary change, or extends the present temporary change. All parts of the
    /// temporary change revert together, at the new deadline, to the state before the first part.
    ///
    /// - Parameters:
    ///   - snapshot: The state before the change.
    ///   - owner: ID of the connection or link that made the change.
    ///   - seconds: Time until an unsaved change reverts, s, within `Rollback.seconds`.
    ///   - other: Owner whose temporary change `owner` can end; nil if there is none. The new
    ///     change reverts to the state before the ended change.
    ///   - now: Present time.
    /// - Throws: An error if the time is out of range, or if a temporary change of another owner is
    ///   active. After an error, the caller must not make the change.
    public mutating func begin(
        _ snapshot: Snapshot, owner: UInt64, seconds: Double, ending other: UInt64? = nil,
        now: Instant
    ) throws(Refusal) {
        let range = Rollback.seconds
        guard range.contains(seconds) else {
            throw Refusal(
                .refused,
                "A rollback time of \(seconds) s is outside \(Int(range.lowerBound))...\(Int(range.upperBound)) s. 30 s is a good start.",
                field: "rollback")
        }
        let deadline = now.advanced(bySeconds: seconds)
        if let current = pending {
            guard current.owner == owner || current.owner == other else {
                let left = Int(max(0, current.deadline.seconds(since: now)).rounded(.up))
                throw Refusal(
                    .refused,
                    "Another client has changed a setting temporarily; the change reverts in \(left) s. Try again afterwards.",
                    field: "rollback")
            }
            pending = Pending(snapshot: current.snapshot, deadline: deadline, owner: owner)
        } else {
            pending = Pending(snapshot: snapshot, deadline: deadline, owner: owner)
        }
        beginnings += 1
    }

    /// Applies a permanent change to the state that the rollback will restore; otherwise the
    /// rollback would revert the permanent change. If no temporary change is active, this method
    /// has no effect.
    public mutating func amend(_ change: (inout Snapshot) -> Void) {
        guard var waiting = pending else { return }
        change(&waiting.snapshot)
        pending = waiting
    }

    /// Makes the temporary change permanent.
    ///
    /// - Returns: True if a temporary change was active. The result is false if the change has
    ///   already reverted; the caller must report the failure.
    public mutating func keep() -> Bool {
        defer { pending = nil }
        return pending != nil
    }

    /// Makes the temporary change permanent if the given connection or link made the change.
    ///
    /// - Parameter owner: ID of the connection or link, as given to `begin`.
    /// - Returns: True if the given connection or link made the change.
    public mutating func keep(owner: UInt64) -> Bool {
        guard pending?.owner == owner else { return false }
        return keep()
    }

    /// Ends the temporary change if its deadline has passed.
    ///
    /// - Parameter now: Present time.
    /// - Returns: State to restore, returned once after the deadline; nil before the deadline, or
    ///   without a temporary change.
    public mutating func expire(now: Instant) -> Snapshot? {
        guard let pending, now >= pending.deadline else { return nil }
        self.pending = nil
        return pending.snapshot
    }
}
