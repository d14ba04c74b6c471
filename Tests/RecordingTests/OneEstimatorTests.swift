import Configuration
import Foundation
import Recording
import SystemPackage
import Testing

@testable import GimbalCore

/// Replay, bench and flight use the same estimator with the same settings.
@Suite("One estimator for replay, bench and flight")
struct OneEstimatorTests {
    /// Estimated vertical after each record, in sensor axes with z up, from the flight controller
    /// with its motors off; and whether the estimate was ever doubtful.
    static func flown(
        _ log: IMULog, _ path: FilePath, parameters: AttitudeEstimator.Parameters = .init()
    ) throws -> (up: [Vector3], doubted: Bool) {
        var settings = Stabilizer.Parameters()
        settings.estimator = parameters
        var stabilizer = Stabilizer(parameters: settings)
        let start = Instant(nanoseconds: 1_000_000_000)
        stabilizer.apply(.mode(.inactive), now: start)
        var isDoubted = false
        let up = try log.handleSamples(path: path).map { sample in
            var sample = sample
            sample.time = Instant(nanoseconds: start.nanoseconds + sample.time.nanoseconds)
            stabilizer.integrate(sample)
            _ = stabilizer.step(now: sample.time)
            isDoubted =
                isDoubted || stabilizer.snapshot.conditions.intersects(.attitudeDoubtful)
            let down = stabilizer.snapshot.attitude.inverseRotate(Vector3(0, 0, 1))
            return Vector3(-down.x, down.y, down.z)
        }
        return (up, isDoubted)
    }

    /// Estimated vertical from the replay, which has the same code and settings as `airframe-bench
    /// estimator`.
    static func replayed(
        _ log: IMULog, parameters: AttitudeEstimator.Parameters
    ) -> [Vector3] {
        var rows: [Vector3] = []
        AttitudeReplay.run(log, parameters: parameters) { row in
            rows.append(row.attitude.inverseRotate(Vector3(0, 0, 1)))
        }
        return rows
    }

    @Test(
        "replay and flight controller estimate the same vertical, with the settings of a flight and with those of a log whose sensor is unknown",
        arguments: ["broad_16_cut.imu", "broad_07_cut.imu"],
        [AttitudeEstimator.Parameters(), LoadedConfiguration().recordedSensor])
    func same(name: String, parameters: AttitudeEstimator.Parameters) throws {
        let path = fixture(name)
        let log = try IMULog(path: path)
        let flown = try Self.flown(log, path, parameters: parameters).up
        let replayed = Self.replayed(log, parameters: parameters)
        #expect(flown.count == replayed.count && flown.count > 4000)
        let most = zip(flown, replayed).map { ($0 - $1).norm }.max() ?? .nan
        #expect(most < 1e-5, "\(most * 180 / .pi)°")
    }

    @Test("the attitude is never reported as doubtful while a person walks with the gimbal")
    func noFalseAlarm() throws {
        for path in try HandleRecordingTests.recordings("gait") {
            #expect(try !Self.flown(IMULog(path: path), path).doubted, "\(path)")
        }
    }

    @Test("the measured force never contradicts the estimated tilt in the recorded hand motions")
    func noLean() throws {
        for path in try HandleRecordingTests.recordings("imu") {
            let log = try IMULog(path: path)
            var estimator = AttitudeEstimator(parameters: .init())
            var doubt = TiltDoubt()
            var isDoubted = false
            for sample in try log.handleSamples(path: path) {
                estimator.update(gyro: sample.gyro, accel: sample.accel, dt: 1 / log.sampleRate)
                doubt.follow(estimator)
                isDoubted = isDoubted || doubt.isDoubtful
            }
            #expect(!isDoubted, "\(path)")
        }
    }

    @Test(
        "replay and bench use the flight defaults, except for the delay, the averaging and the range of an unknown sensor"
    )
    func settings() {
        let replayed = LoadedConfiguration().recordedSensor
        let unknown = AttitudeEstimator.Parameters.unknownSensor
        #expect(replayed.averagesRate && replayed.gyroRange == 0 && replayed.sensorDelay == 0)
        #expect(unknown.averagesRate && unknown.gyroRange == 0 && unknown.sensorDelay == 0)
        var flown = Settings().stabilizerParameters.estimator
        flown.averagesRate = true
        flown.gyroRange = 0
        flown.sensorDelay = 0
        #expect(replayed == flown)
    }
}
