import Foundation
import GimbalCore
import Simulation

/// Strides in some seconds of sensor samples, and the differences between them. The same method
/// produced the reference values from recorded people.
struct StrideStatistics {
    static let degrees = 180 / Double.pi
    /// Samples per second.
    private static let sampleRate = 100.0

    /// Duration of a stride, s, and its coefficient of variation.
    var stride = 0.0
    var variation = 0.0

    private let count: Int
    private var seconds: Double { Double(count) / Self.sampleRate }
    private let rate: Spectrum
    private let force: Spectrum
    private var bounds: [Double] = []

    /// Fourier series of a three-axis signal, at the multiples of one cycle per signal up to 20 Hz.
    private struct Spectrum {
        let seconds: Double
        var cosine: [Vector3] = []
        var sine: [Vector3] = []

        init(_ samples: [Vector3]) {
            seconds = Double(samples.count) / StrideStatistics.sampleRate
            for k in 0...Int(20 * seconds) {
                var (c, s) = (Vector3.zero, Vector3.zero)
                for (i, sample) in samples.enumerated() {
                    let angle =
                        2 * Double.pi * Double(k * i % samples.count) / Double(samples.count)
                    c += sample * (2 * cos(angle) / Double(samples.count))
                    s += sample * (2 * sin(angle) / Double(samples.count))
                }
                cosine.append(k == 0 ? .zero : c)
                sine.append(k == 0 ? .zero : s)
            }
        }

        /// Value of the signal's part below `hertz`, at a fraction of the duration.
        func value(at share: Double, below hertz: Double) -> Vector3 {
            var sum = Vector3.zero
            for k in 1...Int(hertz * seconds) {
                let angle = 2 * Double.pi * Double(k) * share
                sum += cosine[k] * cos(angle) + sine[k] * sin(angle)
            }
            return sum
        }

        /// RMS of each axis between two frequencies, Hz.
        func rms(_ band: Range<Double>) -> Vector3 {
            var sum = Vector3.zero
            for (k, (c, s)) in zip(cosine, sine).enumerated()
            where band.contains(Double(k) / seconds) {
                sum += Vector3(
                    c.x * c.x + s.x * s.x, c.y * c.y + s.y * s.y, c.z * c.z + s.z * s.z)
            }
            return Vector3(
                (sum.x / 2).squareRoot(), (sum.y / 2).squareRoot(), (sum.z / 2).squareRoot())
        }
    }

    /// - Parameters:
    ///   - motion: Motion of the handle.
    ///   - start: Start of the examined part, s.
    ///   - seconds: Duration of the examined part, s.
    init(_ motion: BaseMotion, from start: Double, seconds: Double = 8) {
        let count = Int(seconds * Self.sampleRate)
        let states = (0..<count).map { motion.state(at: start + Double($0) / Self.sampleRate) }
        self.init(
            rates: states.map(\.rate),
            forces: states.map {
                $0.attitude.inverseRotate($0.acceleration - Vector3(0, 0, 9.81))
            })
    }

    /// - Parameters:
    ///   - rates: Angular rates at 100 Hz in the axes of the sensor, rad/s.
    ///   - forces: As many specific forces, m/s².
    init(rates: [Vector3], forces: [Vector3]) {
        count = rates.count
        rate = Spectrum(rates)
        force = Spectrum(forces)
        findStrides()
    }

    /// Finds steps from the phase of the vertical force, in a band around its strongest line near 2
    /// Hz.
    private mutating func findStrides() {
        let first = Int(1.25 * seconds)
        let powers = (first...Int(2.4 * seconds)).map { k in
            force.cosine[k].z * force.cosine[k].z + force.sine[k].z * force.sine[k].z
        }
        guard let most = powers.max(), let place = powers.firstIndex(of: most) else { return }
        let centre = Double(place + first)
        var (last, turns) = (0.0, 0.0)
        var next = 1.0
        for i in 50..<(count - 50) {
            let share = Double(i) / Double(count)
            var (re, im) = (0.0, 0.0)
            for k in Int(0.7 * centre)...Int(1.3 * centre) {
                let angle = 2 * Double.pi * Double(k) * share
                re += force.cosine[k].z * cos(angle) + force.sine[k].z * sin(angle)
                im += force.cosine[k].z * sin(angle) - force.sine[k].z * cos(angle)
            }
            let phase = atan2(im, re)
            let turn = i > 50 ? remainder(phase - last, 2 * .pi) : 0
            last = phase
            // One stride is two steps.
            if (turns + turn) / (4 * .pi) >= next {
                let over = turns + turn - 4 * .pi * next
                bounds.append(share - over / turn / Double(count))
                next += 1
            }
            turns += turn
        }
        let durations = zip(bounds, bounds.dropFirst()).map { ($1 - $0) * seconds }
        stride = durations.reduce(0, +) / Double(durations.count)
        let square = durations.reduce(0) { $0 + ($1 - stride) * ($1 - stride) }
        variation = (square / Double(durations.count)).squareRoot() / stride
    }

    /// RMS of the difference between consecutive strides of equal stretched length, divided by the
    /// RMS of the signal.
    private func residual(_ spectrum: Spectrum, below hertz: Double) -> Double {
        var (difference, power) = (0.0, 0.0)
        for i in 0..<max(bounds.count - 2, 0) {
            for j in 0..<50 {
                let share = Double(j) / 50
                let first = spectrum.value(
                    at: bounds[i] + (bounds[i + 1] - bounds[i]) * share, below: hertz)
                let second = spectrum.value(
                    at: bounds[i + 1] + (bounds[i + 2] - bounds[i + 1]) * share, below: hertz)
                difference += (first - second).squaredNorm
                power += 0.5 * (first.squaredNorm + second.squaredNorm)
            }
        }
        return (difference / power).squareRoot()
    }

    func rateResidual(below hertz: Double) -> Double { residual(rate, below: hertz) }
    func forceResidual(below hertz: Double) -> Double { residual(force, below: hertz) }
    /// RMS rates about x, y, z in a band of frequencies (Hz), deg/s.
    func rates(_ band: Range<Double> = 0..<20.01) -> Vector3 { rate.rms(band) * Self.degrees }
    /// RMS specific forces along x, y, z in a band of frequencies (Hz), m/s².
    func forces(_ band: Range<Double> = 0..<20.01) -> Vector3 { force.rms(band) }
}
