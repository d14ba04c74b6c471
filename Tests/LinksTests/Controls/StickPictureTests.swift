import Configuration
import GimbalCore
import Plot
import SystemPackage
import TestSupport
import Testing

@testable import Links

@Suite("Diagram of the stick's rates") struct StickPictureTests {
    /// Rate at each deflection of a stick with a known centre, deg/s.
    private func rates(_ deflections: [Double], expo: Double) -> [Double] {
        let settings = Settings().controls
        return deflections.map { deflection in
            var axis = StickAxis(value: 0, range: -1000...1000, now: at(0))
            _ = axis.advance(now: at(1), deadZone: settings.deadZone, timeout: 10)
            axis.move(to: Int32(deflection * 1000), now: at(2))
            let beyond = axis.deflection(deadZone: settings.deadZone)
            return StickAxis.rate(beyond, expo: expo) * settings.maxRateDps.yaw
        }
    }

    @Test(
        "`make documents` writes etc/manual/pictures/stick.svg, which shows the rates of the code")
    func picture() throws {
        let deflections = stride(from: -100, through: 100, by: 1).map { Double($0) / 100 }
        let lines = [(0.0, "#0072b2"), (0.6, "#d55e00"), (1.0, "#009e73")].map { expo, color in
            Chart.Line(
                "expo \(expo)", color: color, values: rates(deflections, expo: expo))
        }
        let figure = Figure(
            title: "Rate of yaw over the deflection of the stick",
            subtitle:
                "controls.dead_zone = 0.08, controls.max_rate_dps = 90; the default of controls.expo is 0.6",
            label: "deflection, fraction of the travel", abscissa: deflections,
            charts: [Chart(title: "Rate", label: "deg/s", lines: lines)])
        let file = CommittedFile("etc/manual/pictures/stick.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }
}
