// Tables of the configuration file.
extension Schema {
    /// Summary of each table, in one sentence.
    public static let tables: [(name: String, summary: String)] = [
        ("hardware", "Choice of real chips, the built-in simulation or an external simulator."),
        ("hardware.simulation", "The simulated gimbal; used with backend = \"simulated\"."),
        ("hardware.linux", "Real chips on the board's buses; used with backend = \"linux\"."),
        ("hardware.iio", "A sensor with a driver in the kernel; used with imu = \"iio\"."),
        (
            "hardware.lockstep",
            "A simulator in another program, which supplies the clock; used with backend = \"lockstep\"."
        ),
        ("loop", "Thread and rate of the control loop."),
        ("imu", "Inertial sensor on the camera."),
        ("estimator", "Attitude estimator. The defaults suit a Bosch BMI088."),
        (
            "control",
            "Controllers: the attitude error determines the commanded rate, and the rate error determines an angular acceleration. The torque is the angular acceleration times the inertia."
        ),
        ("airos", "Service for AirOS apps."),
        (
            "filter",
            "Filters of the measured rate that the controllers use; `airframectl spectrum` proposes notch filters."
        ),
        (
            "airos.pid",
            "PID values from an AirOS app: they raise or lower the gains of each axis, for every motor type."
        ),
        ("rbl", "Serial service over Bluetooth, compatible with RedBearLab's BLE Mini."),
        ("motors", "Motors of the joints."),
        ("servo", "Properties of the position servos; used with motors.type = \"servo\"."),
        ("joints", "Joints between handle and camera."),
        ("supply", "Supply of the motors: voltage thresholds for a low and for an empty battery."),
        ("drive", "Two wheels of a vehicle, with or without a gimbal."),
        ("drive.balance", "Pose of an XGO robot, which the robot's own controller holds."),
        ("rider", "Remote control of the wheels over UDP."),
        ("robot", "Three stepper motors that a robot's app moves over the serial service."),
        ("robot.slider", "Range of motion of the slider's motor."),
        ("robot.x", "Range of motion of the motor for the joystick's x axis."),
        ("robot.y", "Range of motion of the motor for the joystick's y axis."),
        (
            "motion",
            "Motion limits of the set-point, which is the attitude that the camera follows."
        ),
        ("mode", "Mode at the start of airframed."),
        (
            "follow",
            "Preset and dead zones of the modes that follow the handle: pan_follow, fpv and neutral."
        ),
        ("follow.cinema", "Preset \"cinema\" of the modes that follow the handle: slow pans."),
        ("follow.slow", "Preset \"slow\" of the modes that follow the handle."),
        ("follow.normal", "Preset \"normal\" of the modes that follow the handle."),
        ("follow.sport", "Preset \"sport\" of the modes that follow the handle: quick response."),
        (
            "follow.lock",
            "Preset \"lock\" of the modes that follow the handle: the camera keeps its direction until the handle has turned by the dead zone."
        ),
        ("push", "Aiming the camera by pushing it by hand."),
        (
            "tracking",
            "Mode \"tracking\": an app detects a person in the phone's camera picture, and steers pan and tilt."
        ),
        ("retract", "Resting pose of the joints in mode \"retract\"."),
        (
            "supervisor",
            "Times for switching the motors off after a fault, and on again afterwards."
        ),
        (
            "commander",
            "Control of the gimbal by clients: permitted links, and timeouts that stop a movement or end a client's control."
        ),
        ("battery", "The battery or supply of the computer, as the kernel reports it."),
        ("controls", "Buttons, sticks, dials and gamepads on this computer."),
        ("signals", "Light, buzzer and vibration that show the state of the gimbal."),
        ("mcp", "Limits of assistants, which `airframectl mcp` connects to airframed."),
        ("bluetooth", "Bluetooth peripheral that phones connect to, through bluetoothd."),
        ("mavlink", "Links to autopilots and ground stations."),
        (
            "recording",
            "Flight recorder; its files are in the directory recordings/ below persistence.directory."
        ),
        ("diagnostics", "Socket over which airframectl and other programs send requests."),
        ("persistence", "Storage of saved settings, named tunings (baselines) and calibrations."),
        ("log", "Messages that airframed writes to the journal."),
    ]
}
