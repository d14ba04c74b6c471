import GimbalCore
import Glibc

/// RMS over windows of the true rate above 15 Hz, and of the angle that belongs to it: an
/// oscillation of the loop, or what steps and friction leave there.
struct Tremor {
    /// A window.
    struct Window {
        /// RMS of the rate, deg/s.
        var rate = 0.0
        /// RMS of the angle, degrees.
        var angle = 0.0

        /// Faster and wider than what noise, friction and a servo's pulses do.
        ///
        /// - Parameter other: RMS of the angle without the fault, degrees: the handle's, or a
        ///   healthy twin's.
        /// - Returns: Whether the camera trembles.
        func isTrembling(beside other: Double) -> Bool { rate > 3 && angle > max(0.05, other) }
    }

    /// Length of a window, s.
    let length: Double
    /// The last complete window.
    private(set) var present = Window()
    /// The largest of the windows that count, rate and angle each.
    private(set) var largest = Window()

    private var lows = (Vector3.zero, Vector3.zero)
    private var angle = Vector3.zero
    private var (sum, angles, time) = (0.0, 0.0, 0.0)

    init(length: Double = 0.5) { self.length = length }

    /// One period.
    ///
    /// - Parameters:
    ///   - rate: The true rate, deg/s.
    ///   - counts: Whether the window that ends now counts for `largest`.
    ///   - dt: Seconds since the previous call.
    /// - Returns: The window that has just ended; nil: none.
    @discardableResult
    mutating func note(_ rate: Vector3, counts: Bool, dt: Double) -> Window? {
        let share = 1 - exp(-2 * Double.pi * 15 * dt)
        lows.0 += (rate - lows.0) * share
        let high = rate - lows.0
        lows.1 += (high - lows.1) * share
        let fast = high - lows.1
        // An integral that forgets below 15 Hz.
        angle = (angle + fast * dt) * (1 - share)
        sum += fast.squaredNorm * dt
        angles += angle.squaredNorm * dt
        time += dt
        guard time >= length else { return nil }
        present = Window(rate: (sum / time).squareRoot(), angle: (angles / time).squareRoot())
        if counts {
            largest.rate = max(largest.rate, present.rate)
            largest.angle = max(largest.angle, present.angle)
        }
        (sum, angles, time) = (0, 0, 0)
        return present
    }
}
