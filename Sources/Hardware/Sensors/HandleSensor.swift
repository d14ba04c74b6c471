internal import GimbalCore
internal import Glibc
internal import Realtime

/// Second inertial sensor, on the handle. The rates of the handle's sensor are added to the
/// camera's samples. Only the bus thread uses this class.
final class HandleSensor {
    private let sensor: InertialSensor
    private let mounting: Quaternion
    private let staleSeconds: Double
    private var batch = SampleBatch()
    private var rate = Vector3.zero
    private var lastTime = Instant(nanoseconds: .min / 2)
    /// True if the latest rate of the handle is recent enough to be used.
    private(set) var isKnown = false
    /// Pause after the last timeout of the sensor's bus, s; 0 if the bus is not stuck.
    private var pause = 0.0
    /// End of the pause.
    private var nextTry = Instant(nanoseconds: .min / 2)

    /// Shortest and longest pause after a timeout of the sensor's bus, s.
    private static let pauseSeconds = (shortest: 0.25, longest: 8.0)

    /// Creates the handle's sensor from an inertial sensor.
    ///
    /// - Parameters:
    ///   - sensor: Sensor on the handle.
    ///   - mounting: Rotation from the sensor's axes to the handle's axes (forward, right, down).
    ///   - staleSeconds: Maximum age of the handle's rate, s; an older rate is not used.
    init(sensor: InertialSensor, mounting: Quaternion, staleSeconds: Double) {
        self.staleSeconds = staleSeconds
        self.sensor = sensor
        self.mounting = mounting
    }

    /// Reads the sensor. A failure of the handle's sensor appears only in the sensor's report,
    /// because the gimbal can stabilize the camera without this sensor.
    ///
    /// Each read from a stuck bus blocks the thread until the timeout of the adapter. Meanwhile the
    /// camera's sample becomes too old for the loop. Therefore a sensor on a stuck bus is read again
    /// only while the motors are off, and after a pause that doubles with each timeout.
    ///
    /// - Parameters:
    ///   - now: Time of the call.
    ///   - areMotorsOn: True if the motors are on.
    func read(now: Instant, areMotorsOn: Bool) {
        batch.removeAll()
        if pause == 0 || !areMotorsOn && now >= nextTry { transfer(now: now) }
        if batch.count > 0 {
            rate = mounting.rotate(batch[batch.count - 1].gyro)
            lastTime = now
            pause = 0
        }
        isKnown = now.seconds(since: lastTime) <= staleSeconds
    }

    private func transfer(now: Instant) {
        do throws(BusError) {
            try sensor.read(into: &batch, time: now, now: now)
        } catch {
            guard error.code == ETIMEDOUT else { return pause = 0 }
            let (shortest, longest) = Self.pauseSeconds
            pause = min(max(2 * pause, shortest), longest)
            nextTry = now.advanced(bySeconds: pause)
        }
    }

    /// Adds the handle's rate to a sample of the camera's sensor.
    func add(to sample: inout IMUSample) {
        guard isKnown else { return }
        sample.baseGyro = rate
        sample.contents.insert(.baseGyro)
    }
}

/// Encoders on all three joints. The encoders' angles are added to the camera's samples. Only the
/// bus thread uses this class.
final class JointEncoders {
    private let yaw: AS5600
    private let roll: AS5600
    private let pitch: AS5600
    private var angles: AxisVector?

    /// Creates the set of the three joints' encoders.
    init(yaw: AS5600, roll: AS5600, pitch: AS5600) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }

    /// True if recent angles of all three joints are known.
    var isKnown: Bool { angles != nil }

    /// Reads the encoders of all joints.
    func read(now: Instant) {
        let (y, r, p) = (yaw.angle(now: now), roll.angle(now: now), pitch.angle(now: now))
        if let y, let r, let p {
            angles = AxisVector(yaw: y, roll: r, pitch: p)
        } else {
            angles = nil
        }
    }

    /// Adds the joint angles to a sample of the camera's sensor.
    func add(to sample: inout IMUSample) {
        guard let angles else { return }
        sample.joints = angles
        sample.contents.insert(.joints)
    }
}
