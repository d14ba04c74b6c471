import GimbalCore
import Glibc
import Synchronization

@testable import Realtime

extension Instant {
    /// Limit of a wait that an event ends at once: a minute from now.
    static var minuteAhead: Instant { MonotonicClock.now.advanced(bySeconds: 60) }
}

/// Carries an end of a ring or mailbox into a thread's closure, which may run only once.
private final class Handover<Payload: ~Copyable & Sendable>: Sendable {
    private let payload: Mutex<Payload?>

    init(_ payload: consuming sending Payload) { self.payload = Mutex(consume payload) }

    func take() -> Payload? { payload.withLock { $0.take() } }
}

/// Starts an ordinary thread that owns `payload`.
func spawn<Payload: ~Copyable & Sendable>(
    handing payload: consuming sending Payload,
    _ body: @escaping @Sendable (inout Payload) -> Void
) throws(ThreadError) -> RealtimeThread {
    let handover = Handover(payload)
    return try RealtimeThread(ThreadConfiguration(name: "test", priority: nil)) {
        guard var payload = handover.take() else { return }
        body(&payload)
    }
}

/// Lets the other side run; on one CPU a spinning loop would otherwise burn its whole slice.
func yieldThread() { _ = sched_yield() }
