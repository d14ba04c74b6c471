import Foundation
import GimbalCore
import Simulation
import Testing

/// Strides in eight seconds of sensor samples, and the differences between them. The same method
/// produced the reference values from recorded people.
struct StrideStatistics {
    static let degrees = 180 / Double.pi
    private static let seconds = 8.0

    /// Duration of a stride, s, and its coefficient of variation.
    var stride = 0.0
    var variation = 0.0

    private let count: Int
    private let rate: Spectrum
    private let force: Spectrum
    private var bounds: [Double] = []

    /// Fourier series of a three-axis signal of eight seconds, at multiples of 1/8 Hz up to 20 Hz.
    private struct Spectrum {
        var cosine: [Vector3] = []
        var sine: [Vector3] = []

        init(_ samples: [Vector3]) {
            for k in 0...160 {
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

        /// Value of the signal's part below `hertz`, at a fraction of the eight seconds.
        func value(at share: Double, below hertz: Double) -> Vector3 {
            var sum = Vector3.zero
            for k in 1...Int(hertz * StrideStatistics.seconds) {
                let angle = 2 * Double.pi * Double(k) * share
                sum += cosine[k] * cos(angle) + sine[k] * sin(angle)
            }
            return sum
        }

        /// RMS of each axis.
        var rms: Vector3 {
            var sum = Vector3.zero
            for (c, s) in zip(cosine, sine) {
                sum += Vector3(
                    c.x * c.x + s.x * s.x, c.y * c.y + s.y * s.y, c.z * c.z + s.z * s.z)
            }
            return Vector3(
                (sum.x / 2).squareRoot(), (sum.y / 2).squareRoot(), (sum.z / 2).squareRoot())
        }
    }

    /// - Parameters:
    ///   - motion: Motion of the handle.
    ///   - start: Start of the eight seconds, s.
    init(_ motion: BaseMotion, from start: Double) {
        count = 800
        let states = (0..<count).map { motion.state(at: start + Double($0) * 0.01) }
        rate = Spectrum(states.map(\.rate))
        force = Spectrum(
            states.map { $0.attitude.inverseRotate($0.acceleration - Vector3(0, 0, 9.81)) })
        findStrides()
    }

    /// Finds steps from the phase of the vertical force, in a band around its strongest line near 2
    /// Hz.
    private mutating func findStrides() {
        let powers = (10...19).map { k in
            force.cosine[k].z * force.cosine[k].z + force.sine[k].z * force.sine[k].z
        }
        guard let most = powers.max(), let place = powers.firstIndex(of: most) else { return }
        let centre = Double(place + 10)
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
        let durations = zip(bounds, bounds.dropFirst()).map { ($1 - $0) * Self.seconds }
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
    /// RMS rates about x, y, z below 20 Hz, deg/s.
    var rates: Vector3 { rate.rms * Self.degrees }
    /// RMS specific forces along x, y, z below 20 Hz, m/s².
    var forces: Vector3 { force.rms }
}

/// The expected values come from 220 straight walks of 19 healthy people with a sensor at the lower
/// back (C. Voisard et al., IPOL 2023/497).
@Suite("Simulated walk and run compared with recorded people")
struct GaitTests {
    static let walkers = (1...16).map {
        StrideStatistics(
            BaseMotion(.walking, seed: UInt64($0), stillDuration: 0, rampDuration: 0), from: 2)
    }

    static func median(_ figure: (StrideStatistics) -> Double) -> Double {
        let sorted = walkers.map(figure).sorted()
        return 0.5 * (sorted[7] + sorted[8])
    }

    @Test("the median stride takes 1.10 s, and stride durations vary by 1.5 %")
    func strides() {
        #expect(abs(Self.median(\.stride) - 1.10) < 0.03)
        #expect(Self.walkers.allSatisfy { $0.stride > 0.97 && $0.stride < 1.22 })
        #expect(abs(Self.median(\.variation) - 0.015) < 0.004, "\(Self.median(\.variation))")
    }

    @Test(
        "consecutive strides differ by as much as in recordings of people, in each frequency band",
        arguments: [(2.0, 0.40, 0.21), (4, 0.40, 0.24), (8, 0.45, 0.35), (20, 0.53, 0.45)])
    func residuals(hertz: Double, rate: Double, force: Double) {
        let found = (
            Self.median { $0.rateResidual(below: hertz) },
            Self.median { $0.forceResidual(below: hertz) }
        )
        #expect(abs(found.0 - rate) < 0.15 * rate, "rate \(found.0)")
        #expect(abs(found.1 - force) < 0.2 * force, "force \(found.1)")
    }

    @Test(
        "the rates are 14 to 34 °/s RMS about each axis, the forces 1.5 m/s² along x and 2 m/s² along z"
    )
    func sizes() {
        for walker in Self.walkers {
            for rate in [walker.rates.x, walker.rates.y, walker.rates.z] {
                #expect(rate > 14 && rate < 34)
            }
            #expect(abs(walker.forces.x - 1.5) < 0.4 && abs(walker.forces.z - 2) < 0.4)
        }
    }

    @Test(
        "the rate is the derivative of the attitude, also while a walker stops and turns",
        arguments: [HandleMotion.walking, .running])
    func derivative(kind: HandleMotion) {
        let motion = BaseMotion(kind, seed: 3, stillDuration: 1)
        let h = 1e-5
        for time in [0.5, 1.7, 9, 13.3, 13.7, 24.4, 25.5, 27.6, 30, 40.5, 54.2] {
            let before = motion.state(at: time - h).attitude
            let numeric = before.error(to: motion.state(at: time + h).attitude) / (2 * h)
            #expect((numeric - motion.state(at: time).rate).norm < 1e-5, "at \(time) s")
        }
    }

    @Test("a walk pauses for two seconds after every 24 s, and turns by 60° on the way")
    func course() {
        let motion = BaseMotion(.walking, seed: 2, stillDuration: 4)
        for time in [0.0, 3.9, 28.2, 29.9, 55.5] {
            let state = motion.state(at: time)
            #expect(state.rate.norm < 1e-9 && state.acceleration.norm < 1e-9, "at \(time) s")
        }
        let (before, after) = (motion.state(at: 1), motion.state(at: 29))
        #expect(abs(before.attitude.error(to: after.attitude).norm - .pi / 3) < 1e-9)
        #expect(motion.state(at: 56).attitude.error(to: .identity).norm < 1e-9)
    }

    @Test("running shakes the handle with 6 m/s² RMS")
    func running() {
        let runner = StrideStatistics.self
        for seed in 1...4 {
            let motion = BaseMotion(
                .running, seed: UInt64(seed), stillDuration: 0, rampDuration: 0)
            let forces = runner.init(motion, from: 2).forces
            #expect(abs(forces.norm - 6) < 0.8, "\(forces.norm)")
        }
    }
}
