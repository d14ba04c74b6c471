import GimbalCore

extension Schema {
    /// Settings of buttons, sticks, dials and gamepads, `[controls]`.
    static let controls: [Setting] = [
        .bool(
            "controls.enabled", \.controls.enabled, .live,
            "If true, buttons, sticks, dials and gamepads on this computer can move the gimbal."),
        .text(
            "controls.device", \.controls.device, maxLength: 80, .live,
            "Substring of the names of the input devices that airframed uses; auto = gamepads, joysticks, and controls that are wired to the board.",
            hint: "`airframectl controls` lists the devices."),
        .bindings(
            "controls.bindings", \.controls.bindings, .live,
            "Bindings of the controls: each entry is \"CONTROL GESTURE: ACTION\", or \"CONTROL: AXIS\" for a stick. CONTROL is the kernel's name of the control.",
            hint: "`airframectl controls learn ACTION` adds an entry."),
        .triple(
            "controls.max_rate_dps", \.controls.maxRateDps, 1...720, unit: "deg/s", .live,
            "Rate of the camera about each axis at full deflection of the stick."),
        .number(
            "controls.dead_zone", \.controls.deadZone, 0...0.5, .live,
            "Dead zone of a stick, as a fraction of its travel to either side."),
        .number(
            "controls.expo", \.controls.expo, 0...1, .live,
            "Fraction of the cubic term in a stick's response curve; 0 = the rate is proportional to the deflection; with a higher value, small deflections turn the camera more slowly."
        ),
        .number(
            "controls.stick_timeout_s", \.controls.stickTimeoutS, 1...600, unit: "s", .live,
            "Timeout of a deflected stick that reports no change: the camera stops until the stick returns to its centre."
        ),
        .number(
            "controls.debounce_ms", \.controls.debounceMs, 0...50, unit: "ms", .live,
            "Debounce time: a button counts as pressed after it has been down for this time."),
        .number(
            "controls.multi_tap_s", \.controls.multiTapS, 0.1...1, unit: "s", .live,
            "Maximum time between the taps of a double or triple tap."),
        .number(
            "controls.hold_s", \.controls.holdS, 0.2...5, unit: "s", .live,
            "Time after which a button that is down counts as held."),
        .number(
            "controls.stuck_s", \.controls.stuckS, 5...3600, unit: "s", .live,
            "Time after which a button that is down counts as stuck; airframed ignores the button until it is released."
        ),
    ]
}

extension Schema {
    /// Settings of the light and the buzzer, `[signals]`.
    static let signals: [Setting] = [
        .text(
            "signals.led", \.signals.led, maxLength: 64, .live,
            "LED in /sys/class/leds that shows the state of the gimbal; off = none.",
            hint: "`ls /sys/class/leds` lists the names."),
        .text(
            "signals.buzzer", \.signals.buzzer, maxLength: 64, .live,
            "LED device in /sys/class/leds to which an active buzzer is connected; off = none."),
        .text(
            "signals.feedback_device", \.signals.feedbackDevice, maxLength: 80, .live,
            "Name of an input device that also plays the buzzer's signals: a vibration motor or a gamepad with force feedback, or a beeper; off = none.",
            hint: "`cat /sys/class/input/event*/device/name` lists the names."),
    ]
}
