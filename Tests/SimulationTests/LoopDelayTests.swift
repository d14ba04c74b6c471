import Configuration
import GimbalCore
import Simulation
import Testing

/// The loop's delay, measured when the motors come on and used both ways.
@Suite("Loop delay")
struct LoopDelayTests {
    /// A gimbal in a standing person's hand.
    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        private var tick: Int64 = 0
        private let loopHz: Int

        init(
            _ parameters: SimulatedGimbal.Parameters, seed: UInt64, loopHz: Int = 1000,
            motion: BaseMotion.Kind = .handheld, settings: [String] = []
        ) throws {
            let loaded = try ConfigurationLoader.load(
                ConfigurationSource(overrides: ["loop.rate_hz=\(loopHz)"] + settings))
            self.loopHz = loopHz
            gimbal = SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(motion, seed: seed), seed: seed)
            stabilizer = Stabilizer(parameters: loaded.settings.stabilizerParameters)
        }

        mutating func run(seconds: Double, each: (SimulatedGimbal) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * Double(loopHz)) {
                tick += 1
                let now = Instant(nanoseconds: tick * 1_000_000_000 / Int64(loopHz))
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                gimbal.apply(stabilizer.step(now: now), at: now)
                each(gimbal)
            }
        }

        /// What the stabilizer goes by, ms.
        var delay: Double { stabilizer.snapshot.loopDelay * 1e3 }
    }

    /// The default gimbal with another delay, 3.5 ms and these, ms.
    static func later(by surplus: Double) -> SimulatedGimbal.Parameters {
        var parameters = SimulatedGimbal.Parameters()
        parameters.transportDelay += surplus / 1e3
        return parameters
    }

    @Test("a shorter delay is found, and never one shorter than it is", arguments: 1...4)
    func shorter(seed: UInt64) throws {
        for surplus in [-1.0, -0.6, 0] {
            var rig = try Rig(Self.later(by: surplus), seed: seed)
            rig.run(seconds: 6)
            #expect(rig.delay > 3.5 + surplus - 0.15 && rig.delay < 3.5 + surplus + 0.55)
            #expect(rig.delay <= 3.5)
        }
    }

    @Test("5 ms more than believed are found, and the camera stays where it is", arguments: 1...4)
    func longer(seed: UInt64) throws {
        var rig = try Rig(Self.later(by: 5), seed: seed)
        rig.run(seconds: 6)
        #expect(abs(rig.delay - 8.5) < 1)
        let start = rig.gimbal.attitude
        var largest = 0.0
        rig.run(seconds: 4) { largest = max(largest, start.error(to: $0.attitude).norm) }
        #expect(largest * 180 / .pi < 1)
        #expect(!rig.stabilizer.snapshot.conditions.intersects(.inertiaUnknown))
    }

    @Test("drawn gimbals' friction is not taken for a shorter delay")
    func drawn() throws {
        for seed in stride(from: UInt64(0), to: 24, by: 2) {
            let drawn = DrawnGimbal(seed: seed, motor: .torque)
            var parameters = drawn.parameters
            // Theirs are 0 to 4 ms longer than believed: this one is as believed.
            parameters.transportDelay = 0.00102
            let limit = drawn.torqueLimit
            var rig = try Rig(
                parameters, seed: seed, loopHz: drawn.loopHz,
                settings: ["motors.torque_limit_nm=[\(limit), \(limit), \(limit)]"])
            rig.run(seconds: 7)
            let believed = 3.5 + 1000 / Double(drawn.loopHz) - 1
            #expect(rig.delay > believed - 0.3, "\(seed): \(drawn.summary)")
        }
    }

    /// RMS of the camera's pitch, degrees, in a walker's hands whose gimbal answers 1 ms sooner than believed.
    static func shake(findsDelay: Bool, seed: UInt64) throws -> Double {
        var rig = try Rig(
            later(by: -1), seed: seed, motion: .walking,
            settings: ["control.find_delay=\(findsDelay)"])
        rig.run(seconds: 12)
        #expect(findsDelay ? rig.delay < 3 : rig.delay == 3.5)
        var (sum, count) = (0.0, 0.0)
        rig.run(seconds: 8) {
            let error = EulerZXY.angles($0.attitude).pitch * 180 / .pi
            sum += error * error
            count += 1
        }
        return (sum / count).squareRoot()
    }

    @Test("a loop that is sooner than believed is made faster; control.find_delay forbids it")
    func faster() throws {
        let fast = try Self.shake(findsDelay: true, seed: 3)
        let slow = try Self.shake(findsDelay: false, seed: 3)
        #expect(fast < slow, "\(fast), \(slow)")
    }

    @Test("a loop that has swung goes by the configured delay until the outputs come on again")
    func swung() throws {
        var rig = try Rig(Self.later(by: -1), seed: 1)
        rig.run(seconds: 6)
        #expect(rig.delay < 3)
        rig.gimbal.scaleInertia(by: 1 / 3.0)
        rig.run(seconds: 4)
        #expect(rig.delay == 3.5)
    }

    @Test("gains that were chosen for a short delay are not raised once more")
    func chosen() throws {
        // The gains fit 3.5 ms and the gimbal has 3.5 ms; somebody has written down 6.
        var rig = try Rig(Self.later(by: 0), seed: 1, settings: ["control.loop_delay_ms=6"])
        rig.run(seconds: 6)
        var swings = false
        rig.run(seconds: 4)
        swings = rig.stabilizer.snapshot.conditions.intersects(.loopOscillating)
        #expect(!swings && rig.delay < 6)
    }
}
