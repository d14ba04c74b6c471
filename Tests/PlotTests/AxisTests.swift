import Testing

@testable import Plot

@Suite("Axis of a chart")
struct AxisTests {
    @Test(
        "marks round values within the range",
        arguments: [
            (range: 0.0...10.0, marks: 5, expected: [0, 2, 4, 6, 8, 10]),
            (range: -0.3...0.31, marks: 6, expected: [-0.2, 0, 0.2]),
            (range: -180.0...180.0, marks: 6, expected: [-180, -120, -60, 0, 60, 120, 180]),
            (range: 3.0...3.004, marks: 4, expected: [3, 3.001, 3.002, 3.003, 3.004]),
        ])
    func marks(range: ClosedRange<Double>, marks: Int, expected: [Double]) {
        let found = Axis(range: range, start: 0, end: 100, marks: marks).marks
        #expect(found.count == expected.count)
        for (mark, value) in zip(found, expected) { #expect(abs(mark - value) < 1e-9) }
    }

    @Test("writes as few decimals as distinguish neighbouring marks")
    func text() {
        #expect(Axis(range: 0...10, start: 0, end: 1, marks: 5).text(4) == "4")
        #expect(Axis(range: -0.3...0.31, start: 0, end: 1, marks: 6).text(-0.2) == "-0.2")
        #expect(Axis(range: 3...3.004, start: 0, end: 1, marks: 4).text(3.002) == "3.002")
    }

    @Test("places the ends of the range at the ends of the axis, even on a reversed axis")
    func position() {
        let axis = Axis(range: -1...3, start: 200, end: 100, marks: 4)
        #expect(axis.position(-1) == 200)
        #expect(axis.position(3) == 100)
        #expect(axis.position(0) == 175)
    }
}
