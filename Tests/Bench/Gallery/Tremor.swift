import GimbalCore
import Glibc

/// Tremor of the camera or the handle: RMS of the true rate above 15 Hz, and of the corresponding
/// angle, over windows of equal length. An oscillation of the loop causes a large tremor. The
/// steps of a person, and the friction of the joints, cause a small tremor.
struct Tremor {
    /// RMS values of one window.
    struct Window {
        /// RMS of the camera's rate above 15 Hz, deg/s.
        var rate = 0.0
        /// RMS of the camera's angle above 15 Hz, degrees.
        var angle = 0.0

        /// True if the tremor exceeds the tremor that noise, friction and a servo's pulses cause.
        ///
        /// - Parameter other: RMS of the handle's angle above 15 Hz, or of the camera's angle in a
        ///   run without the fault, degrees. The camera's RMS must also exceed this value.
        /// - Returns: True if the camera trembles.
        func isTrembling(beside other: Double) -> Bool { rate > 3 && angle > max(0.05, other) }
    }

    /// Length of a window, s.
    let length: Double
    /// RMS values of the last complete window.
    private(set) var present = Window()
    /// The largest rate and the largest angle of all windows for which `counts` was true.
    private(set) var largest = Window()

    private var lows = (Vector3.zero, Vector3.zero)
    private var angle = Vector3.zero
    private var (sum, angles, time) = (0.0, 0.0, 0.0)

    init(length: Double = 0.5) { self.length = length }

    /// Adds the rate of one period to the current window.
    ///
    /// - Parameters:
    ///   - rate: The true rate, deg/s.
    ///   - counts: True if a window that ends with this period is included in `largest`.
    ///   - dt: Time since the previous call, s.
    /// - Returns: The window that has just ended; nil if no window has ended.
    @discardableResult
    mutating func note(_ rate: Vector3, counts: Bool, dt: Double) -> Window? {
        let share = 1 - exp(-2 * Double.pi * 15 * dt)
        lows.0 += (rate - lows.0) * share
        let high = rate - lows.0
        lows.1 += (high - lows.1) * share
        let fast = high - lows.1
        // The angle is the integral of the rate, with a high-pass at 15 Hz against drift.
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
