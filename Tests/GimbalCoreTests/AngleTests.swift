import GimbalCore
import Testing

@Suite("Angles")
struct AngleTests {
    @Test(
        "the shortest arc between two angles is in (-180°, 180°]",
        arguments: [
            (from: 170.0, to: -170.0, expected: 20.0), (from: -170, to: 170, expected: -20),
            (from: 0, to: 180, expected: 180), (from: 0, to: -180, expected: 180),
            (from: 10, to: 730, expected: 0), (from: -350, to: 20, expected: 10),
        ])
    func shortestArc(from: Double, to: Double, expected: Double) {
        let arc = Angle.degrees(from).shortestArc(to: .degrees(to))
        #expect(abs(arc.degrees - expected) < 1e-9)
    }

    @Test("degrees and radians are the same angle")
    func units() {
        #expect(Angle.degrees(180).radians == .pi)
        #expect(abs(Angle.radians(.pi / 2).degrees - 90) < 1e-12)
    }
}
