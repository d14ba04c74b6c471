import Calibration
import Configuration
import GimbalCore
import Glibc
import Links
import Policy
import Port
import Realtime
import Simulation
import Synchronization
import Testing
import Wire

@testable import Daemon

/// Tests of the service behind `airframectl calibrate`, with simulated samples of a camera that a
/// person turns.
@Suite("Guided calibration")
struct GuidedCalibrationTests {
    /// The service, its sensor, and a clock.
    struct Rig {
        static let laptop = CommandSource(link: .diagnostics, connection: 7)
        let store: FakeCalibrationStore
        let service: CalibrationService
        var sensor = PosedSensor(seed: 3)
        var nanoseconds: Int64 = 0
        var areMotorsOn = false
        var temperature = Double.nan

        init(largestGyroOffset: Double = 5 * .pi / 180, mounting: Quaternion = .identity) {
            store = FakeCalibrationStore(largestGyroOffset: largestGyroOffset, mounting: mounting)
            service = CalibrationService(store: store)
        }

        var now: Instant { Instant(nanoseconds: nanoseconds) }

        func start(_ kind: CalibrationKind) throws -> CalibrationReport {
            try service.start(kind, owner: Self.laptop, by: "test", now: now)
        }

        mutating func lay(
            _ attitude: Quaternion, seconds: Double, rate: Vector3 = .zero
        ) -> CalibrationReport {
            feed { $0.samples(attitude, seconds: seconds, rate: rate, deliver: $1) }
        }

        /// Passes the samples that `make` generates to the service.
        mutating func feed(
            _ make: (inout PosedSensor, (_ gyro: Vector3, _ accel: Vector3) -> Void) -> Void
        ) -> CalibrationReport {
            var snapshot = StabilizerSnapshot()
            snapshot.temperature = temperature
            let (service, on, begin) = (service, areMotorsOn, nanoseconds)
            let conditions: Conditions = store.isCalibrating ? .calibrating : .none
            var count: Int64 = 0
            make(&sensor) { gyro, accel in
                count += 1
                snapshot.rawGyro = gyro
                snapshot.rawAccel = accel
                snapshot.conditions = conditions
                snapshot.output.enabled = on
                snapshot.sampleTime = Instant(nanoseconds: begin + count * 1_000_000)
                service.feed(snapshot)
            }
            nanoseconds += count * 1_000_000
            service.advance(now: now, date: 1000)
            return service.status()
        }
    }

    @Test(
        "the accelerometer calibration guides through six faces in any order, and lists the missing ones"
    )
    func sixFaces() throws {
        var rig = Rig()
        _ = try rig.start(.accelerometer)
        #expect(rig.store.isCalibrating)
        let order: [CameraFace] = [.left, .bottom, .front, .back, .top, .right]
        var missing = Set(CameraFace.allCases.map(\.name))
        for (index, face) in order.enumerated() {
            let report = rig.lay(rig.sensor.attitude(face, sloppiness: 0.05), seconds: 2)
            missing.remove(face.name)
            if index < 5 {
                #expect(Set(report.missing) == missing)
                #expect(abs((report.progress.known ?? 0) - Double(index + 1) / 6) < 0.01)
                #expect(report.instruction.contains("Put the camera"))
                #expect(report.hint == "This pose is already measured.")
            } else {
                #expect(report.state == "done", "\(report.sentence)")
                #expect((report.residual.known ?? 1) < 0.03)
                #expect(report.saved.map(\.what) == ["accelerometer"])
            }
        }
        #expect(!rig.store.isCalibrating)
    }

    @Test("collection begins when the motors are off, not before")
    func waitsForMotors() throws {
        var rig = Rig()
        rig.areMotorsOn = true
        _ = try rig.start(.gyro)
        #expect(rig.lay(.identity, seconds: 4).state == "waiting")
        rig.areMotorsOn = false
        #expect(rig.lay(.identity, seconds: 1).state == "collecting")
        #expect(rig.lay(.identity, seconds: 3).state == "done")
    }

    @Test("the sensor's temperature is saved with the result, if the sensor measures it")
    func temperature() throws {
        var rig = Rig()
        _ = try rig.start(.gyro)
        #expect(rig.lay(.identity, seconds: 4).saved.first?.temperatureC.known == nil)
        rig.temperature = 31.5
        _ = try rig.start(.gyro)
        #expect(rig.lay(.identity, seconds: 4).saved.first?.temperatureC.known == 31.5)
        #expect(rig.store.calibrations.record(.gyro)?.temperature == 31.5)
    }

    @Test("a moving camera is refused with the reason, and the motors can turn on again")
    func motion() throws {
        var rig = Rig()
        _ = try rig.start(.gyro)
        let report = rig.lay(.identity, seconds: 13, rate: Vector3(0, 0, 0.3))
        #expect(report.state == "refused")
        #expect(report.sentence.contains("turns"))
        #expect(report.saved.isEmpty)
        #expect(!rig.store.isCalibrating)
    }

    @Test(
        "the offset that the data sheet permits does not count as motion of the camera",
        arguments: [SensorChip.mpu6050, .mpu6500, .mpu9250, .icm20948, .icm42688p, .bmi088])
    func largeOffset(chip: SensorChip) throws {
        // Offset of each axis, deg/s (PS-MPU-6000A-00, PS-MPU-6500A-01, PS-MPU-9250A-01, DS-000189,
        // DS-000347, BST-BMI088-DS001).
        let tolerance: Double =
            switch chip {
            case .mpu6050: 20
            case .mpu6500, .mpu9250, .icm20948: 5
            case .icm42688p: 0.5
            case .bmi088: 1
            }
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.imu = chip
        var rig = Rig(largestGyroOffset: settings.largestGyroOffset)
        let offset = Vector3(1, -1, 1) * (tolerance * .pi / 180)
        _ = try rig.start(.gyro)
        let report = rig.lay(.identity, seconds: 4, rate: offset)
        #expect(report.state == "done", "\(report.sentence)")
        let record = try #require(rig.store.calibrations.record(.gyro))
        #expect(record.isPlausible)
        #expect(abs(record.values[0] - offset.x) < 0.05)
        _ = try rig.start(.accelerometer)
        let pose = rig.lay(.identity, seconds: 2, rate: offset)
        #expect(!pose.missing.contains("bottom"), "\(pose.hint)")
    }

    @Test("the chip of a kernel driver has the large tolerance of an MPU-6050 only if it is named")
    func driverOffset() {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.imu = nil
        #expect(abs(settings.largestGyroOffset * 180 / .pi - 7) < 1e-9)
        settings.hardware.iio.gyroscope = "mpu6050"
        #expect(abs(settings.largestGyroOffset * 180 / .pi - 25) < 1e-9)
    }

    @Test("only one calibration runs; a cancellation or a disconnection ends it without a change")
    func oneAtATime() throws {
        var rig = Rig()
        _ = try rig.start(.gyro)
        #expect(throws: Refusal.self) { _ = try rig.start(.mounting) }
        rig.service.disconnected(CommandSource(link: .airos, connection: 7))
        #expect(rig.service.status().isRunning)
        rig.service.disconnected(Rig.laptop)
        #expect(rig.service.status().state == "cancelled")
        #expect(!rig.store.isCalibrating)
        _ = try rig.start(.mounting)
        #expect(rig.service.cancel().state == "cancelled")
        #expect(rig.lay(.identity, seconds: 4).saved.isEmpty)
    }

    private final class Flag: Sendable { let isSet = Mutex(false) }

    @Test(
        "simultaneous requests of two links leave the outputs off exactly while a calibration runs",
        arguments: [true, false])
    func twoLinks(isCancelLast: Bool) throws {
        let rig = Rig()
        let (store, service) = (rig.store, rig.service)
        if !isCancelLast { _ = try rig.start(.gyro) }
        let link = Worker(ThreadTable.state, capacity: 1)
        store.hook.withLock { hook in
            hook = {
                let hasEnded = Flag()
                link.post {
                    if isCancelLast {
                        _ = service.cancel()
                    } else {
                        _ = try? service.start(
                            .gyro, owner: CommandSource(link: .airos, connection: 1), by: "phone",
                            now: Instant(nanoseconds: 0))
                    }
                    hasEnded.isSet.withLock { $0 = true }
                }
                // The other request ends here, unless it waits for the first request.
                for _ in 0..<100 where !hasEnded.isSet.withLock({ $0 }) { usleep(1000) }
            }
        }
        if isCancelLast { _ = try rig.start(.gyro) } else { _ = service.cancel() }
        #expect(link.end(within: 10))
        #expect(service.progress.isRunning == !isCancelLast)
        #expect(store.isCalibrating == !isCancelLast)
    }

    @Test("a result that cannot be saved does not take effect, and the reason is reported")
    func diskFull() throws {
        var rig = Rig()
        rig.store.state.withLock { $0.refusal = Refusal(.refused, "no space left") }
        _ = try rig.start(.gyro)
        let report = rig.lay(.identity, seconds: 4)
        #expect(report.state == "refused")
        #expect(report.sentence == "no space left")
        #expect(!rig.store.isCalibrating)
    }

    @Test("the calibration ends after a timeout, so that the motors do not stay off permanently")
    func givesUp() throws {
        var rig = Rig()
        _ = try rig.start(.accelerometer)
        rig.nanoseconds += 601_000_000_000
        rig.service.advance(now: rig.now, date: 0)
        #expect(rig.service.status().state == "refused")
        #expect(!rig.store.isCalibrating)
    }

    @Test("a magnetometer with 100 measurements per second is calibrated in a loop of 500 Hz")
    func slowMagnetometer() throws {
        let rig = Rig()
        let iron = try #require(Inverse(MagnetometerCalibrationTests.iron))
        _ = try rig.start(.magnetometer)
        var snapshot = StabilizerSnapshot()
        snapshot.conditions = .calibrating
        var attitude = Quaternion.identity
        for tick: Int64 in 1...45_000 {
            snapshot.sampleTime = Instant(nanoseconds: tick * 2_000_000)
            if tick % 5 == 0 {
                let swing = 1.3 * (Double(tick) / 500).remainder(dividingBy: 7) / 3
                let rate = Vector3(0.9, swing, 0.7)
                attitude = (attitude * Quaternion(rotationVector: rate * 0.01)).normalized
                snapshot.rawMagneticField = iron.raw(attitude.inverseRotate(Vector3(20, 0, 44)))
                snapshot.magneticTime = snapshot.sampleTime
            }
            rig.service.feed(snapshot)
        }
        rig.service.advance(now: rig.now, date: 1000)
        #expect(rig.service.status().state == "done", "\(rig.service.status().sentence)")
        let found = rig.store.correction.magnetic
        #expect((found.offset - MagnetometerCalibrationTests.iron.offset).norm < 1.5)
    }

    @Test("a sensor without a magnetometer is reported")
    func noMagnetometer() throws {
        var rig = Rig()
        _ = try rig.start(.magnetometer)
        #expect(rig.lay(.identity, seconds: 0.9).state == "collecting")
        let report = rig.lay(.identity, seconds: 0.2)
        #expect(report.state == "refused")
        #expect(report.sentence.contains("does not measure the magnetic field"))
    }
}
