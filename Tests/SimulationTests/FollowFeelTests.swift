import Configuration
import GimbalCore
import Plot
import Simulation
import TestSupport
import Testing

/// Step responses of the presets `slow`, `normal` and `sport`: the handle turns quickly, and the
/// camera follows.
@Suite("Feel of the modes that follow the handle")
struct FollowFeelTests {
    static let degrees = 180 / Double.pi
    /// Turn of the handle, degrees.
    static let turn = 30.0
    /// Time from the end of the start to the end of a run, s.
    static let seconds = 4.0
    /// Ticks per second.
    static let rateHz = 500

    /// Figures of one response.
    struct Figures: CustomStringConvertible {
        /// Time from 10 % to 90 % of the camera's turn, s.
        var rise: Double
        /// Largest turn beyond the final turn, as a percentage of the final turn.
        var overshoot: Double
        /// Difference of the turns of handle and camera at the end, degrees.
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

    /// Turn of the camera, degrees, at each tick after the start of the handle's turn.
    static func response(
        _ preset: FollowPreset, _ axis: GimbalAxis
    ) throws -> (turns: [Double], figures: Figures) {
        let mode = axis == .yaw ? "pan_follow" : "fpv"
        let source = ConfigurationSource(
            config: "/dev/null",
            overrides: [
                "follow.preset=\(preset.rawValue)", "mode.boot=\(mode)", "loop.rate_hz=\(rateHz)",
            ])
        var motion = BaseMotion(.still, seed: 1, stillDuration: 6, rampDuration: 0.05)
        motion.turnRate[axis] = 10 * turn / degrees
        motion.turnDuration = 0.1
        var parameters = SimulatedGimbal.Parameters()
        parameters.imu.sampleRate = Double(rateHz)
        var loop = SimulatedLoop(
            SimulatedGimbal(parameters: parameters, motion: motion, seed: 1),
            try ConfigurationLoader.load(source).settings.stabilizerParameters, rateHz: rateHz)
        loop.run(seconds: 6)
        let camera = EulerZXY.angles(loop.gimbal.attitude)[axis]
        let handle = EulerZXY.angles(loop.gimbal.base.attitude)[axis]
        var (turns, rates): ([Double], [Double]) = ([], [])
        loop.run(seconds: seconds) { loop in
            turns.append((EulerZXY.angles(loop.gimbal.attitude)[axis] - camera) * degrees)
            rates.append(loop.snapshot.pointing.rates[axis] * degrees)
        }
        let turned = EulerZXY.angles(loop.gimbal.base.attitude)[axis] - handle
        return (turns, Figures(turns, rates: rates, handle: turned * degrees))
    }

    @Test(
        "slow rises in 1.14 s, normal in 0.57 s, sport in 0.23 s, without overshoot, after the dead zone",
        arguments: [(FollowPreset.slow, 1.14), (.normal, 0.57), (.sport, 0.23)],
        [GimbalAxis.yaw, .roll, .pitch])
    func figures(preset: (name: FollowPreset, rise: Double), axis: GimbalAxis) throws {
        let figures = try Self.response(preset.name, axis).figures
        #expect(abs(figures.rise / preset.rise - 1) < 0.05, "\(figures)")
        #expect(figures.overshoot < 0.5, "\(figures)")
        // During a fast turn, the estimated attitude of the handle precedes the joints by the
        // look-ahead of the estimate (3 ms), so the dead zone is smaller by up to 0.6°.
        let lost = (axis == .yaw ? 5 : 1) - figures.deadZone
        #expect(lost > -0.1 && lost < 0.7, "\(figures)")
        let limits: [FollowPreset: Double] = [.slow: 40, .normal: 90, .sport: 200]
        #expect(figures.rate <= (limits[preset.name] ?? 0) * 1.001)
    }

    @Test("etc/manual/pictures/follow.svg shows the responses of the code")
    func picture() throws {
        let colors: [(FollowPreset, String)] = [
            (.slow, "#0072b2"), (.normal, "#d55e00"), (.sport, "#009e73"),
        ]
        func chart(_ axis: GimbalAxis, _ title: String) throws -> Chart {
            Chart(
                title: title, label: "deg",
                lines: try colors.map { preset, color in
                    let turns = try Self.response(preset, axis).turns.prefix(1250)
                    // One value in 20 ms, rounded to 0.01°, so that a rounding error of the
                    // processor does not change the picture.
                    let values = stride(from: 0, to: 1250, by: 10).map {
                        (turns[$0] * 100).rounded() / 100
                    }
                    return Chart.Line(preset.rawValue, color: color, values: values)
                }, least: 0...30)
        }
        let figure = Figure(
            title: "Turn of the camera after a turn of the handle by 30° within 0.1 s",
            subtitle: "Simulated default gimbal with torque motors; default settings of [follow]",
            label: "time, s", abscissa: stride(from: 0.0, to: 2.5, by: 0.02).map { $0 },
            charts: [
                try chart(.yaw, "Yaw in pan_follow"), try chart(.pitch, "Pitch in fpv"),
            ])
        let file = CommittedFile("etc/manual/pictures/follow.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }
}
