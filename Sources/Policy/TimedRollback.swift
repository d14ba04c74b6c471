public import GimbalCore
public import Port

/// "Keep within 30 s, or it reverts": the state before a live change, and when to return to it.
///
/// A value without a clock or a thread: its owner asks at every tick of a timer, and puts back what `expire` or
/// `ownerGone` hand out. A save counts as `keep`.
public struct TimedRollback<Snapshot: Sendable>: Sendable {
    private struct Pending: Sendable {
        var snapshot: Snapshot
        var deadline: Instant
        var owner: UInt64
    }

    private var pending: Pending?

    /// Nothing to return to.
    public init() {}

    /// Whether a change waits to be kept.
    public var isPending: Bool { pending != nil }

    /// Seconds until the change reverts, not negative; nil when none waits.
    public func secondsLeft(now: Instant) -> Double? {
        pending.map { max(0, $0.deadline.seconds(since: now)) }
    }

    /// Begins a change, or adds one more to a change that waits: all of them revert together, to the state before the
    /// first, and the new deadline counts.
    ///
    /// - Parameters:
    ///   - snapshot: The state before the change.
    ///   - owner: Who changes it: the connection, or the link.
    ///   - seconds: Time to keep it, 1...3600.
    ///   - now: The present.
    /// - Throws: That the time is no such number, or that somebody else's change waits; then the change must not be made.
    public mutating func begin(
        _ snapshot: Snapshot, owner: UInt64, seconds: Double, now: Instant
    ) throws(Refusal) {
        guard seconds >= 1, seconds <= 3600 else {
            throw Refusal(
                .refused,
                "A rollback after \(seconds) s is outside 1...3600. 30 is a good start.",
                field: "rollback")
        }
        let deadline = now.advanced(bySeconds: seconds)
        if let current = pending {
            guard current.owner == owner else {
                let left = Int(max(0, current.deadline.seconds(since: now)).rounded(.up))
                throw Refusal(
                    .refused,
                    "Another client's change is on trial; it reverts in \(left) s. Try again then.",
                    field: "rollback")
            }
            pending?.deadline = deadline
        } else {
            pending = Pending(snapshot: snapshot, deadline: deadline, owner: owner)
        }
    }

    /// Changes the state to return to, because somebody who does not wait has decided a part of it. Without a change that
    /// waits, nothing happens.
    public mutating func amend(_ change: (inout Snapshot) -> Void) {
        guard var waiting = pending else { return }
        change(&waiting.snapshot)
        pending = waiting
    }

    /// Keeps the change for good.
    ///
    /// - Returns: Whether there was one; false when it has reverted already, which the asker must learn.
    public mutating func keep() -> Bool {
        defer { pending = nil }
        return pending != nil
    }

    /// Keeps the change for good if it is this owner's.
    ///
    /// - Parameter owner: As given to `begin`.
    /// - Returns: Whether it was.
    public mutating func keep(owner: UInt64) -> Bool {
        guard pending?.owner == owner else { return false }
        return keep()
    }

    /// Ends the waiting without time running out: somebody asks for the old state now.
    ///
    /// - Returns: The state to put back, once; nil when no change waits.
    public mutating func revert() -> Snapshot? {
        defer { pending = nil }
        return pending?.snapshot
    }

    /// Asks whether time has run out.
    ///
    /// - Parameter now: The present.
    /// - Returns: The state to put back, once; nil while there is time, and when no change waits.
    public mutating func expire(now: Instant) -> Snapshot? {
        guard let pending, now >= pending.deadline else { return nil }
        return revert()
    }

    /// Tells that a connection or link has ended: nobody is left to keep its change.
    ///
    /// - Parameter owner: As given to `begin`.
    /// - Returns: The state to put back, once; nil when the change is not this owner's.
    public mutating func ownerGone(_ owner: UInt64) -> Snapshot? {
        guard pending?.owner == owner else { return nil }
        return revert()
    }
}
