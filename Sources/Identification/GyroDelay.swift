import CMathShim
import GimbalCore

/// Delay of the gyroscope relative to a joint's encoder, measured during an excitation.
///
/// If the handle is at rest, the camera rotates by the same angle as the joint, so the gyroscope
/// and the encoder measure the same motion. The phase difference of the two signals at each excited
/// frequency is the delay times the frequency. A low-pass filter delays high frequencies more than
/// low frequencies, but the attitude needs the delay at low frequency. Therefore the fit contains a
/// cubic term in the frequency, and uses only lines with a phase difference below 1 rad. The result
/// is the difference between the two delays. To obtain the gyroscope's delay, add the encoder's own
/// delay.
public struct GyroDelay: Sendable, Equatable {
    /// Delay of the gyroscope minus delay of the encoder, s.
    public var seconds: Double
    /// Standard deviation of `seconds`, s, from the scatter between periods and between spectral
    /// lines.
    public var sigma: Double
    /// Ratio of the gyroscope's rate to the encoder's rate at low frequencies; 1 if the handle is
    /// at rest.
    public var gain: Double

    /// Creates a result.
    public init(seconds: Double, sigma: Double, gain: Double) {
        self.seconds = seconds
        self.sigma = sigma
        self.gain = gain
    }

    /// True if the result is accurate enough for a setting: the standard deviation is below 0.2 ms,
    /// and the handle was at rest.
    public var isCertain: Bool { sigma < 0.2e-3 && abs(gain - 1) < 0.1 }

    /// Combine the results of several axes; nil if no axis has an accurate result, or if an
    /// accurate result differs by more than 0.4 ms from the mean.
    public static func common(of axes: [GyroDelay]) -> GyroDelay? {
        let certain = axes.filter(\.isCertain)
        guard !certain.isEmpty else { return nil }
        func mean(_ value: (GyroDelay) -> Double) -> Double {
            certain.reduce(0) { $0 + value($1) / ($1.sigma * $1.sigma) }
                / certain.reduce(0) { $0 + 1 / ($1.sigma * $1.sigma) }
        }
        let seconds = mean(\.seconds)
        guard certain.allSatisfy({ abs($0.seconds - seconds) < 0.4e-3 }) else { return nil }
        // All axes share some causes of error, such as cross-axis terms. Therefore the mean of the
        // axes is not more accurate than the best axis.
        let sigma = certain.map(\.sigma).min() ?? .nan
        return GyroDelay(seconds: seconds, sigma: sigma, gain: mean(\.gain))
    }

    /// Lower limit of `sigma`, s: the error that remains with a firmly mounted handle.
    private static let floor = 0.05e-3

    /// Ratio of the gyroscope's signal to the encoder's signal at one spectral line, from several
    /// periods.
    struct Line {
        /// Frequency of the spectral line, rad/s.
        var omega: Double
        /// Ratio of the gyroscope's rate to the encoder's rate, averaged over the periods.
        var ratio: Complex
        /// Variance of the phase of `ratio`, rad².
        var variance: Double
    }

    /// Fits the delay; nil if there are fewer than four usable spectral lines.
    static func fit(_ lines: [Line]) -> GyroDelay? {
        var used: [(omega: Double, late: Double, weight: Double)] = []
        for line in lines {
            let late = -line.ratio.phase
            guard abs(late) < 1 else { break }
            // The geometry of the joints, and cross-axis errors, limit the accuracy of the phase to
            // 2 mrad.
            used.append((line.omega, late, 1 / (line.variance + 4e-6)))
        }
        guard used.count >= 4 else { return nil }
        // Normal equations of the fit `late = delay · ω + cubic · ω³`, in which ω is divided by the
        // highest frequency of the lines.
        let unit = used.map(\.omega).max() ?? 1
        var (a, b, c, p, q) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for line in used {
            let x = line.omega / unit
            let cube = x * x * x
            a += line.weight * x * x
            b += line.weight * x * cube
            c += line.weight * cube * cube
            p += line.weight * x * line.late
            q += line.weight * cube * line.late
        }
        let determinant = a * c - b * b
        guard determinant > 1e-9 * a * c else { return nil }
        let slope = (p * c - q * b) / determinant
        let cubic = (q * a - p * b) / determinant
        let misfit = used.reduce(0) { sum, line in
            let x = line.omega / unit
            let error = line.late - slope * x - cubic * x * x * x
            return sum + line.weight * error * error
        }
        let excess = max(misfit / Double(used.count - 2), 1)
        let sigma = cm_sqrt(excess * c / determinant) / unit + floor
        let gains = lines.prefix(4).map(\.ratio.magnitude)
        return GyroDelay(
            seconds: slope / unit, sigma: sigma,
            gain: gains.reduce(0, +) / Double(gains.count))
    }
}

extension ExcitationRecord {
    /// Compute the delay of the gyroscope relative to the encoder.
    ///
    /// The signals of gyroscope and encoder are projected on the excitation. Motion with other
    /// causes therefore averages out.
    ///
    /// - Parameter tickRate: Ticks per second, Hz.
    /// - Returns: The delay; nil without encoders, or with fewer than two complete periods or four
    ///   usable lines.
    public func gyroDelay(tickRate: Double) -> GyroDelay? {
        guard periods >= 2, turns.count == inputs.count else { return nil }
        let lines = (0..<Excitation.lineCount).compactMap { line -> GyroDelay.Line? in
            let harmonic = Excitation.harmonic(line)
            guard Double(harmonic) < 0.2 * Double(periodTicks) else { return nil }
            let omega = 2 * .pi * Double(harmonic) * tickRate / Double(periodTicks)
            var (gyro, joint) = (Complex(0), Complex(0))
            var each: [(gyro: Complex, joint: Complex)] = []
            for period in 0..<periods {
                let g = coefficient(turns, harmonic, period)
                let j = coefficient(joints, harmonic, period) * Complex(0, omega)
                each.append((g, j))
                gyro = gyro + g
                joint = joint + j
            }
            let ratio = gyro / joint
            // Scatter of the ratios in the individual periods about the mean ratio.
            let scatter = each.reduce(0) { sum, pair in
                sum + (pair.gyro - ratio * pair.joint).squaredMagnitude
            }
            let count = Double(periods)
            let variance =
                scatter / (2 * (count - 1) * count)
                / max((ratio * joint).squaredMagnitude / (count * count), 1e-300)
            return GyroDelay.Line(omega: omega, ratio: ratio, variance: variance)
        }
        return GyroDelay.fit(lines)
    }
}
