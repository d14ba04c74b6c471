package import Configuration
public import GimbalCore
import Persistence
public import Port

// Refusals of the Commander. Each refusal is reported to the requesting source.
extension Refusal {
    /// Refusal because another source is in control; the last request of that source is `age`
    /// seconds old.
    public static func held(by holder: CommandSource, age: Double) -> Refusal {
        Refusal(.held, "\(holder) is in control; its last message arrived \(Int(age)) s ago")
    }

    /// Refusal because the configuration does not permit the link to take control.
    public static func barred(_ link: CommandSource.Link) -> Refusal {
        Refusal(
            .forbidden, "commander.allow_\(link.rawValue) is false: this link cannot take control")
    }

    /// Refusal because an emergency stop is latched; the stop must be reset first.
    public static var emergencyStopped: Refusal {
        Refusal(
            .stopped, "an emergency stop is latched; reset it first: airframectl stop --reset")
    }

    /// Refusal of a motion whose request has been repeated since an emergency stop.
    public static var stickHeld: Refusal {
        Refusal(
            .refused,
            "the motion was requested during an emergency stop: first request a stop (stick in the middle), or pause"
        )
    }

    /// Refusal because the stop of another source with at least the same rank is still latched; the
    /// stop of the requesting source has been reset.
    public static func stopped(by source: CommandSource) -> Refusal {
        Refusal(
            .forbidden,
            "the emergency stop by \(source) is latched; reset it on that link, or with airframectl stop --reset"
        )
    }

    /// Refusal because the controllers drive the motors in the present mode; the client must first
    /// select mode `inactive`.
    static func active(_ mode: Mode) -> Refusal {
        Refusal(
            .refused,
            "mode \(mode.name) drives the motors; select mode \"inactive\" first: airframectl mode inactive"
        )
    }

    /// Refusal because the machine has no wheels.
    public static var noWheels: Refusal {
        Refusal(.refused, "there are no wheels to drive: set drive.board")
    }

    /// Refusal because the wheels cannot turn now, with the reason.
    public static func wheelsNotReady(_ reason: String) -> Refusal { Refusal(.refused, reason) }

    /// Refusal because the machine has no stepper motors.
    public static var noSteppers: Refusal {
        Refusal(.refused, "there are no stepper motors: set robot.motors")
    }

    /// Refusal because the stepper motors have no home switches.
    public static var noHomeSwitches: Refusal {
        Refusal(
            .refused, "there are no home switches: set robot.home_line",
            field: "home")
    }

    /// Refusal because the mode needs joint angles, which are unknown.
    public static func missingSensor(_ mode: Mode) -> Refusal {
        Refusal(
            .sensorMissing,
            "mode \(mode.name) follows the handle, but the joint angles are unknown: fit encoders or use servos (`airframectl status` shows the source of the joint angles)",
            field: "mode")
    }

    /// Refusal because the mode needs joint angles, but the sensors have not delivered a sample
    /// yet.
    public static func sensorsUnknown(_ mode: Mode) -> Refusal {
        Refusal(
            .sensorSilent,
            "mode \(mode.name) follows the handle, and the joint angles are not known yet; try again",
            field: "mode")
    }

    /// Refusal because the mode controls all requested axes; the request cannot move these axes.
    public static func notInMode(_ mode: Mode) -> Refusal {
        Refusal(
            .refused,
            mode == .tracking
                ? "in mode \"tracking\", only the methods \"track\" and \"aim\" move the camera"
                : "mode \(mode.name) controls these axes; select another mode first: airframectl mode locked"
        )
    }

    /// Refusal because the request has an effect only in the given mode, and the mode is different.
    public static func onlyInMode(_ mode: Mode) -> Refusal {
        Refusal(
            .refused,
            "the request needs mode \(mode.name); select this mode first: airframectl mode \(mode.name)"
        )
    }

    /// Refusal because the loop has not processed earlier commands yet; the client can try again.
    /// An emergency stop is refused as `busy` only if the loop hangs.
    public static var busy: Refusal {
        Refusal(.busy, "the loop has not processed earlier requests yet; try again")
    }

    /// Refusal because the process is ending.
    public static var shuttingDown: Refusal { Refusal(.failed, "airframed is stopping") }
}

extension Refusal {
    /// Creates the refusal for a configuration problem.
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

    /// Creates the refusal of a request about a baseline.
    init(_ error: BaselineError) {
        let isUnknown = if case .unknown = error { true } else { false }
        self.init(isUnknown ? .unknownKey : .refused, error.description, field: "name")
    }
}
