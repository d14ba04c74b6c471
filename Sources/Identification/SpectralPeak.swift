import CMathShim
public import GimbalCore

/// Peak in the spectrum of a signal. Motors, propellers and resonances cause peaks in the spectrum.
public struct SpectralPeak: Sendable, Equatable {
    /// Frequency of the peak, interpolated between the bins, Hz.
    public var hz: Double
    /// Spectral density at the top of the peak, in the squared unit of the signal per Hz.
    public var density: Double
    /// Height of the peak above the median of its surroundings, dB.
    public var prominence: Double
    /// Root mean square of the signal in the peak, in the unit of the signal.
    public var rms: Double

    /// Find the peaks of a spectrum.
    ///
    /// - Parameter spectrum: A power spectrum.
    /// - Returns: At most 8 peaks, strongest first. A peak below 15 Hz is caused by motion, not by
    ///   vibration; a peak is at least 10 dB above the median of its surroundings.
    public static func find(in spectrum: PowerSpectrum) -> [SpectralPeak] {
        let density = spectrum.density
        var peaks: [SpectralPeak] = []
        for k in density.indices.dropFirst(2).dropLast(2)
        where spectrum.frequency(k) >= 15 && isTop(density, k) {
            let floor = surroundings(density, k)
            guard floor > 0 else { continue }
            let decibels = 10 * cm_log(density[k] / floor) / cm_log(10)
            guard decibels >= 10 else { continue }
            // A Hann window spreads a spectral line over four bins.
            let share = density[(k - 2)...(k + 2)].reduce(0, +) - 5 * floor
            peaks.append(
                SpectralPeak(
                    hz: spectrum.frequency(k) + offset(density, k) * spectrum.resolution,
                    density: density[k], prominence: decibels,
                    rms: cm_sqrt(max(share, 0) * spectrum.resolution)))
        }
        return Array(peaks.sorted { $0.density > $1.density }.prefix(8))
    }

    private static func isTop(_ density: [Double], _ k: Int) -> Bool {
        density[k] > density[k - 1] && density[k] >= density[k + 1]
            && density[k] > density[k - 2] && density[k] >= density[k + 2]
    }

    /// Median density of the bins around bin `k`, without the peak.
    private static func surroundings(_ density: [Double], _ k: Int) -> Double {
        let reach = max(12, k / 6)
        let indices = max(1, k - reach)...min(density.count - 2, k + reach)
        let values = indices.filter { abs($0 - k) > 3 }.map { density[$0] }.sorted()
        return values.isEmpty ? 0 : values[values.count / 2]
    }

    /// Offset of the peak from bin `k`, in bins: the vertex of a parabola through the logarithms of
    /// three bins.
    private static func offset(_ density: [Double], _ k: Int) -> Double {
        guard density[k - 1] > 0, density[k + 1] > 0 else { return 0 }
        let (a, b, c) = (cm_log(density[k - 1]), cm_log(density[k]), cm_log(density[k + 1]))
        let curvature = a - 2 * b + c
        return curvature < 0 ? min(max(0.5 * (a - c) / curvature, -0.5), 0.5) : 0
    }

    /// Create notches for the strongest peaks of one axis.
    ///
    /// - Parameters:
    ///   - peaks: Peaks, strongest first.
    ///   - highest: Frequency from which a notch would have no effect on the loop, or would not be
    ///     permitted, Hz.
    /// - Returns: At most 4 notches in order of frequency. The depth of each notch is the
    ///   prominence of the corresponding peak, in whole decibels.
    public static func notches(for peaks: [SpectralPeak], below highest: Double) -> [Notch] {
        // The rounded centre is compared, because the setting receives this value.
        peaks
            .map { peak in
                Notch(
                    hz: cm_floor(peak.hz * 10 + 0.5) / 10, q: 4,
                    depth: min(max(cm_floor(peak.prominence), 6), 30))
            }
            .filter { $0.hz < highest }.prefix(4)
            .sorted { $0.hz < $1.hz }
    }
}
