import Glibc
import Testing

@testable import GimbalCore

/// Tests with one axis that has friction and that only the probe and `disturbance` move.
@Suite("Inertia identifier")
struct InertiaIdentifierTests {
    struct Axis {
        var inertia: Double
        var coulomb = 0.0
        /// Ratio of the acceleration to the acceleration without friction while the torque is below
        /// `coulomb`; 0 if the axis does not creep.
        var creep = 0.0
        var disturbance: (Double) -> Double = { _ in 0 }
        var rate = 0.0
        var delayed = Array(repeating: 0.0, count: 30)

        /// Simulates a period of `tenths` · 0.1 ms with a torque that acts after the delay.
        mutating func step(_ torque: Double, tenths: Int, at time: Double) {
            let push = disturbance(time)
            for _ in 0..<tenths {
                delayed.append(torque)
                let drive = delayed.removeFirst() + push
                if creep > 0, abs(drive) < coulomb, abs(rate) < 0.01 {
                    rate += drive / inertia * creep * 1e-4
                    continue
                }
                let stop = rate + drive / inertia * 1e-4
                let friction = coulomb / inertia * 1e-4
                rate = abs(stop) <= friction ? 0 : stop - (stop > 0 ? friction : -friction)
            }
        }
    }

    static func identify(
        _ axis: Axis, seconds: Double = 3, loopDelay: Double = 0.0035,
        tenths: () -> Int = { 10 }
    ) -> (identifier: InertiaIdentifier, largestRate: Double) {
        var axis = axis
        var parameters = InertiaIdentifier.Parameters()
        parameters.loopDelay = loopDelay
        parameters.frequency = 52
        var identifier = InertiaIdentifier(parameters)
        identifier.raiseSigma(sigma: 0.5, parameters: parameters)
        var largest = 0.0
        var (now, length) = (0, 10)
        while Double(now) * 1e-4 < seconds {
            let torque = identifier.probe(parameters)
            identifier.observe(
                moment: torque, rate: axis.rate, parameters: parameters, dt: Double(length) * 1e-4)
            length = tenths()
            now += length
            axis.step(torque, tenths: length, at: Double(now) * 1e-4)
            largest = max(largest, abs(axis.rate))
        }
        return (identifier, largest)
    }

    @Test("finds the inertia of phone and camera", arguments: [1.4e-4, 2.5e-3, 1e-2])
    func finds(inertia: Double) {
        let found = Self.identify(Axis(inertia: inertia)).identifier
        #expect(found.isKnown && !found.isProbing)
        #expect(abs(found.inertia / inertia - 1) < 0.05)
    }

    @Test(
        "finds the inertia although friction holds the joint at first", arguments: [1.4e-4, 1e-2])
    func friction(inertia: Double) {
        let found = Self.identify(Axis(inertia: inertia, coulomb: 0.015)).identifier
        #expect(found.isKnown)
        #expect(abs(found.inertia / inertia - 1) < 0.25)
    }

    @Test("hand motion that is a thousand times the probe's does not falsify the inertia")
    func motion() {
        let axis = Axis(
            inertia: 2.5e-3,
            disturbance: { 0.2 * sin(2 * .pi * 2 * $0) + 0.02 * sin(2 * .pi * 6 * $0) })
        let found = Self.identify(axis).identifier
        #expect(abs(found.inertia / 2.5e-3 - 1) < 0.15)
    }

    @Test(
        "periods of any length and gaps do not falsify the inertia",
        arguments: [1.4e-4, 2.5e-3, 1e-2])
    func unsteady(inertia: Double) {
        var random = SeededNoise(seed: 3)
        let found = Self.identify(Axis(inertia: inertia), seconds: 10) {
            random.uniform() < 0.002 ? 300 : 1 + Int(random.uniform() * 24)
        }.identifier
        #expect(found.isKnown)
        #expect(abs(found.inertia / inertia - 1) < 0.15)
    }

    @Test("at 227 Hz the inertia is right at every delay, although two samples share an output")
    func spread() {
        var mean = 0.0
        for quarter in 0..<4 {
            var axis = Axis(inertia: 2.5e-3)
            axis.delayed = Array(repeating: 0, count: 44 + 11 * quarter)
            let found = Self.identify(
                axis, loopDelay: 6.6e-3 + 1.1e-3 * Double(quarter), tenths: { 44 }
            ).identifier
            #expect(found.isKnown)
            let ratio = found.inertia / 2.5e-3
            #expect(abs(ratio - 1) < 0.16, "a delay of 1 + \(quarter)/4 periods: \(ratio)")
            mean += ratio / 4
        }
        #expect(abs(mean - 1) < 0.05, "\(mean)")
    }

    @Test("the creep of a joint before it breaks away is not measured as a large inertia")
    func creep() {
        let axis = Axis(inertia: 6e-4, coulomb: 0.05, creep: 1 / 300.0)
        let found = Self.identify(axis, seconds: 6).identifier
        #expect(found.isKnown)
        #expect(abs(found.inertia / 6e-4 - 1) < 0.4, "\(found.inertia)")
    }

    @Test("a blocked joint leaves the inertia unknown and the gains cautious")
    func held() {
        let found = Self.identify(Axis(inertia: 2.5e-3, coulomb: 1), seconds: 6).identifier
        #expect(!found.isKnown && found.isProbing)
        #expect(found.inertia == 2.5e-3)
        #expect(found.caution < 0.1)
    }

    @Test("the probe turns the camera by less than 0.7°")
    func small() {
        let result = Self.identify(Axis(inertia: 1.4e-4, coulomb: 0.01))
        #expect(result.largestRate / (2 * .pi * 52) * 180 / .pi < 0.7)
    }

    @Test("without a probe, motion does not change the inertia")
    func silent() {
        let parameters = InertiaIdentifier.Parameters()
        var identifier = InertiaIdentifier(parameters)
        for tick in 1...2000 {
            let swing = Double(tick % 20) - 10
            identifier.observe(
                moment: 0.01 * swing, rate: swing, parameters: parameters, dt: 1e-3)
        }
        #expect(identifier.inertia == parameters.start)
        #expect(identifier.sigma == parameters.startSigma)
    }
}
