import Configuration
import GimbalCore
import Plot
import TestSupport
import Testing

@testable import Daemon

@Suite("Generated pictures of the manual: set-up, light and buzzer") struct SetupPictureTests {
    private static let colors = [
        "#0072b2", "#d55e00", "#999999", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
    ]

    @Test("etc/manual/pictures/setup.svg matches a simulated set-up of a servo's joint range")
    func turn() throws {
        var gimbal = RangedGimbal(type: .servo)
        var (times, commands, joints): ([Double], [Double], [Double]) = ([], [], [])
        var tick = 0
        gimbal.trace = { time, command, joint in
            tick += 1
            // The set-up measures pitch first.
            guard tick % 20 == 0, time < 14 else { return }
            times.append(time)
            commands.append((command.pitch * 10).rounded() / 10)
            joints.append((joint.pitch * 10).rounded() / 10)
        }
        let outcome = gimbal.run()
        #expect(outcome.code == "" && commands.max() ?? 0 > 20 && joints.max() ?? 0 < 20.5)
        let upper = [Double](repeating: gimbal.stops.upper.pitch, count: times.count)
        let lower = [Double](repeating: gimbal.stops.lower.pitch, count: times.count)
        let figure = Figure(
            title: "Step joints of the set-up: a servo turns pitch to its ends",
            subtitle:
                "Simulated servo with stops at 20° and -30°; the turn ends when the camera does not follow the command",
            label: "time, s", abscissa: times,
            charts: [
                Chart(
                    title: "Pitch", label: "deg",
                    lines: [
                        Chart.Line("command", color: Self.colors[1], values: commands),
                        Chart.Line("joint", color: Self.colors[0], values: joints),
                        Chart.Line("upper stop", color: "#666666", values: upper),
                        Chart.Line("lower stop", color: "#999999", values: lower),
                    ])
            ])
        let file = CommittedFile("etc/manual/pictures/setup.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }

    @Test("etc/manual/pictures/signals.svg matches the signals in the code")
    func signals() throws {
        let states: [(String, SignalCode)] = [
            ("ready", .ready), ("camera turns", .moving), ("battery low", .low),
            ("start-up", .starting),
            ("motors off", .resting), ("emergency stop (1)", .fault(1)),
            ("sensor (2)", .fault(2)), ("bus or drive (3)", .fault(3)),
        ]
        let times = stride(from: 0.0, to: 6, by: 0.02).map { $0 }
        func chart(_ title: String, _ isOn: (SignalCode, Double) -> Bool) -> Chart {
            Chart(
                title: title, label: "one row per state",
                lines: states.enumerated().map { index, state in
                    let row = Double(states.count - 1 - index) * 1.5
                    return Chart.Line(
                        state.0, color: Self.colors[index],
                        values: times.map { row + (isOn(state.1, $0) ? 1 : 0) })
                })
        }
        let figure = Figure(
            title: "Light and buzzer after a change of the state",
            subtitle: "high: on; the number of flashes is the group of the fault",
            label: "time since the change, s", abscissa: times,
            charts: [
                chart("Light", { $0.isLit(at: $1) }), chart("Buzzer", { $0.isSounding(at: $1) }),
            ])
        let file = CommittedFile("etc/manual/pictures/signals.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }
}
