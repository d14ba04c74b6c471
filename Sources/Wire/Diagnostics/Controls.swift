/// State of buttons, sticks, dials and gamepads: the answer of the method `controls`.
public struct ControlsReport: Hashable, Sendable, Codable {
    /// A used input device.
    public struct Device: Hashable, Sendable, Codable {
        /// Name of the device, from its driver.
        public var name: String
        /// Name of the device file in /dev/input.
        public var node: String
        /// The device's sticks, and its other controls that are bound to actions.
        public var controls: [Entry]

        /// Creates a device.
        public init(name: String, node: String, controls: [Entry]) {
            self.name = name
            self.node = node
            self.controls = controls
        }
    }

    /// A control of a device.
    public struct Entry: Hashable, Sendable, Codable {
        /// Name of the control, as in `controls.bindings`.
        public var control: String
        /// Current deflection of a stick beyond its dead zone, -1...1; absent for other controls,
        /// and until the stick's centre is known.
        public var deflection: Number?
        /// Actions of the control, each in the form `GESTURE: ACTION`; for a stick, the controlled
        /// axis.
        public var actions: [String]

        /// Creates a control.
        public init(control: String, deflection: Number?, actions: [String]) {
            self.control = control
            self.deflection = deflection
            self.actions = actions
        }
    }

    /// Use of a control.
    public struct Event: Hashable, Sendable, Codable {
        /// Number of the event since the start, from 1.
        public var sequence: Int
        /// Time of the event on the loop's clock, s.
        public var t: Number
        /// Name of the device.
        public var device: String
        /// Name of the control.
        public var control: String
        /// Gesture, or `stuck`.
        public var gesture: String
        /// Action that is bound to the gesture; empty if there is none.
        public var action: String
        /// Result: `done`, or the reason why no action was executed.
        public var outcome: String

        /// Creates an event.
        public init(
            sequence: Int, t: Number, device: String, control: String, gesture: String,
            action: String, outcome: String
        ) {
            self.sequence = sequence
            self.t = t
            self.device = device
            self.control = control
            self.gesture = gesture
            self.action = action
            self.outcome = outcome
        }
    }

    /// Control that airframed has identified because a person used it.
    public struct Learned: Hashable, Sendable, Codable {
        /// Name of the device.
        public var device: String
        /// Name of the control.
        public var control: String
        /// Gesture; empty for a stick.
        public var gesture: String

        /// Creates the result.
        public init(device: String, control: String, gesture: String) {
            self.device = device
            self.control = control
            self.gesture = gesture
        }
    }

    /// True if controls can move the gimbal: the setting `controls.enabled`.
    public var isEnabled = false
    /// Problem with the input devices and its remedy; absent without a problem.
    public var problem: String?
    /// The devices that are used.
    public var devices: [Device] = []
    /// Names of the devices that are not used.
    public var unused: [String] = []
    /// The latest events, at most 32, oldest first.
    public var events: [Event] = []
    /// Rates that the sticks request, [yaw, roll, pitch], deg/s.
    public var rateDps: [Number] = []
    /// True if a control is being identified. Controls have no effect during the identification.
    public var isLearning = false
    /// The identified control; absent until a person has used a control.
    public var learned: Learned?
    /// Counters since the start, by name.
    public var counts: [String: Int] = [:]

    /// Creates the state of airframed without input devices.
    public init() {}
}
