import Configuration
import GimbalCore
import Plot
import Simulation
import TestSupport
import Testing

/// Step responses of the presets of `follow.preset`: the handle turns quickly, and the camera
/// follows.
@Suite("Response of the modes that follow the handle")
struct FollowFeelTests {
    static let degrees = 180 / Double.pi
    /// Turn of the handle, degrees.
    static let turn = 30.0
    /// Duration of a run after the start phase, s. The preset `cinema` needs more time to come to
    /// rest.
    static func seconds(_ preset: FollowPreset) -> Double { preset == .cinema ? 6 : 4 }
    /// Ticks per second.
    static let rateHz = 500

    /// Measured values of one response.
    struct Figures: CustomStringConvertible {
        /// Time from 10 % to 90 % of the camera's turn, s.
        var rise: Double
        /// Largest turn beyond the final turn, as a percentage of the final turn.
        var overshoot: Double
        /// Angle between camera and handle at the end, degrees.
        var deadZone: Double
        /// Largest rate of the set-point, deg/s.
        var rate: Double

        var description: String {
            "rise \(rise) s, overshoot \(overshoot) %, dead zone \(deadZone)°, rate \(rate)°/s"
        }

        init(_ turns: [Double], rates: [Double], handle: Double) {
            let end = turns.suffix(100).reduce(0, +) / 100
            func time(_ share: Double) -> Double {
                Double(turns.firstIndex { $0 >= share * end } ?? turns.count)
                    / Double(FollowFeelTests.rateHz)
            }
            rise = time(0.9) - time(0.1)
            overshoot = ((turns.max() ?? 0) / end - 1) * 100
            deadZone = handle - end
            rate = rates.map(abs).max() ?? 0
        }
    }

    /// Expected values of a preset: time from 10 % to 90 %, s; dead zones of `pan_follow` and
    /// `fpv`, degrees; rate limit, deg/s.
    struct Expectation: Sendable {
        var name: FollowPreset
        var rise: Double
        var pan = 5.0
        var fpv = 1.0
        var rate: Double
    }

    static let expectations = [
        Expectation(name: .cinema, rise: 1.71, pan: 8, fpv: 3, rate: 30),
        Expectation(name: .slow, rise: 1.14, rate: 40),
        Expectation(name: .normal, rise: 0.57, rate: 90),
        Expectation(name: .sport, rise: 0.23, rate: 200),
    ]

    /// Turn of the camera, degrees, at each tick after the start of the handle's turn.
    static func response(
        _ preset: FollowPreset, _ axis: GimbalAxis, turn: Double = turn, settings: [String] = []
    ) throws -> (turns: [Double], figures: Figures) {
        let mode = axis == .yaw ? "pan_follow" : "fpv"
        let source = ConfigurationSource(
            config: "/dev/null",
            overrides: [
                "follow.preset=\(preset.rawValue)", "mode.boot=\(mode)", "loop.rate_hz=\(rateHz)",
            ] + settings)
        var motion = BaseMotion(.still, seed: 1, stillDuration: 6, rampDuration: 0.05)
        motion.turnRate[axis] = 300 / degrees
        motion.turnDuration = turn / 300
        var parameters = SimulatedGimbal.Parameters()
        parameters.imu.sampleRate = Double(rateHz)
        var loop = SimulatedLoop(
            SimulatedGimbal(parameters: parameters, motion: motion, seed: 1),
            try ConfigurationLoader.load(source).settings.stabilizerParameters, rateHz: rateHz)
        loop.run(seconds: 6)
        let camera = EulerZXY.angles(loop.gimbal.attitude)[axis]
        var (turns, rates): ([Double], [Double]) = ([], [])
        loop.run(seconds: seconds(preset)) { loop in
            turns.append((EulerZXY.angles(loop.gimbal.attitude)[axis] - camera) * degrees)
            rates.append(loop.snapshot.pointing.rates[axis] * degrees)
        }
        // The camera can start anywhere in the dead zone.
        let ahead = EulerZXY.angles(loop.gimbal.base.attitude)[axis] - camera
        return (turns, Figures(turns, rates: rates, handle: ahead * degrees))
    }

    @Test(
        "the responses rise in 1.71 s (cinema), 1.14 s (slow), 0.57 s (normal) and 0.23 s (sport), without overshoot, after the dead zone",
        arguments: expectations, [GimbalAxis.yaw, .roll, .pitch])
    func figures(preset: Expectation, axis: GimbalAxis) throws {
        let figures = try Self.response(preset.name, axis).figures
        #expect(abs(figures.rise / preset.rise - 1) < 0.05, "\(figures)")
        #expect(figures.overshoot < 0.5, "\(figures)")
        // During a fast turn, the estimated attitude of the handle precedes the joints by the
        // look-ahead of the estimate (3 ms), so the dead zone is smaller by up to 0.6°.
        let lost = (axis == .yaw ? preset.pan : preset.fpv) - figures.deadZone
        #expect(lost > -0.1 && lost < 0.7, "\(figures)")
        #expect(figures.rate <= preset.rate * 1.001)
    }

    @Test("lock keeps the direction within its dead zone of 60°, then follows without overshoot")
    func lock() throws {
        for axis in [GimbalAxis.yaw, .roll, .pitch] {
            let kept = try Self.response(.lock, axis).turns
            #expect((kept.map(abs).max() ?? 90) < 1, "\(axis)")
        }
        let figures = try Self.response(.lock, .yaw, turn: 90).figures
        #expect(figures.overshoot < 0.5, "\(figures)")
        #expect(figures.deadZone > 58 && figures.deadZone < 60.2, "\(figures)")
    }

    @Test("a separate dead zone setting replaces the dead zone of every preset")
    func commonDeadZone() throws {
        for preset in [FollowPreset.cinema, .normal, .lock] {
            let figures = try Self.response(
                preset, .yaw, settings: ["follow.pan_dead_zone_deg=2"]
            ).figures
            #expect(figures.deadZone > 1.2 && figures.deadZone < 2.2, "\(preset): \(figures)")
        }
        let roll = try Self.response(
            .cinema, .roll, settings: ["follow.fpv_dead_zone_deg=[-1, 10, -1]"]
        ).figures
        #expect(roll.deadZone > 9.2 && roll.deadZone < 10.2, "\(roll)")
        let pitch = try Self.response(
            .cinema, .pitch, settings: ["follow.fpv_dead_zone_deg=[-1, 10, -1]"]
        ).figures
        #expect(pitch.deadZone > 2.2 && pitch.deadZone < 3.2, "\(pitch)")
    }

    @Test("etc/manual/pictures/follow.svg shows the simulated responses")
    func picture() throws {
        let colors: [(FollowPreset, String)] = [
            (.cinema, "#cc79a7"), (.slow, "#0072b2"), (.normal, "#d55e00"), (.sport, "#009e73"),
            (.lock, "#666666"),
        ]
        func chart(_ axis: GimbalAxis, _ title: String) throws -> Chart {
            Chart(
                title: title, label: "deg",
                lines: try colors.map { preset, color in
                    let turns = try Self.response(preset, axis).turns.prefix(1750)
                    // One value in 20 ms, rounded to 0.01°, so that a rounding error of the
                    // processor does not change the picture.
                    let values = stride(from: 0, to: 1750, by: 10).map {
                        (turns[$0] * 100).rounded() / 100
                    }
                    return Chart.Line(preset.rawValue, color: color, values: values)
                }, least: 0...30)
        }
        let figure = Figure(
            title: "Turn of the camera after a turn of the handle by 30° within 0.1 s",
            subtitle: "Simulated default gimbal with torque motors; default settings of [follow]",
            label: "time, s", abscissa: stride(from: 0.0, to: 3.5, by: 0.02).map { $0 },
            charts: [
                try chart(.yaw, "Yaw in pan_follow"), try chart(.pitch, "Pitch in fpv"),
            ])
        let file = CommittedFile("etc/manual/pictures/follow.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }
}
