import Configuration
import GimbalCore

/// State of one input device: its buttons, dials and sticks.
struct ControlDevice {
    /// Gesture of a control, or another result of an event.
    struct Happening: Equatable {
        var control: Control
        var outcome: GestureRecogniser.Outcome
    }

    let description: InputDescription
    /// Name of the device file, such as event3.
    let node: String
    private var buttons: [Control: GestureRecogniser] = [:]
    private(set) var sticks: [UInt16: StickAxis] = [:]
    private var ranges: [UInt16: ClosedRange<Int32>] = [:]
    /// End that each axis has reached, with hysteresis: -1 or 1; otherwise 0.
    private var ends: [UInt16: Int] = [:]
    /// Value of `ends` when the device was opened.
    private var firstEnds: [UInt16: Int] = [:]
    /// Deflection at which an axis reaches its end, as a fraction of the travel from the middle of
    /// its range. A trigger rests at an end of its range, so 0.5 is 75 % of its pull.
    private static let reached = 0.5
    /// Deflection at which an axis leaves its end; 0.4 is 70 % of a trigger's pull. The difference
    /// exceeds the noise of a trigger, so that a trigger held there is not a series of presses.
    private static let left = 0.4
    /// True if events were lost; all events are then invalid until the next report event.
    var isDropping = false

    /// Creates the state of a device that was just opened.
    ///
    /// - Parameters:
    ///   - description: Properties of the device.
    ///   - node: Name of the device file.
    ///   - state: Present state of the device.
    ///   - now: Present time.
    init(_ description: InputDescription, node: String, state: InputState, now: Instant) {
        self.description = description
        self.node = node
        resume(state, now: now)
        firstEnds = ends
    }

    /// Adopts the present state of the device, after the device was opened or events were lost. A
    /// button that is already down has no effect until it is released.
    ///
    /// - Returns: One release for each press or hold that was in progress.
    @discardableResult
    mutating func resume(_ state: InputState, now: Instant) -> [Happening] {
        var happenings: [Happening] = []
        for (control, recogniser) in buttons {
            var recogniser = recogniser
            let outcomes = recogniser.loseTrack(isDown: state.isDown(control))
            happenings += outcomes.map { Happening(control: control, outcome: $0) }
            buttons[control] = recogniser
        }
        for code in state.pressed {
            buttons[.button(code)] = GestureRecogniser(isDown: true)
        }
        for (code, axis) in state.axes {
            ranges[code] = axis.range
            ends[code] = Self.end(axis.value, axis.range)
            for isPositive in [false, true] where ends[code] == (isPositive ? 1 : -1) {
                buttons[.end(code, isPositive: isPositive)] = GestureRecogniser(isDown: true)
            }
            // If the centre of a stick has already been measured, it remains valid.
            if sticks[code] == nil {
                sticks[code] = StickAxis(value: axis.value, range: axis.range, now: now)
            } else {
                sticks[code]?.move(to: axis.value, now: now)
            }
        }
        return happenings
    }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: The event; `report` and `dropped` have no effect.
    ///   - rules: Timing of gestures, and largest number of taps for each control.
    /// - Returns: Gestures, and other results of the event.
    mutating func handle(_ event: InputEvent, _ rules: GestureRules) -> [Happening] {
        switch event.kind {
        case .key(let code, let isDown):
            return edge(.button(code), isDown: isDown, at: event.time, rules)
        case .dial(let code, let steps):
            guard steps != 0 else { return [] }
            let control = Control.dial(code, isPositive: steps > 0)
            // A dial that is turned quickly reports several steps at once. More than 16 steps
            // indicate a fault.
            let count = min(abs(Int(steps)), 16)
            return Array(
                repeating: Happening(control: control, outcome: .gesture(.step)), count: count)
        case .axis(let code, let value):
            sticks[code]?.move(to: value, now: event.time)
            guard let range = ranges[code] else { return [] }
            let before = ends[code] ?? 0
            let end = Self.end(value, range, before: before)
            guard end != before else { return [] }
            ends[code] = end
            var happenings: [Happening] = []
            if before != 0 {
                happenings += edge(
                    .end(code, isPositive: before > 0), isDown: false, at: event.time, rules)
            }
            if end != 0, !isRest(code, end) {
                happenings += edge(
                    .end(code, isPositive: end > 0), isDown: true, at: event.time, rules)
            }
            return happenings
        case .report, .dropped, .other: return []
        }
    }

    /// Handles the timeouts that have expired since the last event.
    mutating func advance(
        now: Instant, _ rules: GestureRules
    ) -> (happenings: [Happening], stuck: [UInt16]) {
        var happenings: [Happening] = []
        for (control, recogniser) in buttons where recogniser.due.map({ $0 <= now }) ?? false {
            var recogniser = recogniser
            recogniser.times = rules.times
            let outcomes = recogniser.advance(now: now, most: rules.most(of: control))
            happenings += outcomes.map { Happening(control: control, outcome: $0) }
            buttons[control] = recogniser
        }
        var stuck: [UInt16] = []
        for code in sticks.keys {
            let isStuck = sticks[code]?.advance(
                now: now, deadZone: rules.deadZone, timeout: rules.stickTimeout)
            if isStuck == true { stuck.append(code) }
        }
        return (happenings, stuck)
    }

    /// Next time at which `advance` has an effect; nil if no such time is known.
    func due(_ rules: GestureRules) -> Instant? {
        let times =
            buttons.values.compactMap(\.due)
            + sticks.values.compactMap {
                $0.due(deadZone: rules.deadZone, timeout: rules.stickTimeout)
            }
        return times.min()
    }

    /// True if an axis is a D-pad (ABS_HAT0X...ABS_HAT3Y), which acts as buttons.
    func isButtonLike(_ code: UInt16) -> Bool { (0x10...0x17).contains(code) }

    /// True if an axis rests at this end, like a released trigger: the axis was at this end when the
    /// device was opened, and has not rested near its middle since. Such an end is not a button.
    private func isRest(_ code: UInt16, _ end: Int) -> Bool {
        firstEnds[code] == end && sticks[code]?.centre == nil
    }

    private mutating func edge(
        _ control: Control, isDown: Bool, at time: Instant, _ rules: GestureRules
    ) -> [Happening] {
        var recogniser = buttons[control] ?? GestureRecogniser(isDown: false)
        recogniser.times = rules.times
        let outcomes = recogniser.edge(isDown: isDown, at: time, most: rules.most(of: control))
        buttons[control] = recogniser.isIdle ? nil : recogniser
        return outcomes.map { Happening(control: control, outcome: $0) }
    }

    /// End that an axis has reached, -1 or 1; 0 between the ends. `before` is the end that the axis
    /// had reached before; 0 if this is not known.
    private static func end(
        _ value: Int32, _ range: ClosedRange<Int32>, before: Int = 0
    ) -> Int {
        let (lower, upper) = (Double(range.lowerBound), Double(range.upperBound))
        let travel = (upper - lower) / 2
        guard travel > 0 else { return 0 }
        let offset = (Double(value) - (lower + upper) / 2) / travel
        if before != 0, offset * Double(before) > left { return before }
        return offset > reached ? 1 : offset < -reached ? -1 : 0
    }
}

/// Present state of an input device, read from the kernel.
struct InputState: Equatable {
    /// Value and range of an axis.
    struct Axis: Equatable {
        var value: Int32
        var range: ClosedRange<Int32>
    }

    /// Codes of the keys and buttons that are down.
    var pressed: Set<UInt16> = []
    /// Absolute axes of the device, by code.
    var axes: [UInt16: Axis] = [:]

    /// True if a button is down. The result is false for an axis that acts as buttons; `resume`
    /// evaluates the end positions of the axis.
    func isDown(_ control: Control) -> Bool {
        if case .button(let code) = control { pressed.contains(code) } else { false }
    }
}

/// Rules for gestures and sticks, from the settings.
struct GestureRules: Equatable {
    /// Times of gestures.
    var times = GestureRecogniser.Times()
    /// Dead zone of a stick, as a fraction of its travel.
    var deadZone = 0.0
    /// Time after which a deflected stick counts as stuck if its value does not change, s.
    var stickTimeout = 0.0
    /// True if all gestures are recognised, because a control is being identified.
    var isLearning = false
    private let taps: [Control: Int]

    /// Creates the rules.
    init(_ settings: Settings.Controls) {
        times.debounce = settings.debounceMs * 1e-3
        times.multiTap = settings.multiTapS
        times.hold = settings.holdS
        times.stuck = settings.stuckS
        deadZone = settings.deadZone
        stickTimeout = settings.stickTimeoutS
        var taps: [Control: Int] = [:]
        for binding in settings.bindings {
            let count = binding.gesture == .triple ? 3 : binding.gesture == .double ? 2 : 1
            taps[binding.control] = max(taps[binding.control] ?? 1, count)
        }
        self.taps = taps
    }

    /// Largest number of taps with an action, for each control.
    func most(of control: Control) -> Int { isLearning ? 3 : taps[control] ?? 1 }
}
