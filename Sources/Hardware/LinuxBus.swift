internal import GimbalCore
internal import Realtime

/// The sensors, and motors on the same bus. Bus thread only, after it was made.
///
/// `@unchecked Sendable`: handed over once to the bus thread, which alone calls it from then on.
final class LinuxBus: GimbalBus, @unchecked Sendable {
    private let camera: InertialSensor
    private let handle: HandleSensor?
    private let encoders: JointEncoders?
    private let motors: (any MotorPort)?
    private let pace: DataReady?

    /// - Parameters:
    ///   - camera: The sensor on the camera.
    ///   - handle: A second one on the handle.
    ///   - encoders: What shows the joints.
    ///   - motors: What is driven on the same bus; nil: nothing.
    ///   - pace: The camera's data-ready line; nil: the clock's pace.
    init(
        camera: InertialSensor, handle: HandleSensor? = nil, encoders: JointEncoders? = nil,
        motors: (any MotorPort)?, pace: DataReady? = nil
    ) {
        self.camera = camera
        self.handle = handle
        self.encoders = encoders
        self.motors = motors
        self.pace = pace
    }

    func waitForData(until deadline: Instant) -> Instant? { pace?.wait(until: deadline) }

    func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        handle?.read(now: now)
        encoders?.read(now: now)
        try camera.read(into: &samples, time: pace?.begin(at: now) ?? now, now: now)
        guard samples.count > 0 else { return }
        handle?.add(to: &samples[samples.count - 1], now: now)
        encoders?.add(to: &samples[samples.count - 1])
    }

    var conditions: Conditions {
        var conditions = Conditions.none
        if let handle, !handle.isKnown { conditions.insert(.handleIMUMissing) }
        if let encoders, !encoders.isKnown { conditions.insert(.encoderMissing) }
        return conditions
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard let motors, try motors.prepare(now: now) else { return }
        try motors.write(output, now: now)
    }

    func allOff() throws(BusError) { try motors?.allOff() }
}
