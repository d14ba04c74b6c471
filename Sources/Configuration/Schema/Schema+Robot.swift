extension Schema {
    /// `[rider]`
    static let rider: [Setting] = [
        .endpoint(
            "rider.listen", \.rider.listen, .restart,
            "Where a remote control's datagrams for the wheels come over UDP. Every sender may drive, unless rider.require_signature is true.",
            hint: "The app sends to port 5005: 0.0.0.0:5005 is every address of this computer."),
        .bool(
            "rider.require_signature", \.rider.requireSignature, .restart,
            "Whether only datagrams with a code of the passphrase in rider.key of persistence.directory count; an emergency stop always does."
        ),
    ]

    /// `[robot]`
    static let robot: [Setting] =
        robotMotors
        + stepRange("slider", \.robot.slider.minimum, \.robot.slider.maximum, "the slider")
        + stepRange("x", \.robot.x.minimum, \.robot.x.maximum, "the joystick's x")
        + stepRange("y", \.robot.y.minimum, \.robot.y.maximum, "the joystick's y")

    private static func stepRange(
        _ key: String, _ minimum: Setting.Path<Int>, _ maximum: Setting.Path<Int>, _ axis: String
    ) -> [Setting] {
        [
            .integer(
                "robot.\(key).minimum", minimum, stepLimits,
                unit: "steps", .restart,
                "Lowest position of the motor of \(axis), from home: no command goes beyond."),
            .integer(
                "robot.\(key).maximum", maximum, stepLimits,
                unit: "steps", .restart, "Highest position of the motor of \(axis), from home."),
        ]
    }

    private static let stepLimits = -1_000_000...1_000_000

    private static let robotMotors: [Setting] = [
        .choice(
            "robot.motors", \.robot.motors, .restart,
            "Where the three stepper motors are that slider, joystick's x and joystick's y move."),
        .path(
            "robot.gpio_chip", \.robot.gpioChip, maxLength: 107, .restart,
            "GPIO chip of their lines."),
        .integer(
            "robot.first_line", \.robot.firstLine, 0...1000, .restart,
            "First of six lines in a row: three step lines, then three direction lines."),
        .integer(
            "robot.home_line", \.robot.homeLine, -1...1000, .restart,
            "First of three lines in a row, one for each home switch, low when pressed; -1: no switches.",
            hint: "Switches are at the lower end; airframectl step AXIS --home looks for one."),
        .number(
            "robot.homing_speed", \.robot.homingSpeed, 1...1000, unit: "steps/s", .restart,
            "How fast a motor looks for its switch; it leaves it at a quarter of that."),
        .number(
            "robot.max_speed", \.robot.maxSpeed, 1...1000, unit: "steps/s", .restart,
            "Fastest that a motor steps."),
        .number(
            "robot.acceleration", \.robot.acceleration, 1...100_000, unit: "steps/s²", .restart,
            "How fast a motor speeds up and slows down."),
        .choice(
            "robot.slider_motion", \.robot.sliderMotion, .live,
            "What a command of the slider does: step is one step as in the original, rate a turn while commands arrive."
        ),
        .number(
            "robot.slider_speed", \.robot.sliderSpeed, 1...1000, unit: "steps/s", .restart,
            "How fast the slider's motor turns while its commands arrive, with slider_motion rate."),
        .number(
            "robot.steps_per_unit", \.robot.stepsPerUnit, -1000...1000, .restart,
            "Steps for each of the joystick's 100 units; negative turns it round."),
        .number(
            "robot.dead_man_s", \.robot.deadManS, 0.05...10, unit: "s", .restart,
            "Age at which a command of the slider dies and its motor stands."),
    ]
}
