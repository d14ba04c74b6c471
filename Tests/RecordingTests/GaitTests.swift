import Foundation
import GimbalCore
import Simulation
import Testing

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
            let (rates, forces) = (walker.rates(), walker.forces())
            for rate in [rates.x, rates.y, rates.z] {
                #expect(rate > 14 && rate < 34)
            }
            #expect(abs(forces.x - 1.5) < 0.4 && abs(forces.z - 2) < 0.4)
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
        for seed in 1...4 {
            let motion = BaseMotion(
                .running, seed: UInt64(seed), stillDuration: 0, rampDuration: 0)
            let forces = StrideStatistics(motion, from: 2).forces()
            #expect(abs(forces.norm - 6) < 0.8, "\(forces.norm)")
        }
    }
}
