/// Driver of a robot's three stepper motors.
public enum RobotMotors: String, Sendable, CaseIterable {
    /// No motors.
    case none
    /// Simulated motors without lines.
    case simulated
    /// Motors at GPIO lines.
    case gpio
}

/// Effect of `F>` and `B>` of a robot's remote control.
public enum SliderMotion: String, Sendable, CaseIterable {
    /// Each command makes one step, as in the original robot.
    case step
    /// A turn at `robot.slider_speed` until `S>` or the dead-man.
    case rate
}

extension Settings {
    /// `[rider]`
    public struct Rider: Sendable, Equatable {
        /// UDP address for a remote control's datagrams, or "off".
        public var listen = "off"
        /// Whether only datagrams with an authentication code of the key are accepted.
        public var requireSignature = false
    }

    /// Range of a stepper motor, steps from home.
    public struct StepRange: Sendable, Equatable {
        /// Lowest position, steps.
        public var minimum = -100_000
        /// Highest position, steps.
        public var maximum = 100_000
    }

    /// `[robot]`
    public struct Robot: Sendable, Equatable {
        /// Driver of the robot's motors.
        public var motors = RobotMotors.none
        /// GPIO chip of the stepper motors' lines.
        public var gpioChip = "/dev/gpiochip0"
        /// First of three step lines; the direction lines follow.
        public var firstLine = 5
        /// First of three lines of the home switches, active when low; -1 without switches.
        public var homeLine = -1
        /// Speed of a motor towards its home switch, steps/s.
        public var homingSpeed = 200.0
        /// Range of the slider's motor.
        public var slider = StepRange()
        /// Range of the motor for the joystick's x.
        public var x = StepRange()
        /// Range of the motor for the joystick's y.
        public var y = StepRange()
        /// Largest speed, steps/s.
        public var maxSpeed = 800.0
        /// Acceleration, steps/s².
        public var acceleration = 2000.0
        /// Effect of the slider's commands.
        public var sliderMotion = SliderMotion.step
        /// Speed of the slider's motor, steps/s.
        public var sliderSpeed = 200.0
        /// Steps for one unit of a joystick, whose range is 100.
        public var stepsPerUnit = 1.0
        /// Age at which a slider's command expires, s.
        public var deadManS = 0.3
    }
}
