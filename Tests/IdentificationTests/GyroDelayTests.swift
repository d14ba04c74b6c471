import GimbalCore
import Simulation
import Testing

@testable import Identification

@Suite("The gyroscope's delay, identified from an excitation with encoders")
struct GyroDelayTests {
    /// Ratio of gyroscope to encoder after a second-order low-pass filter with this group delay.
    private static func lines(milliseconds: Double, gain: Double = 1) -> [GyroDelay.Line] {
        let corner = 2.0.squareRoot() / (milliseconds * 1e-3)
        return [2.5, 4.5, 6.5, 9.5, 13.5, 19.5, 27.5, 37.5, 51.5, 70.5, 95.5].map { hertz in
            let omega = 2 * Double.pi * hertz
            let x = omega / corner
            return GyroDelay.Line(
                omega: omega,
                ratio: Complex(gain) / Complex(1 - x * x, 2.0.squareRoot() * x), variance: 1e-8)
        }
    }

    @Test("the delay is found for low-pass filters", arguments: [0.2, 1, 3, 5])
    func filters(milliseconds: Double) throws {
        let found = try #require(GyroDelay.fit(Self.lines(milliseconds: milliseconds)))
        #expect(abs(found.seconds * 1e3 - milliseconds) < 0.05)
        #expect(found.isCertain)
    }

    @Test("the delay is uncertain if the handle moves, so that camera and joint angle differ")
    func movedHandle() throws {
        let found = try #require(GyroDelay.fit(Self.lines(milliseconds: 1, gain: 0.8)))
        #expect(!found.isCertain)
    }

    @Test("the delay is unknown if the axes contradict each other, or if no axis is certain")
    func contradiction() throws {
        let one = GyroDelay(seconds: 1e-3, sigma: 0.1e-3, gain: 1)
        let other = GyroDelay(seconds: 3e-3, sigma: 0.1e-3, gain: 1)
        let vague = GyroDelay(seconds: 3e-3, sigma: 0.5e-3, gain: 1)
        #expect(GyroDelay.common(of: [one, other]) == nil)
        #expect(GyroDelay.common(of: [vague]) == nil)
        #expect(GyroDelay.common(of: [one, vague])?.seconds == 1e-3)
    }

    @Test(
        "autotune finds the delay within 0.25 ms on gimbals with random parameters",
        arguments: [(7, 3.5), (9, 0.5), (18, 1.5)] as [(UInt64, Double)])
    func drawn(seed: UInt64, milliseconds: Double) throws {
        var parameters = DrawnGimbal(seed: seed, motor: .torque).parameters
        parameters.imu.gyroBandwidthHz = 2.0.squareRoot() / (2 * .pi * milliseconds * 1e-3)
        var tuning = Stabilizer.Parameters()
        tuning.controller.torqueLimit = parameters.plant.torqueLimit
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(.still, seed: seed), seed: seed),
            tuning)
        loop.run(seconds: 9)
        let run = loop.autotune([.pitch])
        let found = try #require(run.gyroDelay, "\(String(describing: run.outcome))")
        #expect(abs(found.seconds * 1e3 - milliseconds) < 0.25)
    }
}
