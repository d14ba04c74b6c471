import Configuration
import GimbalCore

/// Recogniser of the gestures of one button. If the beginning of a press is unknown, the press is
/// not a gesture. The present time is a parameter and must not decrease between calls.
struct GestureRecogniser {
    /// Times of gestures, s.
    struct Times: Equatable {
        /// Debounce time, s: a change of the contact is valid if the contact stays unchanged for
        /// this time.
        var debounce = 0.005
        /// Longest time between two taps of one gesture, s.
        var multiTap = 0.3
        /// Time until a press counts as a hold, s.
        var hold = 0.6
        /// Time until a pressed button counts as stuck, s.
        var stuck = 60.0
    }

    /// Result of an edge or of a timeout.
    enum Outcome: Equatable {
        /// A gesture.
        case gesture(Gesture)
        /// A press or a hold has ended.
        case released
        /// The contact was closed for less than the debounce time.
        case glitch
        /// The button has been down for too long; it is ignored until its release.
        case stuck
    }

    private enum State: Equatable {
        case up
        /// The button is down; the beginning of the press is unknown.
        case uncertain
        /// The button was pressed at `since`, less than the debounce time ago. `taps` is the number
        /// of earlier taps of the gesture; these taps are valid until `until`.
        case closing(since: Instant, taps: Int, until: Instant)
        case down(since: Instant, taps: Int)
        case held(since: Instant)
        /// The button was released at `at`, less than the debounce time ago.
        case opening(at: Instant, since: Instant, taps: Int, isHeld: Bool)
        /// The button is released; another tap of the same gesture can follow until `until`.
        case between(taps: Int, until: Instant)
    }

    private var state: State
    /// Times of gestures.
    var times: Times

    /// Creates a recogniser.
    ///
    /// - Parameters:
    ///   - isDown: True if the button is already down; the beginning of the press is then unknown.
    ///   - times: Timing of gestures.
    init(isDown: Bool = false, times: Times = Times()) {
        state = isDown ? .uncertain : .up
        self.times = times
    }

    /// True if the button is up and no gesture is in progress.
    var isIdle: Bool { state == .up }

    /// Time at which `advance` will have a result, unless an edge comes earlier; nil if there is no
    /// such time.
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
    ///   - most: Largest number of taps with an action, 1...3; the recogniser does not wait for
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
        // If the debounce time is zero, an edge takes effect immediately.
        return outcomes + advance(now: time, most: most)
    }

    /// Discards a gesture that is in progress, because events were lost.
    ///
    /// - Returns: `released` if a press or a hold was in progress.
    mutating func loseTrack(isDown: Bool) -> [Outcome] {
        defer { state = isDown ? .uncertain : .up }
        switch state {
        case .down, .held, .opening: return [.released]
        default: return []
        }
    }

    /// Handles the timeout after the last edge, if the timeout has expired.
    mutating func advance(now: Instant, most: Int) -> [Outcome] {
        var outcomes: [Outcome] = []
        while let due, due <= now {
            switch state {
            case .up, .uncertain: return outcomes
            case .closing(let since, let taps, _):
                outcomes.append(.gesture(.press))
                state = .down(since: since, taps: taps)
            case .down(let since, let taps):
                // Taps before the hold are a separate gesture.
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
