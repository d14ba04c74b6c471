import Configuration
import GimbalCore
import Identification
import Port

/// Place of the joints' encoders, which determines the remedy for a swapped or a silent encoder.
enum EncoderPlace: Equatable {
    /// Each encoder has its own bus (`hardware.linux.encoder_bus_*`).
    case buses
    /// Each encoder is in the joint's drive; the setting assigns the drives to the joints.
    case drives(setting: String)
    /// The encoders are connected to the motors' board.
    case board
}

extension Settings {
    /// Place of the joints' encoders.
    var encoderPlace: EncoderPlace {
        let linux = hardware.linux
        guard hardware.backend == .linux, linux.encoders == .drives else { return .buses }
        switch linux.motors {
        case .can: return .drives(setting: "hardware.linux.can_id")
        case .busServo: return .drives(setting: "hardware.linux.servo_id")
        case .board: return .board
        case .none, .pca9685, .pwm: return .buses
        }
    }
}

extension TravelProblem {
    /// Failure with the text of the problem and its remedy.
    ///
    /// - Parameters:
    ///   - axis: The measured joint.
    ///   - place: Place of the joints' encoders.
    /// - Returns: The failure.
    func failure(_ axis: GimbalAxis, _ place: EncoderPlace) -> MotorSetupRun.Failure {
        switch self {
        case .noMotion:
            MotorSetupRun.Failure(
                code: "no_motion",
                sentence:
                    "The joint \(axis.name) turned by less than 10°. Check that nothing blocks the camera, check the motor and its supply, and run the step again."
            )
        case .encoderStill:
            MotorSetupRun.Failure(
                code: "encoder_still",
                sentence:
                    "The camera turned about the axis of the joint \(axis.name), but the reading of the joint's encoder did not change. Hold the handle still, and run the step again. If this message appears again, check \(Self.parts(axis, place))."
            )
        case .encodersSwapped(let other):
            MotorSetupRun.Failure(
                code: "encoders_swapped",
                sentence:
                    "The joint \(axis.name) turned, but the reading of the \(other.name) encoder changed. \(Self.exchange(axis, other, place))"
            )
        case .handleMoved:
            MotorSetupRun.Failure(
                code: "handle_moved",
                sentence:
                    "The camera also turned about other axes while the motor of \(axis.name) turned. Hold the handle still, balance the camera, and run the step again."
            )
        case .disturbed:
            MotorSetupRun.Failure(
                code: "disturbed",
                sentence:
                    "The \(axis.name) encoder and the gyroscope measured different angles. Run the step again: hold the handle still, and turn only this joint."
            )
        case .zeroOutside(let middle):
            MotorSetupRun.Failure(
                code: "zero_outside",
                sentence:
                    "Angle zero of the joint \(axis.name) is not between its two ends; the middle of its range is \(Int((middle * 180 / .pi).rounded()))°. Align the joint with the handle, and read the joint's angle in `airframectl status`. Add this angle to the joint's value of hardware.linux.encoder_zero_deg, or subtract it if the joint's direction is -1 (\(Self.direction(place))). Restart airframed, and run the step again."
            )
        }
    }

    /// Setting of the direction in which an encoder's reading grows.
    private static func direction(_ place: EncoderPlace) -> String {
        place == .buses
            ? "hardware.linux.encoder_direction" : "motors.direction, or of a servo servo.direction"
    }

    /// Parts that can be the cause of an encoder with a constant reading.
    private static func parts(_ axis: GimbalAxis, _ place: EncoderPlace) -> String {
        switch place {
        case .buses: "the encoder's magnet and bus (hardware.linux.encoder_bus_\(axis.name))"
        case .drives(let setting):
            "that the joint turns the motor of its drive (\(setting)), and the magnet of the drive's encoder"
        case .board: "the encoder's magnet, and its plug at the motor board"
        }
    }

    /// Remedy for two encoders of which each measures the other's joint.
    private static func exchange(
        _ axis: GimbalAxis, _ other: GimbalAxis, _ place: EncoderPlace
    ) -> String {
        switch place {
        case .buses:
            "Swap the buses of the two encoders (hardware.linux.encoder_bus_\(axis.name) and hardware.linux.encoder_bus_\(other.name)), and run the step again."
        case .drives(let setting):
            "Run the step motors, which corrects the order of the drives (\(setting)), and restart airframed. Then run this step again."
        case .board:
            "Swap the plugs of the two encoders at the motor board, and run the step again."
        }
    }
}
