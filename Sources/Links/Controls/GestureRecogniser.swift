import Configuration
import GimbalCore

/// Recogniser of the gestures of one button. A press while the state of the button is uncertain is
/// not a gesture. Time is an argument; times must not decrease.
struct GestureRecogniser {
    /// Times of gestures, s.
    struct Times: Equatable {
        /// Time for which a contact must be steady.
        var debounce = 0.005
        /// Longest time between two taps.
        var multiTap = 0.3
        /// Time after which a button is held.
        var hold = 0.6
        /// Time after which a button is stuck.
        var stuck = 60.0
    }

    /// Result of an edge, or of time that has passed.
    enum Outcome: Equatable {
        /// A gesture.
        case gesture(Gesture)
        /// The end of a press or of a hold.
        case released
        /// The contact was closed for less than the debounce time.
        case glitch
        /// The button has been down too long; it is ignored until it goes up.
        case stuck
    }

    private enum State: Equatable {
        case up
        /// Down without a known beginning.
        case uncertain
        /// Down since a time, but not yet for the debounce time; `taps` taps came before, which
        /// count until `until`.
        case closing(since: Instant, taps: Int, until: Instant)
        case down(since: Instant, taps: Int)
        case held(since: Instant)
        /// Up since `at`, but not yet for the debounce time.
        case opening(at: Instant, since: Instant, taps: Int, isHeld: Bool)
        /// Up; another tap can follow until `until`.
        case between(taps: Int, until: Instant)
    }

    private var state: State
    /// Times of gestures.
    var times: Times

    /// Creates a recogniser.
    ///
    /// - Parameters:
    ///   - isDown: True if the button is down already, so that the beginning of the press is unknown.
    ///   - times: Times of gestures.
    init(isDown: Bool = false, times: Times = Times()) {
        state = isDown ? .uncertain : .up
        self.times = times
    }

    /// True if the button is down or was down shortly before.
    var isIdle: Bool { state == .up }

    /// Time at which `advance` has a result, unless an edge comes before; nil if there is none.
    var due: Instant? {
        switch state {
        case .up, .uncertain: nil
        case .closing(let since, _, _): since.advanced(bySeconds: times.debounce)
        case .down(let since, _): since.advanced(bySeconds: times.hold)
        case .held(let since): since.advanced(bySeconds: times.stuck)
        case .opening(let at, _, _, _): at.advanced(bySeconds: times.debounce)
        case .between(_, let until): until
        }
    }

    /// Handles an edge of the contact.
    ///
    /// - Parameters:
    ///   - isDown: True if the contact has closed.
    ///   - time: Time of the edge.
    ///   - most: Largest number of taps with a meaning, 1...3; the recogniser does not wait for
    ///     more taps.
    /// - Returns: The results, oldest first.
    mutating func edge(isDown: Bool, at time: Instant, most: Int) -> [Outcome] {
        var outcomes = advance(now: time, most: most)
        switch (state, isDown) {
        case (.up, true): state = .closing(since: time, taps: 0, until: time)
        case (.between(let taps, let until), true):
            state = .closing(since: time, taps: taps, until: until)
        case (.closing(_, let taps, let until), false):
            outcomes.append(.glitch)
            state = taps > 0 ? .between(taps: taps, until: until) : .up
        case (.down(let since, let taps), false):
            state = .opening(at: time, since: since, taps: taps, isHeld: false)
        case (.held(let since), false):
            state = .opening(at: time, since: since, taps: 0, isHeld: true)
        case (.opening(_, let since, let taps, let isHeld), true):
            state = isHeld ? .held(since: since) : .down(since: since, taps: taps)
        case (.uncertain, false): state = .up
        default: break
        }
        // With a debounce time of zero an edge has its result immediately.
        return outcomes + advance(now: time, most: most)
    }

    /// Forgets a gesture that has begun, because events were lost.
    ///
    /// - Returns: `released` if a press or a hold had begun.
    mutating func loseTrack(isDown: Bool) -> [Outcome] {
        defer { state = isDown ? .uncertain : .up }
        switch state {
        case .down, .held, .opening: return [.released]
        default: return []
        }
    }

    /// Handles the time that has passed.
    mutating func advance(now: Instant, most: Int) -> [Outcome] {
        var outcomes: [Outcome] = []
        while let due, due <= now {
            switch state {
            case .up, .uncertain: return outcomes
            case .closing(let since, let taps, _):
                outcomes.append(.gesture(.press))
                state = .down(since: since, taps: taps)
            case .down(let since, let taps):
                // Taps that came before the hold are a gesture of their own.
                if let before = Self.gesture(taps) { outcomes.append(.gesture(before)) }
                outcomes.append(.gesture(.hold))
                state = .held(since: since)
            case .held:
                outcomes += [.released, .stuck]
                state = .uncertain
            case .opening(let at, _, let taps, let isHeld):
                outcomes.append(.released)
                if isHeld {
                    state = .up
                } else if taps + 1 >= most {
                    if let gesture = Self.gesture(taps + 1) { outcomes.append(.gesture(gesture)) }
                    state = .up
                } else {
                    state = .between(
                        taps: taps + 1, until: at.advanced(bySeconds: times.multiTap))
                }
            case .between(let taps, _):
                if let gesture = Self.gesture(taps) { outcomes.append(.gesture(gesture)) }
                state = .up
            }
        }
        return outcomes
    }

    private static func gesture(_ taps: Int) -> Gesture? {
        switch taps {
        case 1: .tap
        case 2: .double
        case 3: .triple
        default: nil
        }
    }
}
