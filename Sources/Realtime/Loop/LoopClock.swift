public import GimbalCore
import Synchronization

/// The clock that dead-man timers, rollbacks and everything else that belongs to the loop are read
/// on: CLOCK_MONOTONIC, or the time of a simulator that is followed in lockstep. Handed down by the
/// composition root; any ordinary thread.
///
/// A simulator's `t` begins anywhere, and with each connection anew. Inside the process time only
/// grows: each run is laid behind the one before. People see the simulator's own `t`, see
/// `seconds`.
public final class LoopClock: Sendable {
    private struct Simulated {
        /// The loop's time of the last line.
        var now: Instant
        /// The simulator's time then, s.
        var t: Double
    }

    /// The process's own clock.
    public static let monotonic = LoopClock(simulated: nil)

    /// Nil: CLOCK_MONOTONIC.
    private let simulated: Mutex<Simulated?>

    private init(simulated: Simulated?) { self.simulated = Mutex(simulated) }

    /// A clock that stands still until it is set.
    public static func lockstep() -> LoopClock {
        LoopClock(simulated: Simulated(now: Instant(nanoseconds: 1_000_000_000), t: 0))
    }

    /// This moment, on the loop's time.
    public var now: Instant {
        simulated.withLock { $0?.now } ?? MonotonicClock.now
    }

    /// Moves a simulated clock; does nothing to the other.
    ///
    /// - Parameters:
    ///   - now: The loop's time, not before the present one.
    ///   - t: The simulator's time, s.
    public func set(_ now: Instant, t: Double) {
        simulated.withLock { if $0 != nil { $0 = Simulated(now: now, t: t) } }
    }

    /// An instant as people read it: seconds on CLOCK_MONOTONIC, or on the simulator's own clock.
    public func seconds(_ instant: Instant) -> Double {
        guard let line = simulated.withLock(\.self) else {
            return instant.seconds(since: Instant(nanoseconds: 0))
        }
        return line.t + instant.seconds(since: line.now)
    }
}
