internal import GimbalCore
internal import Realtime

/// Bus with the sensors, and with the motors if they are on the same bus. After the creation of a
/// `LinuxBus`, only the bus thread uses it.
///
/// `@unchecked Sendable`, because the object is passed once to the bus thread, which is then its
/// only caller.
final class LinuxBus: GimbalBus, @unchecked Sendable {
    private let camera: any CameraSensor
    private let handle: HandleSensor?
    private let encoders: JointEncoders?
    private let drives: (any JointFeedback)?
    private let motors: (any MotorPort)?
    private let pace: DataReady?
    private var supply: SupplyMonitor?
    private var field: FieldWatch
    private var areMotorsOn = false
    /// Time of the last period in which the parts other than the camera's sensor were read.
    private var lastParts = Instant(nanoseconds: .min / 2)

    /// Creates the bus.
    ///
    /// - Parameters:
    ///   - camera: The sensor on the camera.
    ///   - handle: Second inertial sensor, on the handle; nil if there is none.
    ///   - encoders: Encoders of the joints; nil if there are none.
    ///   - drives: Drives or servos on a bus, as a possible source of joint angles; nil if there
    ///     are none.
    ///   - motors: Motors on the same bus; nil if there are none.
    ///   - pace: Data-ready line of the camera's sensor; each edge starts a period. nil means that
    ///     the clock starts the periods.
    ///   - supply: Monitor of the motors' supply voltage; nil if there is none.
    init(
        camera: any CameraSensor, handle: HandleSensor? = nil, encoders: JointEncoders? = nil,
        drives: (any JointFeedback)? = nil, motors: (any MotorPort)?, pace: DataReady? = nil,
        supply: SupplyMonitor? = nil
    ) {
        self.camera = camera
        self.handle = handle
        self.encoders = encoders
        self.drives = drives
        self.motors = motors
        self.pace = pace
        self.supply = supply
        field = FieldWatch(isExpected: camera.expectsMagneticField)
    }

    func waitForData(until deadline: Instant) -> Instant? { pace?.wait(until: deadline) }

    func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        // The camera's sensor is read first, because a part on a stuck bus delays the thread.
        var failure: BusError?
        do throws(BusError) {
            try camera.read(into: &samples, time: pace?.begin(at: now) ?? now, now: now)
        } catch {
            failure = error
        }
        readParts(now: now)
        if let failure { throw failure }
        field.note(samples, now: now)
        guard samples.count > 0 else { return }
        handle?.add(to: &samples[samples.count - 1])
        encoders?.add(to: &samples[samples.count - 1])
        drives?.add(to: &samples[samples.count - 1])
    }

    /// Reads the parts other than the camera's sensor, once per period. If the camera's sensor is
    /// read twice in a period, a second read of the drives would count as a missed answer.
    private func readParts(now: Instant) {
        guard now != lastParts else { return }
        lastParts = now
        handle?.read(now: now, areMotorsOn: areMotorsOn)
        encoders?.read(now: now)
        drives?.read(now: now)
        supply?.step(now: now)
        if !areMotorsOn { camera.findMissingParts(now: now) }
    }

    var conditions: Conditions {
        var conditions = Conditions.none
        if let handle, !handle.isKnown { conditions.insert(.handleIMUMissing) }
        if let encoders, !encoders.isKnown { conditions.insert(.encoderMissing) }
        if let drives { conditions.insert(drives.conditions) }
        if field.isMissing { conditions.insert(.magnetometerMissing) }
        if let supply { conditions.insert(supply.watch.conditions) }
        return conditions
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        areMotorsOn = output.enabled
        guard let motors, try motors.prepare(now: now) else { return }
        try motors.write(output, now: now)
    }

    func allOff() throws(BusError) { try motors?.allOff() }
}

/// Watch on the magnetometer: it is missing if it has delivered no new measurement for one second,
/// although it is configured or has delivered one before. While no sample arrives, other conditions
/// report the sensor.
struct FieldWatch: Sendable {
    private let isExpected: Bool
    private var last: Instant?
    private(set) var isMissing = false

    /// Longest interval between two measurements, s.
    static let longestSeconds = 1.0

    /// Creates a watch.
    ///
    /// - Parameter isExpected: True if the settings name a magnetometer.
    init(isExpected: Bool) { self.isExpected = isExpected }

    /// Evaluates the samples of one period.
    mutating func note(_ samples: borrowing SampleBatch, now: Instant) {
        guard samples.count > 0 else { return }
        if last == nil, isExpected { last = now }
        for index in 0..<samples.count where samples[index].contents.contains(.magneticField) {
            last = now
        }
        isMissing = last.map { now.seconds(since: $0) > Self.longestSeconds } ?? false
    }
}
