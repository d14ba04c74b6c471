public import GimbalCore

extension Settings {
    /// Settings of `[controls]`: buttons, sticks, dials and gamepads.
    public struct Controls: Sendable, Equatable {
        /// True if controls can move the gimbal.
        public var enabled = true
        /// Part of the name of the only device to be used; `auto` selects gamepads, joysticks, and
        /// controls that are wired to the board.
        public var device = "auto"
        /// Bindings of controls to actions.
        public var bindings = Controls.defaultBindings
        /// Rates of the camera at full deflection of a stick, deg/s.
        public var maxRateDps = AxisVector(yaw: 90, roll: 45, pitch: 60)
        /// Dead zone of a stick on each side of its centre, as a fraction of the travel.
        public var deadZone = 0.08
        /// Weight of the cubic term in the stick's response curve, 0...1.
        public var expo = 0.6
        /// Time after which a deflected stick with a constant value is considered stuck, s.
        public var stickTimeoutS = 15.0
        /// Debounce time of a button, ms.
        public var debounceMs = 5.0
        /// Longest time between the taps of a double tap, s.
        public var multiTapS = 0.3
        /// Time after which a pressed button is considered held, s.
        public var holdS = 0.6
        /// Time after which a pressed button is considered stuck, s.
        public var stuckS = 60.0

        /// Default bindings. The defaults apply to gamepads with the kernel's standard layout
        /// (Documentation/input/gamepad.rst), to a button `KEY_PROG1` and to a dial `REL_DIAL`.
        static let defaultBindings: [ControlBinding] = [
            "ABS_X: yaw", "ABS_Y: -pitch",
            "BTN_SOUTH tap: recentre", "BTN_SOUTH hold: mode locked while held",
            "BTN_EAST tap: mode locked", "BTN_NORTH tap: mode pan_follow", "BTN_WEST tap: mode fpv",
            "BTN_TL tap: profile next", "BTN_TR tap: record",
            "BTN_SELECT press: stop", "BTN_START hold: reset_stop",
            "ABS_HAT0X- press: step yaw -5", "ABS_HAT0X+ press: step yaw 5",
            "ABS_HAT0Y- press: step pitch 5", "ABS_HAT0Y+ press: step pitch -5",
            "KEY_PROG1 tap: mode next", "KEY_PROG1 double: recentre",
            "KEY_PROG1 triple: step yaw 180", "KEY_PROG1 hold: mode locked while held",
            "REL_DIAL- step: step pitch -1", "REL_DIAL+ step: step pitch 1",
        ].compactMap { try? ControlBinding(parsing: $0) }
    }
}
