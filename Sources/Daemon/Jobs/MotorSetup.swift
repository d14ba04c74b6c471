import Configuration
import GimbalCore
import Identification
import Port

// Settings of the motors' wiring that the set-up measures, for each kind of motor.
extension Settings {
    /// Path of the setting with the joints' outputs or identifiers; nil if the outputs of the
    /// motors' board have a fixed order.
    var motorOutputs: (any WritableKeyPath<Settings, AxisVector> & Sendable)? {
        let linux = hardware.linux
        guard hardware.backend == .linux else { return \Settings.hardware.linux.motorChannels }
        switch linux.motors {
        case .can: return \Settings.hardware.linux.canId
        case .busServo: return \Settings.hardware.linux.servoId
        case .board: return nil
        case .none, .pca9685, .pwm: return \Settings.hardware.linux.motorChannels
        }
    }

    /// Joints that have a motor.
    var motorisedAxes: [GimbalAxis] {
        guard hardware.backend == .linux else { return [.pitch, .roll, .yaw] }
        return [.pitch, .roll, .yaw].filter { axis in
            switch hardware.linux.motors {
            case .none: false
            case .can: hardware.linux.canId[axis] >= 0
            case .busServo: hardware.linux.servoId[axis] >= 0
            case .pca9685, .pwm, .board: true
            }
        }
    }

    /// True if `hardware.linux.encoder_zero_deg` belongs to the motors' drives. It belongs to the
    /// joints if they have separate encoders.
    private var haveDrivesZero: Bool {
        let linux = hardware.linux
        return hardware.backend == .linux && linux.motors.haveEncoders && linux.encoders != .as5600
    }

    /// True if pulses command the servos. Servos on a serial bus receive angles, so their travel,
    /// pulses and trim have no effect, and a measured ratio that differs from 1 is backlash.
    private var servosFollowPulses: Bool {
        hardware.backend != .linux || !hardware.linux.motors.isSerial
    }

    /// Refuses the measurement of the wiring if it needs settings that the set-up cannot measure. A
    /// brushless motor with an encoder on a PCA9685 turns only if `motors.pole_pairs`,
    /// `motors.direction` and `motors.electrical_zero_deg` are right: `motors.direction` is also the
    /// direction of the field.
    func requireMeasurableWiring() throws(Refusal) {
        guard hardware.backend == .linux, hardware.linux.motors == .pca9685, motors.type == .torque
        else { return }
        throw Refusal(
            .refused,
            "On a PCA9685, motors with encoders turn only if motors.pole_pairs, motors.direction and motors.electrical_zero_deg are right, and this step cannot measure motors.electrical_zero_deg. Run the step with motors.type = \"field\". Then measure motors.electrical_zero_deg by hand, as the page wiring.md of the manual describes, and set motors.type = \"torque\"."
        )
    }

    /// The active settings of the wiring.
    var motorAssignment: MotorAssignment {
        var assignment = MotorAssignment(
            outputs: motorOutputs.map { self[keyPath: $0] }
                ?? AxisVector(yaw: 0, roll: 1, pitch: 2),
            direction: motors.type == .servo ? servo.direction : motors.direction)
        assignment.polePairs = motors.polePairs
        assignment.travel = servo.travelDeg
        assignment.trim = servo.trimUs
        assignment.shortest = servo.pulseUs.lower
        assignment.longest = servo.pulseUs.upper
        assignment.zero = hardware.linux.encoderZeroDeg
        return assignment
    }

    /// Updates that replace the active wiring by another wiring.
    ///
    /// - Parameter right: The measured wiring.
    /// - Returns: The updates; empty if the active settings are correct.
    /// - Throws: `Refusal` if the motors' board cannot swap its outputs.
    func updates(to right: MotorAssignment) throws(Refusal) -> [SettingUpdate] {
        let now = motorAssignment
        var updates: [SettingUpdate] = []
        if right.outputs != now.outputs {
            guard let path = motorOutputs else {
                throw Refusal(
                    .refused,
                    "The motors are connected to the wrong outputs of the board: \(Self.exchange(now.outputs, right.outputs)). Swap the plugs, and run the step again."
                )
            }
            updates.append(SettingUpdate(path, right.outputs))
        }
        let isServo = motors.type == .servo
        if right.direction != now.direction {
            updates.append(
                isServo
                    ? SettingUpdate(\.servo.direction, right.direction)
                    : SettingUpdate(\.motors.direction, right.direction))
        }
        if haveDrivesZero, right.zero != now.zero {
            updates.append(SettingUpdate(\.hardware.linux.encoderZeroDeg, right.zero))
        }
        if motors.type == .field, right.polePairs != now.polePairs {
            updates.append(SettingUpdate(\.motors.polePairs, right.polePairs))
        }
        guard isServo, servosFollowPulses else { return updates }
        if right.travel != now.travel {
            updates.append(SettingUpdate(\.servo.travelDeg, right.travel))
        }
        if right.trim != now.trim { updates.append(SettingUpdate(\.servo.trimUs, right.trim)) }
        let pulses = AxisRanges(lower: right.shortest, upper: right.longest)
        if pulses != servo.pulseUs { updates.append(SettingUpdate(\.servo.pulseUs, pulses)) }
        return updates
    }

    private static func exchange(_ old: AxisVector, _ new: AxisVector) -> String {
        GimbalAxis.allCases.filter { old[$0] != new[$0] }.compactMap { axis in
            GimbalAxis.allCases.first { old[$0] == new[axis] }.map {
                "the motor of \(axis.name) is at the output of \($0.name)"
            }
        }.joined(separator: ", ")
    }
}
