internal import CMathShim
public import GimbalCore

/// A whole gimbal on the bench of the computer: moving handle, mechanics, motors or servos, sensor
/// and bus. What the daemon's simulated backend, the tests and the figures all use.
///
/// Delay from the camera's motion to the torque that answers it, 3.0 ms with the defaults:
/// gyroscope filter 0.98 ms, mean age of a sample when a 1 kHz loop of another clock takes it 0.5
/// ms, way from loop to power stage 1.02 ms (a pure delay, `transportDelay`), current loop 0.5 ms
/// (first order). The holding of the output over a loop period comes on top.
///
/// The same parameters, motion, seed and calls give the same numbers, bit for bit. Not for
/// concurrent use; owned by one thread at a time.
public struct SimulatedGimbal: Sendable {
    /// Everything that can be chosen.
    public struct Parameters: Sendable, Equatable {
        /// The mechanics.
        public var plant = GimbalPlant.Parameters()
        /// The camera's sensor.
        public var imu = IMUModel.Parameters()
        /// The servos, when `motor` is servo.
        public var servo = ServoModel.Parameters()
        /// The motors, when `motor` is field.
        public var field = FieldMotorModel.Parameters()
        /// How the joints are driven.
        public var motor = MotorType.torque
        /// Torque of each motor over what it was told, 1: the true motor constant over the one that
        /// is configured.
        public var motorConstant = AxisVector(repeating: 1)
        /// How the camera's sensor sits on it, camera frame to the sensor's.
        public var sensorMounting = Quaternion.identity
        /// From `apply` to the power stage, s; at most 0.1.
        public var transportDelay = 0.00102
        /// Lag of the motors' current loop, s.
        public var actuatorLag = 0.0005
        /// Resolution of the joint encoders, counts per turn; 0 = none fitted. Servos have none.
        public var encoderCounts = 16384.0
        /// Whether a second gyroscope, of the same kind as the camera's, sits on the handle.
        public var hasHandleGyro = false
        /// Time from a sample to its delivery, s.
        public var busLatency = 0.0
        /// Standard deviation of the delivery time, s; the time of a delivery never precedes its
        /// sample.
        public var busJitter = 0.0
        /// Joint angles at the start, rad.
        public var initialJoints = AxisVector.zero

        /// The default gimbal.
        public init() {}
    }

    /// Everything that was chosen.
    public let parameters: Parameters
    /// How the handle moves.
    public let motion: BaseMotion
    /// What is wrong with the sensor at present.
    public var fault: SensorFault?
    /// Direction of each motor: -1 is one that is connected the wrong way round, 0 one that is not
    /// connected.
    public var motorDirection = AxisVector(repeating: 1)
    /// A push from outside, moment on the camera in its frame, N·m.
    public var push = Vector3.zero
    /// The instant that the simulation has reached.
    public private(set) var now: Instant
    /// The handle at `now`.
    public private(set) var base: BaseMotion.State
    /// Motor torques acting at `now`, N·m.
    public private(set) var torque = AxisVector.zero

    private var plant: GimbalPlant
    private var imu: IMUModel
    private var handleIMU: IMUModel
    private var delay = OutputDelay()
    private var pending = PendingSamples()
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

    /// A gimbal at rest on its moving handle.
    ///
    /// - Parameters:
    ///   - parameters: Mechanics, sensor, motors, bus.
    ///   - motion: How the handle moves.
    ///   - seed: Sensor errors, noise and bus jitter.
    ///   - start: The instant at which the simulation begins.
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

    /// True camera attitude, camera to earth.
    public var attitude: Quaternion { plant.attitude }
    /// True camera rate, camera frame, rad/s.
    public var rate: Vector3 { plant.rate }
    /// True joint angles, rad.
    public var joints: AxisVector { plant.joints }
    /// True joint rates, rad/s.
    public var jointRates: AxisVector { plant.jointRates }
    /// The gyroscope's offset at present, rad/s.
    public var gyroBias: Vector3 { imu.gyroBias }
    /// The accelerometer's offset at present, m/s².
    public var accelBias: Vector3 { imu.accelBias }

    /// The motor torques under which the camera accelerates as wanted now, rad/s² in its own frame:
    /// for a reference that knows everything.
    public func requiredTorque(acceleration: Vector3) -> AxisVector {
        plant.requiredTorque(
            acceleration: acceleration, push: push, base: base,
            dt: Double(stepNanoseconds) * 1e-9)
    }

    /// True moments of inertia about the camera's axes at present, kg·m².
    public var inertia: AxisVector { plant.parameters.inertia }

    /// Another camera from now on: its inertia is the present one times this.
    public mutating func scaleInertia(by factor: Double) { plant.scaleInertia(by: factor) }

    /// Hands an output to the motors; it takes effect after the transport delay.
    ///
    /// - Parameters:
    ///   - output: What the motors are to do; not finite counts as off.
    ///   - time: When the bus write ended. An instant before the simulation's own counts as its
    ///     own.
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

    /// Lets time pass, and hands out the samples that are delivered on the way.
    ///
    /// - Parameters:
    ///   - target: Up to when; not after `now`: nothing happens.
    ///   - deliver: Called once for each sample, in order of time.
    public mutating func advance(to target: Instant, deliver: (IMUSample) -> Void) {
        let dt = Double(stepNanoseconds) * 1e-9
        while now.nanoseconds + stepNanoseconds <= target.nanoseconds {
            step(dt: dt)
            let seconds = now.seconds(since: start)
            if seconds >= samples * imu.samplePeriod {
                samples += 1
                takeSample()
            }
            while let sample = pending.popDelivered(by: now) { deliver(sample) }
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
            // Pulses leave at the frame rate; between them the last one counts.
            let pulse = cm_floor(now.seconds(since: start) * parameters.servo.frameRate)
            if pulse != frame {
                frame = pulse
                latched = output
            }
            yawServo.step(target: latched.enabled ? latched.angle.yaw : nil, dt: dt)
            rollServo.step(target: latched.enabled ? latched.angle.roll : nil, dt: dt)
            pitchServo.step(target: latched.enabled ? latched.angle.pitch : nil, dt: dt)
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

    /// One step of the mechanics under motors whose current follows with a lag.
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
        pending.push(faulty, deliverAt: now.advanced(bySeconds: max(late, 0)))
    }

    private func encoded(_ joints: AxisVector) -> AxisVector {
        let count = 2 * Double.pi / parameters.encoderCounts
        return AxisVector(
            yaw: cm_floor(joints.yaw / count + 0.5) * count,
            roll: cm_floor(joints.roll / count + 0.5) * count,
            pitch: cm_floor(joints.pitch / count + 0.5) * count)
    }
}
