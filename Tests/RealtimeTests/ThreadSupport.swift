import GimbalCore
import Glibc
import Synchronization
import Testing

@testable import Realtime

extension Instant {
    /// Deadline of a wait that normally ends much earlier: one minute from now.
    static var minuteAhead: Instant { MonotonicClock.now.advanced(bySeconds: 60) }
}

/// Moves one end of a ring or mailbox into the closure of a thread. The closure may run only once.
private final class Handover<Payload: ~Copyable & Sendable>: Sendable {
    private let payload: Mutex<Payload?>

    init(_ payload: consuming sending Payload) { self.payload = Mutex(consume payload) }

    func take() -> Payload? { payload.withLock { $0.take() } }
}

/// Starts a thread without real-time priority that owns `payload`.
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

/// Lets the other thread run. On one CPU, a spinning loop would otherwise use its whole time slice.
func yieldThread() { _ = sched_yield() }

/// Calls `take` until it returns an element, for at most 30 s.
func awaited<Element>(_ take: () -> Element?) throws -> Element {
    let end = MonotonicClock.now.advanced(bySeconds: 30)
    while true {
        if let element = take() { return element }
        try #require(MonotonicClock.now < end, "Nothing has arrived within 30 s.")
        yieldThread()
    }
}
