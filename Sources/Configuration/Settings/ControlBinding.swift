public import GimbalCore
import Port

/// A control of an input device: a button, one end of an axis, a direction of a dial, or a stick.
public enum Control: Hashable, Sendable, CustomStringConvertible {
    /// A button or key with its code.
    case button(UInt16)
    /// One end of an absolute axis (for example of a D-pad or a trigger), used as a button.
    case end(UInt16, isPositive: Bool)
    /// One direction of a dial, which reports relative steps.
    case dial(UInt16, isPositive: Bool)
    /// An absolute axis; its deflection determines the camera's rate.
    case stick(UInt16)

    /// Text of the control, such as `BTN_SOUTH`, `ABS_HAT0X-`, `REL_DIAL+` or `ABS_X`.
    public var description: String {
        switch self {
        case .button(let code): ControlCodes.name(code, ControlCodes.keys, "KEY_")
        case .end(let code, let isPositive):
            ControlCodes.name(code, ControlCodes.axes, "ABS_") + (isPositive ? "+" : "-")
        case .dial(let code, let isPositive):
            ControlCodes.name(code, ControlCodes.dials, "REL_") + (isPositive ? "+" : "-")
        case .stick(let code): ControlCodes.name(code, ControlCodes.axes, "ABS_")
        }
    }

    /// Parses the text of a control; nil if the text is not a control.
    public init?(_ text: some StringProtocol) {
        var name = Substring(text)
        let sign = name.last.flatMap { ["+": true, "-": false][$0] }
        if sign != nil { name.removeLast() }
        let axis = ControlCodes.code(name, ControlCodes.axes, "ABS_", ControlCodes.axisRange)
        let dial = ControlCodes.code(name, ControlCodes.dials, "REL_", ControlCodes.dialRange)
        let key = ControlCodes.code(name, ControlCodes.keys, "KEY_", ControlCodes.keyRange)
        if let axis {
            self = sign.map { .end(axis, isPositive: $0) } ?? .stick(axis)
        } else if let dial, let sign {
            self = .dial(dial, isPositive: sign)
        } else if let key, sign == nil {
            self = .button(key)
        } else {
            return nil
        }
    }
}

/// Gesture on a button.
public enum Gesture: String, Sendable, CaseIterable {
    /// The button is pressed. airframed executes the action without waiting for other gestures.
    case press
    /// The button is pressed and released once.
    case tap
    /// Two taps in quick succession.
    case double
    /// Three taps in quick succession.
    case triple
    /// The button is held down.
    case hold
    /// One step of a dial.
    case step
}

/// Effect of a control.
public enum ControlAction: Hashable, Sendable, CustomStringConvertible {
    /// Rotate the camera about an axis; the rate increases with the stick's deflection.
    case turn(GimbalAxis, isReversed: Bool)
    /// Change the mode.
    case mode(Mode)
    /// Change the mode while the button is held. When the button is released, the previous mode
    /// becomes active again.
    case modeWhileHeld(Mode)
    /// Change to the next mode in the sequence `locked`, `pan_follow`, `fpv`.
    case nextMode
    /// Level the camera, and turn it to the handle's heading.
    case recentre
    /// Rotate the camera by the given angles, degrees.
    case step(GimbalAxis, Double)
    /// Emergency stop.
    case stop
    /// Reset the emergency stop.
    case resetStop
    /// Start or stop a recording of the flight recorder.
    case record
    /// Select a profile (a named set of settings).
    case profile(String)
    /// Select the next profile in alphabetical order.
    case nextProfile

    /// Range of the angle, degrees.
    public static let steps = -180.0...180.0

    /// Text of the action, as in a binding.
    public var description: String {
        switch self {
        case .turn(let axis, let isReversed): (isReversed ? "-" : "") + axis.name
        case .mode(let mode): "mode \(mode.name)"
        case .modeWhileHeld(let mode): "mode \(mode.name) while held"
        case .nextMode: "mode next"
        case .recentre: "recentre"
        case .step(let axis, let angle): "step \(axis.name) \(SettingValue.text(of: angle))"
        case .stop: "stop"
        case .resetStop: "reset_stop"
        case .record: "record"
        case .profile(let name): "profile \(name)"
        case .nextProfile: "profile next"
        }
    }

    /// Examples of button actions, for error messages.
    public static let examples =
        "mode NAME, mode NAME while held, mode next, recentre, step AXIS DEGREES, stop, reset_stop, record, profile NAME, profile next"

    /// Parses the text of an action; nil if the text is not an action.
    public init?(_ text: some StringProtocol) {
        let words = String(text).split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case (let word?, 1) where Self.plain[word] != nil:
            guard let action = Self.plain[word] else { return nil }
            self = action
        case (let word?, 1):
            let isReversed = word.hasPrefix("-")
            let name = isReversed ? String(word.dropFirst()) : word
            guard let axis = GimbalAxis(name: name) else { return nil }
            self = .turn(axis, isReversed: isReversed)
        case ("mode", 2) where words[1] == "next": self = .nextMode
        case ("mode", 2):
            guard let mode = Self.mode(words[1]) else { return nil }
            self = .mode(mode)
        case ("mode", 4) where words[2...] == ["while", "held"]:
            guard let mode = Self.mode(words[1]) else { return nil }
            self = .modeWhileHeld(mode)
        case ("step", 3):
            guard let axis = GimbalAxis(name: words[1]), let angle = Double(words[2]),
                Self.steps.contains(angle), angle != 0
            else { return nil }
            self = .step(axis, angle)
        case ("profile", 2) where words[1] == "next": self = .nextProfile
        case ("profile", 2):
            guard BaselineName.isValid(words[1]) else { return nil }
            self = .profile(words[1])
        default: return nil
        }
    }

    private static let plain: [String: ControlAction] = [
        "recentre": .recentre, "stop": .stop, "reset_stop": .resetStop, "record": .record,
    ]

    /// Mode with a name. A button cannot select the mode `tracking`, because this mode needs
    /// continuous requests.
    private static func mode(_ name: String) -> Mode? {
        Mode(name: name).flatMap { $0 == .tracking ? nil : $0 }
    }
}

/// Binding of a control to an action, such as `BTN_SOUTH tap: recentre`, or `ABS_X: yaw` for a
/// stick.
public struct ControlBinding: Hashable, Sendable, CustomStringConvertible {
    /// The control.
    public let control: Control
    /// Gesture on the control; nil for a stick.
    public let gesture: Gesture?
    /// Effect.
    public let action: ControlAction

    /// Text of the binding, as in the settings.
    public var description: String {
        "\(control)\(gesture.map { " \($0.rawValue)" } ?? ""): \(action)"
    }

    /// Creates a binding; nil if the control does not have the gesture, or if the gesture does not
    /// permit the action.
    public init?(_ control: Control, _ gesture: Gesture?, _ action: ControlAction) {
        var isTurn = false
        if case .turn = action { isTurn = true }
        switch (control, gesture) {
        case (.stick, nil): guard isTurn else { return nil }
        case (.stick, _), (_, nil): return nil
        case (.dial, let gesture): guard gesture == .step, !isTurn else { return nil }
        case (.button, let gesture), (.end, let gesture):
            guard gesture != .step, !isTurn else { return nil }
        }
        if case .modeWhileHeld = action, gesture != .hold, gesture != .press { return nil }
        self.control = control
        self.gesture = gesture
        self.action = action
    }

    /// Creates the binding of an action to a control that a user has used to choose it; nil in the
    /// same cases as above.
    ///
    /// A tap selects the gesture `press` for an emergency stop: a tap counts only after the button is
    /// released, and a button that is held down is not a tap.
    public init?(_ control: Control, learned gesture: Gesture?, _ action: ControlAction) {
        let isTapToStop = gesture == .tap && action == .stop
        self.init(control, isTapToStop ? .press : gesture, action)
    }

    /// Parses the text of a binding.
    ///
    /// - Parameter text: Text such as `BTN_SOUTH tap: recentre`.
    /// - Throws: `BindingError` with the invalid part of the text.
    public init(parsing text: String) throws(BindingError) {
        guard let colon = text.firstIndex(of: ":") else {
            throw BindingError("\"\(text.prefix(80))\" has no colon between control and action")
        }
        let (use, effect) = (text[..<colon], text[text.index(after: colon)...])
        let left = use.split(separator: " ")
        guard (1...2).contains(left.count), let control = Control(left[0]) else {
            throw BindingError(
                "\"\(use.prefix(80))\" does not name a control such as BTN_SOUTH, ABS_X, ABS_HAT0X- or REL_DIAL+, which `airframectl controls` shows"
            )
        }
        let gesture = left.count == 2 ? Gesture(rawValue: String(left[1])) : nil
        guard left.count == 1 || gesture != nil else {
            let gestures = Gesture.allCases.map(\.rawValue).joined(separator: ", ")
            throw BindingError("\"\(left[1].prefix(40))\" is not a gesture (\(gestures))")
        }
        guard let action = ControlAction(effect) else {
            throw BindingError(
                "\"\(effect.prefix(80))\" is not an action (yaw, roll, pitch with an optional - for a stick; \(ControlAction.examples))"
            )
        }
        guard let binding = ControlBinding(control, gesture, action) else {
            throw BindingError(
                "\"\(text.prefix(80))\" is not a valid combination of control, gesture and action. A stick such as ABS_X has no gesture, and its action is an axis. A dial needs the gesture step. A button needs another gesture. An action with \"while held\" needs the gesture press or hold"
            )
        }
        self = binding
    }

    /// Reason why a string is not a valid binding.
    public struct BindingError: Error {
        /// The reason as a clause, for an error message.
        public let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// First duplicate combination of control and gesture in the list; nil if there is none.
    public static func repetition(in bindings: [ControlBinding]) -> ControlBinding? {
        var seen: Set<String> = []
        return bindings.first {
            !seen.insert("\($0.control) \($0.gesture?.rawValue ?? "")").inserted
        }
    }
}
