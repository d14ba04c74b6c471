import Configuration
import GimbalCore
import Testing

@testable import Links

@Suite("Gestures of a button") struct GestureRecogniserTests {
    /// Gestures that are recognised if a button is pressed and released at these times, including
    /// the gestures that are recognised after a timeout.
    private func outcomes(
        _ edges: [(Double, Bool)], until end: Double, most: Int = 3, isDown: Bool = false
    ) -> [GestureRecogniser.Outcome] {
        var button = GestureRecogniser(isDown: isDown)
        var outcomes: [GestureRecogniser.Outcome] = []
        for (time, isDown) in edges {
            outcomes += button.edge(isDown: isDown, at: at(time), most: most)
        }
        return outcomes + button.advance(now: at(end), most: most)
    }

    private func presses(_ times: Double...) -> [(Double, Bool)] {
        times.flatMap { [($0, true), ($0 + 0.1, false)] }
    }

    @Test("one, two and three taps are different gestures, each reported once")
    func taps() {
        let one: [GestureRecogniser.Outcome] = [.gesture(.press), .released]
        #expect(outcomes(presses(0), until: 1) == one + [.gesture(.tap)])
        #expect(outcomes(presses(0, 0.2), until: 1) == one + one + [.gesture(.double)])
        #expect(outcomes(presses(0, 0.2, 0.4), until: 1) == one + one + one + [.gesture(.triple)])
    }

    @Test("two slow taps are two taps")
    func slow() {
        let gestures = outcomes(presses(0, 0.5), until: 2).filter { $0 == .gesture(.tap) }
        #expect(gestures.count == 2)
    }

    @Test("a tap is reported immediately if no longer gesture is bound")
    func immediate() {
        var button = GestureRecogniser()
        _ = button.edge(isDown: true, at: at(0), most: 1)
        _ = button.edge(isDown: false, at: at(0.1), most: 1)
        #expect(button.advance(now: at(0.1051), most: 1) == [.released, .gesture(.tap)])
    }

    @Test("a press is reported after the debounce time, not later")
    func press() {
        var button = GestureRecogniser()
        #expect(button.edge(isDown: true, at: at(0), most: 3).isEmpty)
        #expect(button.due == at(0).advanced(bySeconds: 0.005))
        #expect(button.advance(now: at(0.0049), most: 3).isEmpty)
        #expect(button.advance(now: at(0.0051), most: 3) == [.gesture(.press)])
    }

    @Test("a bouncing contact is one press, and a contact that is too short is not a press")
    func bounce() {
        let edges = [
            (0.0, true), (0.001, false), (0.002, true), (0.1, false), (0.102, true), (0.103, false),
        ]
        #expect(
            outcomes(edges, until: 1) == [.glitch, .gesture(.press), .released, .gesture(.tap)])
        #expect(outcomes([(0, true), (0.004, false)], until: 1) == [.glitch])
    }

    @Test("a button that is held is not a tap, and its release is reported")
    func hold() {
        #expect(
            outcomes([(0, true), (1.5, false)], until: 3)
                == [.gesture(.press), .gesture(.hold), .released])
    }

    @Test("a tap and then a hold are both reported, in this order")
    func tapAndHold() {
        #expect(
            outcomes([(0, true), (0.1, false), (0.2, true), (1.5, false)], until: 3)
                == [
                    .gesture(.press), .released, .gesture(.press), .gesture(.tap), .gesture(.hold),
                    .released,
                ])
    }

    @Test("a button that is down at the start has no effect until it is released")
    func uncertain() {
        #expect(outcomes([(1, false)], until: 5, isDown: true).isEmpty)
        #expect(
            outcomes([(1, false), (2, true), (2.1, false)], until: 5, isDown: true)
                == [.gesture(.press), .released, .gesture(.tap)])
    }

    @Test(
        "a button that stays down too long is stuck: its hold ends, and its release has no effect")
    func stuck() {
        #expect(
            outcomes([(0, true), (100, false)], until: 101)
                == [.gesture(.press), .gesture(.hold), .released, .stuck])
    }

    @Test("lost events end a hold, and the state of the button is then unknown")
    func lost() {
        var button = GestureRecogniser()
        _ = button.edge(isDown: true, at: at(0), most: 1)
        _ = button.advance(now: at(1), most: 1)
        #expect(button.loseTrack(isDown: true) == [.released])
        #expect(button.edge(isDown: false, at: at(2), most: 1).isEmpty)
        #expect(button.advance(now: at(3), most: 1).isEmpty)
    }
}
