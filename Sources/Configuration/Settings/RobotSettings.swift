/// Driver of a robot's three stepper motors.
public enum RobotMotors: String, Sendable, CaseIterable {
    /// The robot has no stepper motors.
    case none
    /// Simulated motors without GPIO lines.
    case simulated
    /// Stepper motors on GPIO lines.
    case gpio
}

/// Effect of a remote control's commands `F>` and `B>`.
public enum SliderMotion: String, Sendable, CaseIterable {
    /// Each command moves the motor by one step, as in the original robot.
    case step
    /// The motor turns at `robot.slider_speed` until the command `S>`, or until the dead-man
    /// timeout.
    case rate
}

extension Settings {
    /// Settings of `[rider]`, the remote control of the wheels.
    public struct Rider: Sendable, Equatable {
        /// UDP address for a remote control's datagrams, or `off`.
        public var listen = "off"
        /// True if airframed accepts only datagrams with an authentication code from the secret
        /// key.
        public var requireSignature = false
    }

    /// Range of a stepper motor, steps from home.
    public struct StepRange: Sendable, Equatable {
        /// Lowest position, steps.
        public var minimum = -100_000
        /// Highest position, steps.
        public var maximum = 100_000
    }

    /// Settings of `[robot]`, the three stepper motors.
    public struct Robot: Sendable, Equatable {
        /// Driver of the robot's motors.
        public var motors = RobotMotors.none
        /// GPIO chip of the stepper motors' lines.
        public var gpioChip = "/dev/gpiochip0"
        /// GPIO number of the first motor's step line. The three step lines have consecutive
        /// numbers, and the three direction lines have the next three numbers.
        public var firstLine = 5
        /// GPIO number of the first home switch; the three lines have consecutive numbers and are
        /// active low. -1 means that there are no switches.
        public var homeLine = -1
        /// Speed of a motor towards its home switch, steps/s.
        public var homingSpeed = 200.0
        /// Range of the slider's motor.
        public var slider = StepRange()
        /// Range of the joystick's x-axis motor.
        public var x = StepRange()
        /// Range of the joystick's y-axis motor.
        public var y = StepRange()
        /// Largest speed, steps/s.
        public var maxSpeed = 800.0
        /// Acceleration, steps/s².
        public var acceleration = 2000.0
        /// Effect of the commands `F>` and `B>`.
        public var sliderMotion = SliderMotion.step
        /// Speed of the slider's motor, steps/s.
        public var sliderSpeed = 200.0
        /// Number of motor steps per unit of the joystick. The joystick's range is 100 units.
        public var stepsPerUnit = 1.0
        /// Timeout of a slider command, s.
        public var deadManS = 0.3
    }
}
