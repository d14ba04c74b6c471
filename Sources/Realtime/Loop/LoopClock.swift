public import GimbalCore
import Synchronization

/// Clock of the loop for dead-man timers, rollbacks and all other timing: CLOCK_MONOTONIC, or the
/// time of a simulator in lockstep. The composition root passes the clock to its users. Any
/// ordinary thread can use the clock.
///
/// A simulator's `t` has an arbitrary start; the start changes with each connection. Inside the
/// process, time never decreases. After a new connection, the clock continues from the last time of
/// the previous connection. Output for users shows the simulator's own `t`, see `seconds`.
public final class LoopClock: Sendable {
    private struct Simulated {
        /// The loop's time at the simulator's last message.
        var now: Instant
        /// The simulator's time `t` in its last message, s.
        var t: Double
    }

    /// The clock of the computer, CLOCK_MONOTONIC.
    public static let monotonic = LoopClock(simulated: nil)

    /// State of a simulated clock; nil for CLOCK_MONOTONIC.
    private let simulated: Mutex<Simulated?>

    private init(simulated: Simulated?) { self.simulated = Mutex(simulated) }

    /// Creates a simulated clock, which advances only by `set`.
    public static func lockstep() -> LoopClock {
        LoopClock(simulated: Simulated(now: Instant(nanoseconds: 1_000_000_000), t: 0))
    }

    /// The present time of the loop.
    public var now: Instant {
        simulated.withLock { $0?.now } ?? MonotonicClock.now
    }

    /// Sets a simulated clock; has no effect on CLOCK_MONOTONIC.
    ///
    /// - Parameters:
    ///   - now: New time of the loop, not earlier than the loop's present time.
    ///   - t: The simulator's time, s.
    public func set(_ now: Instant, t: Double) {
        simulated.withLock { if $0 != nil { $0 = Simulated(now: now, t: t) } }
    }

    /// Convert an instant to seconds for display: on CLOCK_MONOTONIC, or on the simulator's own
    /// clock.
    public func seconds(_ instant: Instant) -> Double {
        guard let line = simulated.withLock(\.self) else {
            return instant.seconds(since: Instant(nanoseconds: 0))
        }
        return line.t + instant.seconds(since: line.now)
    }
}
