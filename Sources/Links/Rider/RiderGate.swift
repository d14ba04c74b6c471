import GimbalCore
import Wire

/// The gate between one remote control and the wheels: a new remote control, and one that was silent for too long, has to show
/// its stick in the middle before it moves them. Time is an argument.
struct RiderGate {
    private var lastAccepted: Instant?
    private var needsZero = true

    /// Whether a wish may go on to the Commander.
    ///
    /// - Parameters:
    ///   - isStanding: Whether it is 0/0.
    ///   - now: When it came.
    ///   - deadMan: Silence after which the wheels have stopped, s.
    /// - Returns: False while 0/0 has to come first.
    mutating func admits(isStanding: Bool, now: Instant, deadMan: Double) -> Bool {
        if let lastAccepted, now.seconds(since: lastAccepted) > deadMan { needsZero = true }
        return isStanding || !needsZero
    }

    /// The Commander has taken it.
    mutating func accepted(isStanding: Bool, now: Instant) {
        lastAccepted = now
        if isStanding { needsZero = false }
    }

    /// The Commander has refused it: when it is granted one day, the stick must be in the middle first.
    mutating func refused() { needsZero = true }
}
