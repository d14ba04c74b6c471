public import GimbalCore

/// Texts of a condition for users and scripts.
public struct ConditionWords: Sendable, Hashable {
    /// The condition.
    public let condition: Conditions
    /// Name of the condition in `status`, on the socket and in the log. The name never changes.
    public let name: String
    /// Description of the condition, and its usual remedy.
    public let sentence: String

    /// MESSAGE_ID for systemd's journal, 32 hexadecimal digits. The first 30 digits are constant.
    /// The last two digits identify the condition.
    public var messageID: String {
        let number = condition.rawValue.trailingZeroBitCount
        return "5d2c1f7e8a904b6fa3e9c0b7d41f66" + (number < 16 ? "0" : "")
            + String(number, radix: 16)
    }
}

extension Conditions {
    /// Texts of every condition, mildest first.
    public static let catalogue: [ConditionWords] = [
        ConditionWords(
            condition: .inactiveMode, name: "inactive_mode",
            sentence:
                "The mode is inactive. `airframectl mode locked` starts the motors."
        ),
        ConditionWords(
            condition: .retracted, name: "retracted",
            sentence:
                "The camera is retracted, and the motors are off. `airframectl mode locked` ends this mode."
        ),
        ConditionWords(
            condition: .calibrating, name: "calibrating",
            sentence:
                "A calibration is running. `airframectl calibrate status` shows its progress."),
        ConditionWords(
            condition: .autotuning, name: "autotuning",
            sentence:
                "An autotune is running. `airframectl autotune cancel`, or any request that moves the camera, ends the autotune."
        ),
        ConditionWords(
            condition: .commandExpired, name: "command_expired",
            sentence:
                "The client has not repeated its rate or tracking command within the dead-man time, so the camera stopped turning. Repeat the command to continue."
        ),
        ConditionWords(
            condition: .bootModeUnavailable, name: "boot_mode_unavailable",
            sentence:
                "The mode in mode.boot follows the handle, and needs joint angles, which are unknown. airframed selected the mode locked instead. Fit encoders or servos, or change mode.boot."
        ),
        ConditionWords(
            condition: .jointsUnknown, name: "joints_unknown",
            sentence:
                "The mode follows the handle, but the joint angles are no longer known, so the camera keeps its attitude. Check the encoders."
        ),
        ConditionWords(
            condition: .motorSaturated, name: "motor_saturated",
            sentence:
                "A motor is at its torque limit. Balance the camera, or permit more torque: the page tuning.md of the manual names the setting for each kind of motor."
        ),
        ConditionWords(
            condition: .motorHot, name: "motor_hot",
            sentence:
                "A motor is hot, so its torque is limited to the continuous torque. Balance the camera, or check motors.continuous_torque_nm."
        ),
        ConditionWords(
            condition: .inertiaUnknown, name: "inertia_unknown",
            sentence:
                "The motors shake the camera slightly to measure its inertia; do not touch the camera. Afterwards the camera follows set-points."
        ),
        ConditionWords(
            condition: .inertiaNotFound, name: "inertia_not_found",
            sentence:
                "The camera's inertia could not be measured, so the gains are low. Let the camera hang freely, and check control.loop_delay_ms."
        ),
        ConditionWords(
            condition: .tuningStale, name: "tuning_stale",
            sentence:
                "The camera's inertia differs from the tuned inertia, so airframed uses the inertia measured at the start. Run `airframectl autotune`, or set control.find_inertia = true."
        ),
        ConditionWords(
            condition: .samplesSlow, name: "samples_slow",
            sentence:
                "The IMU delivers fewer samples than the loop has ticks, so the gains are lower. Lower loop.rate_hz, or raise the IMU's rate."
        ),
        ConditionWords(
            condition: .loopOscillating, name: "loop_oscillating",
            sentence:
                "The motors made the camera oscillate, so the gains are lower for now. `airframectl autotune` finds better gains."
        ),
        ConditionWords(
            condition: .attitudeDoubtful, name: "attitude_doubtful",
            sentence:
                "The direction of the measured gravity contradicts the gyroscope or the estimate. Keep the camera still for ten seconds; if the condition remains, check the accelerometer."
        ),
        ConditionWords(
            condition: .rotorLost, name: "rotor_lost",
            sentence:
                "The rotors lost step and threw the camera to one side, so the motors stay off until the camera hangs still. Balance the camera, or raise motors.power; check motors.pole_pairs."
        ),
        ConditionWords(
            condition: .cameraPushed, name: "camera_pushed",
            sentence:
                "A hand turns the camera, and the camera stays where the hand leaves it; push.enabled = false disables this function."
        ),
        ConditionWords(
            condition: .motorSlipped, name: "motor_slipped",
            sentence:
                "A motor's rotor slipped out of step with its magnetic field. Balance the camera, or raise motors.power; check motors.pole_pairs."
        ),
        ConditionWords(
            condition: .motorStalled, name: "motor_stalled",
            sentence:
                "A motor has been at its torque limit for several seconds, and its joint does not move. Free the camera, or balance it."
        ),
        ConditionWords(
            condition: .jointLimit, name: "joint_limit",
            sentence:
                "A joint is at the end of joints.range_deg. Turn the handle in the direction of the camera."
        ),
        ConditionWords(
            condition: .imuSaturated, name: "imu_saturated",
            sentence:
                "The camera turns faster than the gyroscope can read; the estimator finds the horizon again within seconds."
        ),
        ConditionWords(
            condition: .loopOverrun, name: "loop_overrun",
            sentence:
                "The loop misses some of its periods. Lower loop.rate_hz, or stop other programs on this computer."
        ),
        ConditionWords(
            condition: .estimateNotConverged, name: "estimate_not_converged",
            sentence:
                "The attitude estimate has not settled yet. Hold the gimbal still for a few seconds."
        ),
        ConditionWords(
            condition: .jointsOutOfReach, name: "joints_out_of_reach",
            sentence:
                "A joint's angle is beyond the range of its servo (joints.range_deg), so the servo would jump. Turn the joint by hand into its range, and hold the handle upright; check imu.mounting_deg or, if the servos measure the joints, hardware.linux.encoder_zero_deg."
        ),
        ConditionWords(
            condition: .loopUnreliable, name: "loop_unreliable",
            sentence:
                "The loop has missed most of its periods. Lower loop.rate_hz, or stop other programs on this computer; then run `airframectl stop --reset`."
        ),
        ConditionWords(
            condition: .imuMissing, name: "imu_missing",
            sentence: "No IMU sample has arrived since the start. Check wiring, bus and address."),
        ConditionWords(
            condition: .imuStale, name: "imu_stale",
            sentence: "The IMU has stopped delivering samples. Check its wiring and its bus."),
        ConditionWords(
            condition: .imuFrozen, name: "imu_frozen",
            sentence: "The IMU repeats the same sample. Power-cycle the IMU."),
        ConditionWords(
            condition: .imuImplausible, name: "imu_implausible",
            sentence:
                "The IMU delivers values that are not finite, are outside its range, or contradict the camera's motion. Check its wiring and its supply; in lockstep, also imu.gyro_range_dps and imu.accel_range_g."
        ),
        ConditionWords(
            condition: .gyroContradicted, name: "gyro_contradicted",
            sentence:
                "The gyroscope reports a motion that encoders or motors contradict. Hold the camera still; check the gyroscope, then the encoders."
        ),
        ConditionWords(
            condition: .imuTimeFault, name: "imu_time_fault",
            sentence:
                "Samples of the IMU were missing for longer than imu.timeout_ms (in lockstep, 20 ms), or their time ran backwards. Stop other programs on this computer, and check the IMU's bus; in lockstep, check the simulator's time t."
        ),
        ConditionWords(
            condition: .gravityMismatch, name: "gravity_mismatch",
            sentence:
                "The measured gravity contradicts the attitude estimate, so the estimator starts again. Hold the camera still, and check the IMU's mounting."
        ),
        ConditionWords(
            condition: .busError, name: "bus_error",
            sentence: "Transfers to sensor or motors fail. `airframectl log` shows the last error."),
        ConditionWords(
            condition: .magnetometerMissing, name: "magnetometer_missing",
            sentence:
                "The magnetometer delivers no measurements, so the heading drifts. Check its wiring and its bus, and hardware.iio.magnetometer; if it is in an MPU-9250 or ICM-20948, switch the sensor's supply off and on."
        ),
        ConditionWords(
            condition: .handleIMUMissing, name: "handle_imu_missing",
            sentence:
                "The IMU on the handle has stopped delivering samples. Check its wiring and its bus."
        ),
        ConditionWords(
            condition: .drivesStarting, name: "drives_starting",
            sentence:
                "The supply of the drives is off, or has been on for less than hardware.linux.power_line_boot_ms. The motors come on when the drives have answered."
        ),
        ConditionWords(
            condition: .driveUnguarded, name: "drive_unguarded",
            sentence:
                "A drive has not confirmed the timeout of its watchdog, so it would not stop if airframed crashed. `airframectl doctor` names the drive and the remedy."
        ),
        ConditionWords(
            condition: .encoderMissing, name: "encoder_missing",
            sentence:
                "The joints' encoders have stopped delivering angles, so the effect of a torque is unknown. Check their buses and magnets."
        ),
        ConditionWords(
            condition: .motorBytesDamaged, name: "motor_bytes_damaged",
            sentence:
                "Damaged bytes arrive on the motors' serial line. Check the wires, the ground, the adapter and the supply of the servos."
        ),
        ConditionWords(
            condition: .supplyLow, name: "supply_low",
            sentence:
                "The voltage of the motors' supply is below supply.low_v, so the camera follows requests at half the rate. Charge the battery."
        ),
        ConditionWords(
            condition: .supplyEmpty, name: "supply_empty",
            sentence:
                "The voltage of the motors' supply is below supply.empty_v, so the camera moves to its rest pose, and airframed turns the motors off. Charge the battery."
        ),
        ConditionWords(
            condition: .driveVoltage, name: "drive_voltage",
            sentence:
                "A servo or the motor board reports a supply voltage outside its range. Check the supply, its cable, and the voltage limits of the servo."
        ),
        ConditionWords(
            condition: .driveOverheated, name: "drive_overheated",
            sentence:
                "A servo or the motor board is too hot, and must cool down. Balance the camera, or use a stronger motor."
        ),
        ConditionWords(
            condition: .driveOverload, name: "drive_overload",
            sentence:
                "A servo or the motor board reports an overload. Check that the joint can move freely, and balance the camera."
        ),
        ConditionWords(
            condition: .canErrors, name: "can_errors",
            sentence:
                "The CAN controller reports errors. Check the wires, the two 120 Ω terminators and the bit rate."
        ),
        ConditionWords(
            condition: .driveFault, name: "drive_fault",
            sentence:
                "A drive reports a fault, or does not switch its motor on. `airframectl status` shows the drives; check the drive's supply and configuration."
        ),
        ConditionWords(
            condition: .driveSilent, name: "drive_silent",
            sentence:
                "A drive, a servo or the motor board has sent nothing for three periods. Check its supply and wires, and its identifier in hardware.linux."
        ),
        ConditionWords(
            condition: .canBusOff, name: "can_bus_off",
            sentence:
                "The CAN controller is off the bus, or its interface is down. Check wires and bit rate, and set restart-ms of the interface."
        ),
        ConditionWords(
            condition: .motorPortLost, name: "motor_port_lost",
            sentence:
                "The serial port of the motors is missing. Check the adapter, its cable and hardware.linux.motor_port."
        ),
        ConditionWords(
            condition: .simulatorSilent, name: "simulator_silent",
            sentence:
                "The simulator has sent nothing for longer than hardware.lockstep.timeout. When the simulator sends a line, airframed switches the motors on again."
        ),
        ConditionWords(
            condition: .simulatorMissing, name: "simulator_missing",
            sentence: "No simulator is connected to hardware.lockstep.socket. Start the simulator."),
        ConditionWords(
            condition: .controlFault, name: "control_fault",
            sentence:
                "The controllers computed an output that is not a number or is beyond its limit. Save the output of `airframectl export` and `airframectl log` for a report, then run `airframectl stop --reset`."
        ),
        ConditionWords(
            condition: .responseReversed, name: "response_reversed",
            sentence:
                "The camera moved opposite to the motor command. Check the motor's wires and direction and imu.mounting_deg, then run `airframectl stop --reset`."
        ),
        ConditionWords(
            condition: .emergencyStop, name: "emergency_stop",
            sentence: "Emergency stop: the motors stay off until `airframectl stop --reset`."),
        ConditionWords(
            condition: .shutdown, name: "shutdown", sentence: "airframed is stopping."),
    ]

    /// The texts of all active conditions, mildest first.
    public var words: [ConditionWords] { Self.catalogue.filter { intersects($0.condition) } }
}
