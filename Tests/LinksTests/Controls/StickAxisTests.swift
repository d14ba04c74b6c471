import Configuration
import GimbalCore
import Testing

@testable import Links

@Suite("An axis of a stick") struct StickAxisTests {
    private let deadZone = 0.1

    /// An axis of -100...100 that has rested at `centre` for a second.
    private func rested(at centre: Int32) -> StickAxis {
        var axis = StickAxis(value: centre, range: -100...100, now: at(0))
        _ = axis.advance(now: at(1), deadZone: deadZone, timeout: 10)
        return axis
    }

    @Test("the stick's rest position near the middle becomes the centre")
    func centre() {
        var axis = rested(at: 12)
        #expect(axis.centre == 12)
        #expect(axis.deflection(deadZone: deadZone) == 0)
        axis.move(to: 100, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == 1)
        axis.move(to: -100, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == -1)
    }

    @Test("a stick that is deflected when it is plugged in has no effect until it rests")
    func armed() {
        var axis = rested(at: 80)
        #expect(axis.centre == nil)
        #expect(axis.deflection(deadZone: deadZone) == 0)
        axis.move(to: 3, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == 0)
        _ = axis.advance(now: at(3), deadZone: deadZone, timeout: 10)
        axis.move(to: 100, now: at(4))
        #expect(axis.deflection(deadZone: deadZone) == 1)
    }

    @Test("the deflection begins at zero at the edge of the dead zone, without a step")
    func deadZoneEdge() {
        var axis = rested(at: 0)
        axis.move(to: 10, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == 0)
        axis.move(to: 11, now: at(2))
        #expect((0.01...0.012).contains(axis.deflection(deadZone: deadZone)))
    }

    @Test("a small deflection that lasts does not become the centre")
    func small() {
        var axis = rested(at: 0)
        axis.move(to: 15, now: at(2))
        for second in 3...8 {
            _ = axis.advance(now: at(Double(second)), deadZone: deadZone, timeout: 100)
        }
        #expect(axis.centre == 0)
    }

    @Test(
        "a centre that drifts in small steps far beyond the dead zone is followed; a thumb at the edge of the dead zone is not a turn after its release",
        arguments: [1, -1] as [Int32])
    func drift(side: Int32) {
        var axis = rested(at: 0)
        var time = 2.0
        for step in 1...25 as ClosedRange<Int32> {
            axis.move(to: side * step, now: at(time))
            _ = axis.advance(now: at(time), deadZone: deadZone, timeout: 100)
            #expect(axis.deflection(deadZone: deadZone) == 0, "\(step) at \(time) s")
            time += 4
        }
        let centre = (axis.centre ?? 0) * Double(side)
        #expect((18...25).contains(centre), "\(centre)")
        axis.move(to: side * 100, now: at(time))
        #expect(axis.deflection(deadZone: deadZone) == Double(side))

        var held = rested(at: 0)
        held.move(to: side * 10, now: at(2))
        _ = held.advance(now: at(2), deadZone: deadZone, timeout: 100)
        held.move(to: 0, now: at(60))
        #expect(held.deflection(deadZone: deadZone) == 0)
        _ = held.advance(now: at(60), deadZone: deadZone, timeout: 100)
        held.move(to: side, now: at(90))
        #expect(abs(held.centre ?? 99) < 1)
    }

    @Test("a deflected stick that never changes is stuck until it has been at its centre")
    func stuck() {
        var axis = rested(at: 0)
        axis.move(to: 100, now: at(2))
        let before = axis.advance(now: at(11.9), deadZone: deadZone, timeout: 10)
        #expect(!before)
        #expect(axis.due(deadZone: deadZone, timeout: 10) == at(12))
        let isStuck = axis.advance(now: at(12), deadZone: deadZone, timeout: 10)
        #expect(isStuck)
        #expect(axis.deflection(deadZone: deadZone) == 0)
        axis.move(to: 50, now: at(13))
        _ = axis.advance(now: at(13), deadZone: deadZone, timeout: 10)
        #expect(axis.deflection(deadZone: deadZone) == 0)
        axis.move(to: 0, now: at(14))
        _ = axis.advance(now: at(14), deadZone: deadZone, timeout: 10)
        axis.move(to: 50, now: at(15))
        #expect(axis.deflection(deadZone: deadZone) > 0.4)
    }

    @Test("a stick that is held steadily is not stuck while it reports small changes")
    func heldSteadily() {
        var axis = rested(at: 0)
        axis.move(to: 80, now: at(2))
        for second in 3...40 {
            axis.move(to: second.isMultiple(of: 2) ? 80 : 81, now: at(Double(second)))
            let isStuck = axis.advance(
                now: at(Double(second) + 0.9), deadZone: deadZone, timeout: 10)
            #expect(!isStuck)
        }
        #expect(axis.due(deadZone: deadZone, timeout: 10) == at(50))
        let isStuck = axis.advance(now: at(50), deadZone: deadZone, timeout: 10)
        #expect(isStuck)
    }

    @Test("expo keeps the rate of full deflection, and reduces the rates of small deflections")
    func expo() {
        #expect(StickAxis.rate(1, expo: 0.6) == 1)
        #expect(StickAxis.rate(-1, expo: 0.6) == -1)
        #expect(abs(StickAxis.rate(0.5, expo: 0.6) - 0.275) < 1e-12)
        #expect(StickAxis.rate(0.5, expo: 0) == 0.5)
    }

    @Test("values outside the range are limited, and an empty range has no effect")
    func strange() {
        var axis = rested(at: 0)
        axis.move(to: .max, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == 1)
        axis.move(to: .min, now: at(2))
        #expect(axis.deflection(deadZone: deadZone) == -1)
        var flat = StickAxis(value: 0, range: 0...0, now: at(0))
        _ = flat.advance(now: at(1), deadZone: deadZone, timeout: 10)
        flat.move(to: 7, now: at(2))
        #expect(flat.deflection(deadZone: deadZone) == 0)
    }
}

@Suite("An end of an axis as a button") struct AxisEndTests {
    @Test("a trigger that trembles at 75 % of its pull is pressed once, until it is let go")
    func trembling() {
        let rules = GestureRules(Settings().controls)
        let trigger = InputState.Axis(value: 0, range: 0...255)
        var device = ControlDevice(
            InputDescription(name: "Pad"), node: "event0", state: InputState(axes: [2: trigger]),
            now: at(0))
        func presses(_ values: [Int32], from start: Double) -> Int {
            var found: [ControlDevice.Happening] = []
            for (index, value) in values.enumerated() {
                let time = start + 0.1 * Double(index)
                found += device.handle(InputEvent(time: at(time), kind: .axis(2, value)), rules)
                found += device.advance(now: at(time + 0.09), rules).happenings
            }
            return found.count { $0.outcome == .gesture(.press) }
        }
        #expect(presses([192, 190, 193, 188, 192], from: 1) == 1)
        #expect(presses([0, 200], from: 2) == 1)
    }
}
