internal import CMathShim
public import GimbalCore

/// Simulation of a complete gimbal: moving handle, mechanics, motors or servos, sensor and bus. The
/// daemon's simulated backend, the tests and the benchmarks use the simulated gimbal.
///
/// With the defaults, the delay from a motion of the camera to the responding torque is 3.0 ms. The
/// delay has four parts: the gyroscope's filter (0.98 ms), the mean age of a sample (0.5 ms), the
/// transport from the loop to the power stage (`transportDelay`, 1.02 ms), and the current loop
/// (first order, 0.5 ms). The stated mean age of a sample applies to a 1 kHz loop whose clock
/// differs from the sensor's clock. The delay of 3.0 ms excludes the zero-order hold of the output
/// over a loop period.
///
/// The same parameters, motion, seed and calls give bit-identical results. Only one thread at a
/// time can use a gimbal.
public struct SimulatedGimbal: Sendable {
    /// Parameters of the whole gimbal.
    public struct Parameters: Sendable, Equatable {
        /// Parameters of the mechanics.
        public var plant = GimbalPlant.Parameters()
        /// Parameters of the camera's sensor.
        public var imu = IMUModel.Parameters()
        /// Parameters of the servos; used if `motor` is `servo`.
        public var servo = ServoModel.Parameters()
        /// Parameters of the motors without encoders; used if `motor` is `field`.
        public var field = FieldMotorModel.Parameters()
        /// Kind of the motors.
        public var motor = MotorType.torque
        /// Ratio of true to commanded torque of each motor: the true motor constant divided by the
        /// configured motor constant.
        public var motorConstant = AxisVector(repeating: 1)
        /// Mounting of the camera's sensor: rotation from camera frame to sensor frame.
        public var sensorMounting = Quaternion.identity
        /// Time from `apply` until the power stage executes the output, s; at most 0.1.
        public var transportDelay = 0.00102
        /// Lag of the motors' current loop, s.
        public var actuatorLag = 0.0005
        /// Resolution of the joint encoders, counts per turn; 0 means no encoders. Servos have no
        /// encoders.
        public var encoderCounts = 16384.0
        /// True if a second sensor of the same kind is on the handle.
        public var hasHandleGyro = false
        /// Time from a sample to its delivery, s.
        public var busLatency = 0.0
        /// Standard deviation of the delivery time, s; a delivery never precedes its sample.
        public var busJitter = 0.0
        /// Joint angles at the start, rad.
        public var initialJoints = AxisVector.zero

        /// Creates the default gimbal.
        public init() {}
    }

    /// Parameters of the whole gimbal.
    public let parameters: Parameters
    /// Motion of the handle.
    public let motion: BaseMotion
    /// Present fault of the sensor; nil if the sensor is healthy.
    public var fault: SensorFault?
    /// Direction of each motor: 1 for correct wiring, -1 for reversed wiring, 0 for a motor that is
    /// not connected.
    public var motorDirection = AxisVector(repeating: 1)
    /// External moment on the camera, camera frame, N·m.
    public var push = Vector3.zero
    /// Present instant of the simulation.
    public private(set) var now: Instant
    /// State of the handle at `now`.
    public private(set) var base: BaseMotion.State
    /// Motor torques acting at `now`, N·m.
    public private(set) var torque = AxisVector.zero

    private var plant: GimbalPlant
    private var imu: IMUModel
    private var handleIMU: IMUModel
    private var delay = OutputDelay()
    private var pending = DelayQueue<IMUSample>()
    private var yawServo: ServoModel
    private var rollServo: ServoModel
    private var pitchServo: ServoModel
    private var fieldMotors: FieldMotorModel
    private var latched = MotorOutput.off
    private var frame = -1.0
    private var bus: RandomSource
    private let isAskew: Bool
    private var lastSample: IMUSample?
    private let start: Instant
    private let stepNanoseconds: Int64
    private var steps: Int64 = 0
    private var samples = 0.0

    /// Creates a gimbal whose camera does not move relative to the handle.
    ///
    /// - Parameters:
    ///   - parameters: Parameters of mechanics, sensor, motors and bus.
    ///   - motion: Motion of the handle.
    ///   - seed: Seed of sensor errors, noise and bus jitter.
    ///   - start: Time at which the simulation begins.
    public init(
        parameters: Parameters, motion: BaseMotion, seed: UInt64,
        start: Instant = Instant(nanoseconds: 0)
    ) {
        self.parameters = parameters
        self.motion = motion
        self.start = start
        isAskew = parameters.sensorMounting != .identity
        now = start
        base = motion.state(at: 0)
        stepNanoseconds = Int64(1e9 / parameters.plant.stepRate)
        plant = GimbalPlant(
            parameters: parameters.plant, base: base, joints: parameters.initialJoints)
        imu = IMUModel(
            parameters: parameters.imu, feedRate: 1e9 / Double(stepNanoseconds), seed: seed)
        handleIMU = IMUModel(
            parameters: parameters.imu, feedRate: 1e9 / Double(stepNanoseconds),
            seed: seed ^ 0x4A4D)
        yawServo = ServoModel(
            parameters: parameters.servo, angle: parameters.initialJoints.yaw)
        rollServo = ServoModel(
            parameters: parameters.servo, angle: parameters.initialJoints.roll)
        pitchServo = ServoModel(
            parameters: parameters.servo, angle: parameters.initialJoints.pitch)
        fieldMotors = FieldMotorModel(parameters: parameters.field)
        bus = RandomSource(seed: seed, stream: 0xB05)
    }

    /// True attitude: rotation from the camera frame to the earth frame.
    public var attitude: Quaternion { plant.attitude }
    /// True camera rate, camera frame, rad/s.
    public var rate: Vector3 { plant.rate }
    /// True joint angles, rad.
    public var joints: AxisVector { plant.joints }
    /// True joint rates, rad/s.
    public var jointRates: AxisVector { plant.jointRates }
    /// Present offset of the gyroscope, rad/s.
    public var gyroBias: Vector3 { imu.gyroBias }
    /// Present offset of the accelerometer, m/s².
    public var accelBias: Vector3 { imu.accelBias }

    /// Compute the motor torques, N·m, that produce the given angular acceleration (camera frame,
    /// rad/s²) at the present instant. Only a reference controller that knows the whole true state
    /// uses this method.
    public func requiredTorque(acceleration: Vector3) -> AxisVector {
        plant.requiredTorque(
            acceleration: acceleration, push: push, base: base,
            dt: Double(stepNanoseconds) * 1e-9)
    }

    /// Present moments of inertia about the camera's axes, kg·m².
    public var inertia: AxisVector { plant.parameters.inertia }

    /// Multiplies the camera's inertia by `factor`, as if the camera were exchanged.
    public mutating func scaleInertia(by factor: Double) { plant.scaleInertia(by: factor) }

    /// Passes an output to the motors; the output takes effect after the transport delay.
    ///
    /// - Parameters:
    ///   - output: Commands to the motors. An output that is not finite switches the motors off.
    ///   - time: Time at which the bus write ended. A time before `now` is treated as `now`.
    public mutating func apply(_ output: MotorOutput, at time: Instant) {
        let isFinite =
            output.torque.isFinite && output.angle.isFinite && output.field.isFinite
            && output.power.isFinite
        var sane = isFinite ? output : .off
        sane.torque = sane.torque * motorDirection
        sane.angle = sane.angle * motorDirection
        sane.field = sane.field * motorDirection
        let way =
            parameters.motor == .servo
            ? parameters.servo.transportDelay : parameters.transportDelay
        let effective = max(time.nanoseconds, now.nanoseconds) + Int64(way * 1e9)
        delay.push(sane, at: Instant(nanoseconds: effective))
    }

    /// Advances the simulation, and delivers the samples of the elapsed interval.
    ///
    /// - Parameters:
    ///   - target: End of the interval; if the end is not after `now`, nothing happens.
    ///   - deliver: Function that receives each sample, in order of time.
    public mutating func advance(to target: Instant, deliver: (IMUSample) -> Void) {
        let dt = Double(stepNanoseconds) * 1e-9
        while now.nanoseconds + stepNanoseconds <= target.nanoseconds {
            step(dt: dt)
            let seconds = now.seconds(since: start)
            if seconds >= samples * imu.samplePeriod {
                samples += 1
                takeSample()
            }
            while let sample = pending.pop(by: now) { deliver(sample) }
        }
    }

    private mutating func step(dt: Double) {
        let output = delay.output(at: now)
        steps += 1
        let before = base
        now = Instant(nanoseconds: start.nanoseconds + steps * stepNanoseconds)
        base = motion.state(at: now.seconds(since: start))
        switch parameters.motor {
        case .torque:
            let wanted = output.torque * parameters.motorConstant
            turn(by: output.enabled ? wanted : .zero, base: before, dt: dt)
        case .field:
            let wanted = fieldMotors.torque(
                output: output, joints: plant.joints, jointRates: plant.jointRates, dt: dt)
            turn(by: wanted * parameters.motorConstant, base: before, dt: dt)
        case .servo:
            // Servo pulses occur at the servos' frame rate. Between two pulses, the command of the
            // last pulse remains active.
            let pulse = cm_floor(now.seconds(since: start) * parameters.servo.frameRate)
            if pulse != frame {
                frame = pulse
                latched = output
            }
            let (angle, power) = (latched.angle, latched.enabled ? latched.power : .zero)
            yawServo.step(target: power.yaw > 0 ? angle.yaw : nil, dt: dt)
            rollServo.step(target: power.roll > 0 ? angle.roll : nil, dt: dt)
            pitchServo.step(target: power.pitch > 0 ? angle.pitch : nil, dt: dt)
            plant.place(
                joints: AxisVector(
                    yaw: yawServo.angle, roll: rollServo.angle, pitch: pitchServo.angle),
                jointRates: AxisVector(
                    yaw: yawServo.rate, roll: rollServo.rate, pitch: pitchServo.rate),
                base: base)
        }
        if isAskew {
            let turn = parameters.sensorMounting
            imu.feed(
                rate: turn.rotate(plant.rate),
                specificForce: turn.rotate(plant.specificForce(base: base)))
        } else {
            imu.feed(rate: plant.rate, specificForce: plant.specificForce(base: base))
        }
        if parameters.hasHandleGyro {
            handleIMU.feed(rate: base.rate, specificForce: .zero)
        }
    }

    /// Advances the mechanics by one step; the motor current follows its command with a lag.
    private mutating func turn(by wanted: AxisVector, base: BaseMotion.State, dt: Double) {
        let share = parameters.actuatorLag > 0 ? dt / (parameters.actuatorLag + dt) : 1
        torque = torque + (wanted - torque) * share
        plant.step(drive: GimbalPlant.Drive(torque: torque, push: push), base: base, dt: dt)
    }

    private mutating func takeSample() {
        var sample = imu.sample(time: now)
        if parameters.motor == .torque, parameters.encoderCounts > 0 {
            sample.joints = encoded(plant.joints)
            sample.contents.insert(.joints)
        }
        if parameters.hasHandleGyro {
            sample.baseGyro = handleIMU.sample(time: now).gyro
            sample.contents.insert(.baseGyro)
        }
        let late =
            parameters.busLatency
            + (parameters.busJitter > 0 ? parameters.busJitter * bus.gaussian() : 0)
        guard let faulty = SensorFault.apply(fault, to: sample, last: lastSample) else { return }
        lastSample = faulty
        pending.push(faulty, at: now.advanced(bySeconds: max(late, 0)))
    }

    private func encoded(_ joints: AxisVector) -> AxisVector {
        let count = 2 * Double.pi / parameters.encoderCounts
        return AxisVector(
            yaw: cm_floor(joints.yaw / count + 0.5) * count,
            roll: cm_floor(joints.roll / count + 0.5) * count,
            pitch: cm_floor(joints.pitch / count + 0.5) * count)
    }
}
