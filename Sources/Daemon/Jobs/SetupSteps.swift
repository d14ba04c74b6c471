import Calibration
import GimbalCore
import Wire

/// Steps of the set-up, in the order in which a person executes them. The mounting precedes the
/// accelerometer, which needs the mounting to recognise the sides of the camera. The raw value is
/// the name in requests and on the disk; it never changes.
enum SetupStepName: String, CaseIterable, Sendable {
    case chips, gyro, mounting, accelerometer, motors, joints, locked, balance, save

    /// The calibration that the step executes; nil for other steps.
    var calibration: CalibrationKind? {
        switch self {
        case .gyro: .gyro
        case .accelerometer: .accelerometer
        case .mounting: .mounting
        case .chips, .motors, .joints, .locked, .balance, .save: nil
        }
    }

    /// True if the result of the step belongs to the configured sensor, and has no meaning for
    /// another sensor.
    var isOfSensor: Bool { self == .chips || calibration != nil }

    /// Title of the step.
    var title: String {
        switch self {
        case .chips: "Chips"
        case .gyro: "Calibrate the gyroscope"
        case .accelerometer: "Calibrate the accelerometer"
        case .mounting: "Mounting of the sensor"
        case .motors: "Motors, one by one"
        case .joints: "Range of the joints"
        case .locked: "First test with the motors on"
        case .balance: "Balance"
        case .save: "Save"
        }
    }

    /// Action of the person before the step starts.
    var instruction: String {
        switch self {
        case .chips: "The step checks whether the sensor delivers samples."
        case .gyro: "Put the camera down: it must be still for a few seconds. The motors are off."
        case .accelerometer:
            "Hold the camera still on each of its six sides, in any order. The upright pose must be level. The motors are off."
        case .mounting: "Level the camera exactly, then tilt the lens down. The motors are off."
        case .motors:
            "Each motor moves its axis slowly: by about 4° for 7 s, without encoders by 16° for 25 s. Switch the motors' supply on, hold the handle still and upright, and keep a hand at the switch. `airframectl stop` ends the motion."
        case .joints:
            "The step measures how far each joint can turn. Align the camera with the handle first. With encoders, the motors are off, and you turn each joint by hand to both ends and back. Without encoders, each motor turns its joint slowly (12°/s) to both ends, and back when the joint stops: keep cables and hands away, and a hand at the switch of the supply. Hold the handle still and upright."
        case .locked:
            "Balance the camera first: with the motors off, it must stay where you release it. Then the motors are switched on and hold the camera. Keep a hand at the switch of the supply."
        case .balance:
            "The motors measure the balance of the level camera. Hold the handle still and upright."
        case .save: "The step saves the changed settings, so that they survive a restart."
        }
    }
}

/// Evaluation of a level camera's balance from the imbalance that the motors have measured. The
/// height of the centre of mass is not evaluated, because it has no effect on the torques that hold
/// a level camera.
struct BalanceVerdict {
    /// Threshold of the imbalance torque for a balanced camera, as a fraction of the weakest
    /// motor's largest torque.
    private static let smallShare = 0.05

    /// Measured products of mass and offset, g·m.
    var values: [SetupValue] = []
    /// Sentences about the axes that are not balanced.
    var sentences: [String] = []

    /// Sentence for a camera that is balanced on the measured axes.
    static let balanced =
        "The camera is balanced forward and back, and to the left and right. The height of its centre of mass was not measured; `airframectl balance` measures it."

    /// Evaluates an imbalance.
    ///
    /// - Parameters:
    ///   - imbalance: Product of mass and offset, camera frame, kg·m.
    ///   - torque: Largest torque of the weakest motor, N·m.
    init(imbalance: Vector3, torque: Double) {
        for (axis, offset, more, less) in [
            ("x", imbalance.x, "forward", "back"), ("y", imbalance.y, "right", "left"),
        ] {
            values.append(SetupValue("imbalance \(axis)", offset * 1000, "g·m"))
            let share = abs(offset) * 9.80665 / max(torque, 1e-6)
            guard share >= Self.smallShare else { continue }
            sentences.append(
                "The camera is too heavy on the side \(offset > 0 ? more : less), which takes \(Int((share * 100).rounded())) % of the weakest motor's torque: move the camera \(offset > 0 ? less : more)."
            )
        }
    }
}
