import CMathShim
public import GimbalCore

/// Model of a position servo, as a frequency response from commanded angle to camera angle: a
/// first-order lag in series with a delay.
///
/// `P(s) = gain exp(-s delay) / (1 + s lag)`
public struct ServoResponse: Sendable, Equatable {
    /// Delay from the command to the first sample of the response, s. The delay includes the mean
    /// wait for a pulse: half of the time between two pulses.
    public var delay: Double
    /// Lag of the servo's own position loop, s.
    public var lag: Double
    /// Ratio of the camera's angle to the commanded angle: 1 if the servo's travel is as
    /// configured.
    public var gain: Double

    /// Range in which `fit` searches the delay, s.
    public static let delays = 0.0005...0.06
    /// Range in which `fit` searches the lag, s.
    public static let lags = 0...0.05

    /// Creates the model of a servo.
    public init(delay: Double, lag: Double, gain: Double = 1) {
        self.delay = delay
        self.lag = lag
        self.gain = gain
    }

    /// Response at `omega`, rad/s: camera angle per commanded angle.
    public func response(omega: Double) -> Complex {
        Complex(phase: -omega * delay) * gain / Complex(1, omega * lag)
    }

    /// Find the model that fits measured points best.
    ///
    /// - Parameter points: Measured points, camera angle per commanded angle; at least 4.
    /// - Returns: The model and the root mean square of the relative error; nil if no model fits.
    public static func fit(_ points: [ResponsePoint]) -> (model: ServoResponse, residual: Double)? {
        guard points.count >= 4 else { return nil }
        var best: (model: ServoResponse, residual: Double)?
        func search(_ delays: ClosedRange<Double>, _ lags: ClosedRange<Double>, _ step: Double) {
            for delay in stride(from: delays.lowerBound, through: delays.upperBound, by: step) {
                for lag in stride(from: lags.lowerBound, through: lags.upperBound, by: step) {
                    let (gain, residual) = solve(points, delay: delay, lag: lag)
                    guard gain > 0, residual < best?.residual ?? .infinity else { continue }
                    best = (ServoResponse(delay: delay, lag: lag, gain: gain), residual)
                }
            }
        }
        search(0.001...delays.upperBound, lags, 0.001)
        guard let rough = best?.model else { return nil }
        search(
            (rough.delay - 0.001...rough.delay + 0.001).clamped(to: delays),
            (rough.lag - 0.001...rough.lag + 0.001).clamped(to: lags), 0.00005)
        return best
    }

    /// Compute the best gain for the given delay and lag, and the residual.
    private static func solve(
        _ points: [ResponsePoint], delay: Double, lag: Double
    ) -> (gain: Double, residual: Double) {
        var (sum, square, weights) = (0.0, 0.0, 0.0)
        for point in points {
            let omega = point.omega
            let freed = point.response * Complex(phase: omega * delay) * Complex(1, omega * lag)
            let weight = weight(of: point)
            sum += weight * freed.real
            square += weight * freed.squaredMagnitude
            weights += weight
        }
        let gain = sum / weights
        let rest = square / weights - gain * gain
        return (gain, cm_sqrt(max(rest, 0)) / max(gain, 1e-9))
    }

    /// Weight of the point: inverse of its relative variance. The variance is the sum of two parts:
    /// a model error of 5 % RMS at low frequencies, and the incoherent part divided by the number
    /// of periods. Points above 50 Hz have less weight, because the pulses, the sensor's filter and
    /// the dead band affect these points more than the lag.
    private static func weight(of point: ResponsePoint) -> Double {
        let share = min(max(point.coherence, 1e-3), 1)
        let speed = point.omega / (2 * .pi * 50)
        return 1
            / (2.5e-3 * (1 + speed * speed * speed * speed)
                + (1 - share) / (share * Double(point.periods)))
    }
}
