import Configuration
import GimbalCore
import Recording
import Simulation
import SystemPackage
import Testing

@Suite("Detection of a hand that pushes the camera, on recorded walks")
struct HandPushWalkTests {
    /// Random gimbals with encoders. Their seeds were not used to choose the threshold.
    @Test("no push is detected while people walk")
    func walks() throws {
        for (index, path) in try HandleRecordingTests.recordings("gait").enumerated() {
            let log = try IMULog(path: path)
            let motion = RecordedMotion(
                try log.handleSamples(path: path), sampleRate: log.sampleRate)
            let gimbal = DrawnGimbal(seed: UInt64(301 + index), motor: .torque)
            let limit = gimbal.torqueLimit
            let source = ConfigurationSource(
                config: "/dev/null",
                overrides: [
                    "loop.rate_hz=\(gimbal.loopHz)", "push.enabled=true",
                    "motors.torque_limit_nm=[\(limit), \(limit), \(limit)]",
                ])
            var parameters = gimbal.parameters
            parameters.encoderCounts = 16384
            var loop = SimulatedLoop(
                SimulatedGimbal(
                    parameters: parameters, motion: BaseMotion(motion, stillDuration: 6),
                    seed: gimbal.seed),
                try ConfigurationLoader.load(source).settings.stabilizerParameters,
                rateHz: gimbal.loopHz)
            var (pushed, largest) = (0, 0.0)
            loop.run(seconds: 6 + motion.duration) { loop in
                if loop.snapshot.conditions.intersects(.cameraPushed) { pushed += 1 }
                let hand = loop.snapshot.hand
                largest = max(largest, max(abs(hand.yaw), abs(hand.pitch)) / limit)
            }
            print("\(path.lastComponent?.string ?? ""): at most \(largest) of the torque limit")
            #expect(pushed == 0, "\(path)")
        }
    }
}
