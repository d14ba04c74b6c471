import Foundation
import GimbalCore
import Recording
import Simulation
import SystemPackage
import TestSupport
import Testing

@Suite("Replay of an IMU log as the motion of a handle")
struct HandleRecordingTests {
    static let degrees = 180 / Double.pi
    static let path = FilePath("walk.imu")

    /// Log of `count` equal records at 100 Hz.
    static func log(_ count: Int) throws -> IMULog {
        var bytes: [UInt8] = Array("IMU1".utf8) + [1, 0, 0, 0, UInt8(count), 0, 0, 0]
        bytes += [0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0x59, 0x40]
        bytes += [UInt8](repeating: 0, count: 64 * (count + 1) - bytes.count)
        var log = try IMULog(bytes: bytes, path: path)
        for i in log.records.indices {
            log.records[i].gyro = Vector3(0.1, 0.2, 0.3)
            log.records[i].accel = Vector3(1, 2, 9.8)
        }
        return log
    }

    @Test("the axes y left and z up become y right and z down")
    func axes() throws {
        let samples = try Self.log(3).handleSamples(path: Self.path)
        #expect(samples.count == 3)
        #expect(samples[1].gyro == Vector3(0.1, -0.2, -0.3))
        #expect(samples[1].accel == Vector3(1, -2, -9.8))
        #expect(samples[2].time.nanoseconds == 20_000_000)
    }

    @Test(
        "a value that is not finite is replaced by the previous value, or by the next value at the start"
    )
    func gaps() throws {
        var log = try Self.log(4)
        log.records[0].accel = Vector3(.nan, 0, 0)
        log.records[1].gyro = Vector3(5, 0, 0)
        log.records[2].gyro = Vector3(0, .infinity, 0)
        let samples = try log.handleSamples(path: Self.path)
        #expect(samples.map(\.gyro.x) == [5, 5, 5, 0.1])
    }

    @Test("a log without usable motion is refused with a specific error")
    func nothing() throws {
        #expect(throws: IMULogError.tooShort(path: Self.path, records: 1)) {
            try Self.log(1).handleSamples(path: Self.path)
        }
        var deaf = try Self.log(3)
        for i in 0..<3 { deaf.records[i].gyro = Vector3(.nan, .nan, .nan) }
        #expect(throws: IMULogError.self) { try deaf.handleSamples(path: Self.path) }
    }

    /// Recordings that are not part of this project, in a folder named `gait` or `imu`. Both folders
    /// are in `AIRFRAME_RECORDINGS`, or in `../shared/data` next to the repository.
    static func recordings(_ folder: String) throws -> [FilePath] {
        let root =
            ProcessInfo.processInfo.environment["AIRFRAME_RECORDINGS"]
            ?? FilePath(#filePath).removingLastComponent().removingLastComponent()
            .removingLastComponent().pushing("../shared/data").string
        let path = "\(root)/\(folder)"
        var names: [String] = []
        if FileManager.default.fileExists(atPath: path) {
            names = try FileManager.default.contentsOfDirectory(atPath: path).filter {
                $0.hasSuffix(".imu")
            }
        }
        if names.isEmpty { print("skipped: there are no recorded motions in \(path)") }
        return names.sorted().map { FilePath("\(path)/\($0)") }
    }

    @Test("recorded walkers lean by less than 35°, and the motion begins and ends at rest")
    func walks() throws {
        for path in try Self.recordings("gait") {
            let log = try IMULog(path: path)
            let motion = RecordedMotion(
                try log.handleSamples(path: path), sampleRate: log.sampleRate)
            var lean = 0.0
            for time in stride(from: 0.0, to: motion.duration, by: 0.01) {
                let up = motion.state(at: time).attitude.inverseRotate(Vector3(0, 0, 1))
                lean = max(lean, acos(min(up.z, 1)) * Self.degrees)
            }
            #expect(lean < 35, "\(path): \(lean)°")
            for time in [0.0, motion.duration - 1e-3] {
                #expect(motion.state(at: time).rate.norm < 0.01, "\(path)")
            }
        }
    }

    @Test("the RMS tilt error against the attitude from motion-capture cameras is below 3°")
    func hands() throws {
        for path in try Self.recordings("imu") {
            let log = try IMULog(path: path)
            let motion = RecordedMotion(
                try log.handleSamples(path: path), sampleRate: log.sampleRate)
            var (squares, count) = (0.0, 0.0)
            for (i, record) in log.records.enumerated()
            where record.reference.isFinite && record.isMoving {
                // Up in the sensor's axes. The handle's axes have y to the right and z down.
                let real = record.reference.inverseRotate(Vector3(0, 0, 1))
                let down = motion.state(at: Double(i) / log.sampleRate).attitude
                    .inverseRotate(Vector3(0, 0, 1))
                let played = Vector3(-down.x, down.y, down.z)
                let angle = atan2(real.cross(played).norm, real.dot(played)) * Self.degrees
                squares += angle * angle
                count += 1
            }
            let error = (squares / count).squareRoot()
            #expect(error < 3, "\(path): \(error)°")
        }
    }
}
