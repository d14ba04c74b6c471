extension Schema {
    /// Settings of `[rider]`.
    static let rider: [Setting] = [
        .endpoint(
            "rider.listen", \.rider.listen, .restart,
            "UDP address for a remote control's datagrams. Every sender can drive the wheels, unless rider.require_signature is true.",
            hint:
                "The remote control's app sends to port 5005; 0.0.0.0:5005 means every address of this computer."
        ),
        .bool(
            "rider.require_signature", \.rider.requireSignature, .restart,
            "If true, airframed accepts only datagrams with an authentication code from the key in the file rider.key in persistence.directory; an emergency stop needs no code."
        ),
    ]

    /// Settings of `[robot]`.
    static let robot: [Setting] =
        robotMotors
        + stepRange("slider", \.robot.slider.minimum, \.robot.slider.maximum, "the slider")
        + stepRange("x", \.robot.x.minimum, \.robot.x.maximum, "the joystick's x axis")
        + stepRange("y", \.robot.y.minimum, \.robot.y.maximum, "the joystick's y axis")

    private static func stepRange(
        _ key: String, _ minimum: Setting.Path<Int>, _ maximum: Setting.Path<Int>, _ axis: String
    ) -> [Setting] {
        [
            .integer(
                "robot.\(key).minimum", minimum, stepLimits,
                unit: "steps", .restart,
                "Lowest position of the motor of \(axis), relative to home; commands cannot move the motor below this position."
            ),
            .integer(
                "robot.\(key).maximum", maximum, stepLimits,
                unit: "steps", .restart,
                "Highest position of the motor of \(axis), relative to home."),
        ]
    }

    private static let stepLimits = -1_000_000...1_000_000

    private static let robotMotors: [Setting] = [
        .choice(
            "robot.motors", \.robot.motors, .restart,
            "Driver of the three stepper motors: one for the slider, and one for each joystick axis (x, y)."
        ),
        .path(
            "robot.gpio_chip", \.robot.gpioChip, maxLength: 107, .restart,
            "GPIO chip of the stepper motors' lines."),
        .integer(
            "robot.first_line", \.robot.firstLine, 0...1000, .restart,
            "First of six consecutive GPIO lines: three step lines, then three direction lines."),
        .integer(
            "robot.home_line", \.robot.homeLine, -1...1000, .restart,
            "First of three consecutive GPIO lines for the home switches, which are low while a switch is pressed; -1 = no switches.",
            hint:
                "The switches are at the lower ends of travel; `airframectl step AXIS --home` moves a motor to its switch."
        ),
        .number(
            "robot.homing_speed", \.robot.homingSpeed, 1...1000, unit: "steps/s", .restart,
            "Speed of a motor towards its home switch; the motor leaves the switch at a quarter of this speed."
        ),
        .number(
            "robot.max_speed", \.robot.maxSpeed, 1...1000, unit: "steps/s", .restart,
            "Highest speed of a motor."),
        .number(
            "robot.acceleration", \.robot.acceleration, 1...100_000, unit: "steps/s²", .restart,
            "Acceleration and deceleration of a motor."),
        .choice(
            "robot.slider_motion", \.robot.sliderMotion, .live,
            "Effect of a slider command: \"step\" = one step for each command, as in the original robot; \"rate\" = continuous motion while commands arrive."
        ),
        .number(
            "robot.slider_speed", \.robot.sliderSpeed, 1...1000, unit: "steps/s", .restart,
            "Speed of the slider's motor with slider_motion = \"rate\"."),
        .number(
            "robot.steps_per_unit", \.robot.stepsPerUnit, -1000...1000, .restart,
            "Number of motor steps for one unit of the joystick's deflection; full deflection is 100 units, and a negative value reverses the direction."
        ),
        .number(
            "robot.dead_man_s", \.robot.deadManS, 0.05...10, unit: "s", .restart,
            "Time after which the slider's motor stops if a client does not repeat its command; used with slider_motion = \"rate\"."
        ),
    ]
}
