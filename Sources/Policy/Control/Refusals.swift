package import Configuration
public import GimbalCore
public import Port

// Refusals of the Commander. Each is reported to the requesting source.
extension Refusal {
    /// Another source is in control; its last request is `age` seconds old.
    public static func held(by holder: CommandSource, age: Double) -> Refusal {
        Refusal(.held, "\(holder) is in control; its last message arrived \(Int(age)) s ago")
    }

    /// The configuration forbids this link to take control.
    public static func barred(_ link: CommandSource.Link) -> Refusal {
        Refusal(
            .forbidden, "commander.allow_\(link.rawValue) is false: this link cannot take control")
    }

    /// An emergency stop is latched; reset it first.
    public static var emergencyStopped: Refusal {
        Refusal(
            .stopped, "an emergency stop is latched; reset it first: airframectl stop --reset")
    }

    /// The source's own emergency stop is reset; the stop of another source, which it does not
    /// outrank, is still latched.
    public static func stopped(by source: CommandSource) -> Refusal {
        Refusal(
            .forbidden,
            "the emergency stop by \(source) is latched; reset it on that link, or with airframectl stop --reset"
        )
    }

    /// The loop drives the motors in this mode; select `inactive` first.
    static func active(_ mode: Mode) -> Refusal {
        Refusal(
            .refused,
            "mode \(mode.name) drives the motors; select mode inactive first: airframectl mode inactive"
        )
    }

    /// There are no wheels to drive.
    public static var noWheels: Refusal {
        Refusal(.refused, "there are no wheels to drive: set drive.board")
    }

    /// There are no stepper motors.
    public static var noSteppers: Refusal {
        Refusal(.refused, "there are no stepper motors: set robot.motors")
    }

    /// The stepper motors have no home switches.
    public static var noHomeSwitches: Refusal {
        Refusal(
            .refused, "there are no home switches: set robot.home_line",
            field: "home")
    }

    /// The mode needs joint angles, which are unknown.
    public static func missingSensor(_ mode: Mode) -> Refusal {
        Refusal(
            .sensorMissing,
            "mode \(mode.name) follows the handle, but the joint angles are unknown: fit encoders or use servos (`airframectl status` shows the source of the joint angles)",
            field: "mode")
    }

    /// The mode needs joint angles, and the sensors have not delivered a sample yet.
    public static func sensorsUnknown(_ mode: Mode) -> Refusal {
        Refusal(
            .sensorSilent,
            "mode \(mode.name) follows the handle, and the joint angles are not known yet; try again",
            field: "mode")
    }

    /// The mode controls all requested axes.
    public static func notInMode(_ mode: Mode) -> Refusal {
        Refusal(
            .refused,
            mode == .tracking
                ? "in mode tracking only pan and tilt rates move the camera (method track)"
                : "mode \(mode.name) controls these axes; select another mode first: airframectl mode locked"
        )
    }

    /// The loop has not processed earlier commands yet; try again. Never for an emergency stop,
    /// unless the loop hangs.
    public static var busy: Refusal {
        Refusal(.busy, "the loop has not processed earlier requests yet; try again")
    }

    /// The process is ending.
    public static var shuttingDown: Refusal { Refusal(.failed, "airframed is stopping") }
}

extension Refusal {
    /// Creates the refusal of a setting's problem.
    package init(_ problem: ConfigurationProblem) {
        let code: Code =
            switch problem.kind {
            case .unknownKey: .unknownKey
            case .outOfRange, .conflict: .outOfRange
            case .notLive: .refused
            default: .invalidParams
            }
        self.init(code, problem.description, field: problem.kind == .unknownKey ? "key" : "value")
    }
}
