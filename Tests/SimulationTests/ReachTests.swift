import GimbalCore
import Simulation
import Testing

/// The set-point must stay within the range of the joints: in any mode, from any source, after any
/// sequence of requests.
@Suite("Set-points and the range of the joints")
struct ReachTests {
    static let degree = Double.pi / 180

    /// Complete gimbal with encoders in a hand that sways and turns, with a loop at 500 Hz.
    /// `turning` is in deg/s, `tilted` in degrees.
    private static func loop(
        seed: UInt64, _ kind: HandleMotion = .handheld, turning rate: Double = 0,
        tilted: Double = 0
    ) -> SimulatedLoop {
        let tilt = tilted * degree
        var motion = BaseMotion(
            kind, seed: seed, stillDuration: 3, pose: AxisVector(yaw: 0, roll: 0, pitch: tilt))
        motion.turnRate.yaw = rate * degree
        return SimulatedLoop(motion, seed: seed, rateHz: 500) { gimbal, tuning in
            gimbal.plant.stepRate = 4000
            gimbal.imu.sampleRate = 500
            gimbal.initialJoints.pitch = -tilt
            tuning.bootMode = .locked
        }
    }

    @Test(
        "after random requests, the set-point and the joints stay within the range of the joints",
        arguments: [
            (1, 0, 0), (2, 25, 0), (3, -25, 20), (4, 60, 0), (5, -60, 0), (6, 0, 75),
            (7, 90, 0), (8, -10, -40), (3, -68, -69), (11, 87, -54), (13, -40, -25), (35, -75, -75),
            (1000, 67, 60), (1106, -46, -47),
        ] as [(UInt64, Double, Double)])
    func anySequence(seed: UInt64, turning: Double, tilted: Double) {
        var random = RandomSource(seed: seed, stream: 0x5EAC4)
        var loop = Self.loop(seed: seed, turning: turning, tilted: tilted)
        loop.run(seconds: 2.5)
        #expect(loop.snapshot.output.enabled)
        var beyond = AxisVector.zero
        var asked = AxisVector.zero
        var wrong = 0.0
        var isOn = true
        let range = JointRange()
        func excess(_ angles: AxisVector) -> AxisVector {
            func over(_ angle: Double, _ low: Double, _ high: Double) -> Double {
                max(angle - high / Self.degree, low / Self.degree - angle)
            }
            return AxisVector(
                yaw: over(angles.yaw, range.minimum.yaw, range.maximum.yaw),
                roll: over(angles.roll, range.minimum.roll, range.maximum.roll),
                pitch: over(angles.pitch, range.minimum.pitch, range.maximum.pitch))
        }
        func larger(_ a: AxisVector, _ b: AxisVector) -> AxisVector {
            AxisVector(
                yaw: max(a.yaw, b.yaw), roll: max(a.roll, b.roll), pitch: max(a.pitch, b.pitch))
        }
        for _ in 0..<60 {
            loop.askForAnything(&random)
            loop.run(seconds: 0.05 + random.uniform() * 0.7) { loop in
                beyond = larger(beyond, excess(loop.joints))
                guard loop.snapshot.output.enabled else {
                    isOn = false
                    return
                }
                asked = larger(asked, excess(loop.wanted))
                wrong = max(wrong, loop.snapshot.attitudeError.norm / Self.degree)
            }
        }
        // The hand turns by up to 90 °/s, and drags the camera along at the end of the range.
        let (most, mostAsked) = (
            max(beyond.yaw, max(beyond.roll, beyond.pitch)),
            max(asked.yaw, max(asked.roll, asked.pitch))
        )
        #expect(mostAsked < 1.5, "the set-point leads the joints out of their range: \(asked)")
        #expect(most < 5, "the joints leave their range: \(beyond)")
        #expect(wrong < 5, "the camera is thrown: \(wrong)")
        #expect(isOn)
    }

    @Test(
        "repeated changes between tracking and locked keep the yaw range, and the camera turns back at once"
    )
    func toggledTracking() {
        var loop = Self.loop(seed: 5, .still)
        loop.run(seconds: 2.5)
        for _ in 0..<4 {
            loop.ask(.tracking)
            loop.track(30, for: 4)
            #expect(abs(loop.joints.yaw) < 91, "the range is 90° to either side of the handle")
            loop.ask(.locked)
            loop.run(seconds: 0.3)
        }
        #expect(loop.joints.yaw > 88)
        loop.ask(.tracking)
        loop.track(30, for: 1)
        let before = loop.joints
        loop.track(-30, for: 0.5)
        #expect(before.yaw - loop.joints.yaw > 10, "half a second at 30 °/s")
        loop.ask(.locked)
        loop.run(seconds: 10)
        #expect(loop.snapshot.attitudeError.norm < 0.5 * Self.degree)
        #expect(loop.snapshot.output.enabled)
    }

    @Test(
        "a rate command against the stop ends at the stop, and the opposite command leaves the stop at once"
    )
    func leavesTheStop() {
        for steps in 1...3 {
            var loop = Self.loop(seed: 6, .still)
            loop.run(seconds: 2.5)
            for _ in 0..<(4 * steps) {
                loop.ask(
                    .rate(
                        AxisVector(yaw: 90 * Self.degree, roll: 0, pitch: 0)), validUntil: loop.soon
                )
                loop.run(seconds: 0.9)
            }
            #expect(abs(loop.joints.yaw - 170) < 1)
            loop.ask(
                .rate(AxisVector(yaw: -90 * Self.degree, roll: 0, pitch: 0)), validUntil: loop.soon)
            loop.run(seconds: 0.3)
            #expect(loop.joints.yaw < 155)
        }
    }

    @Test("the camera reaches a heading beyond the stop by turning the other way")
    func theOtherWayRound() {
        var loop = Self.loop(seed: 7, .still)
        loop.run(seconds: 2.5)
        loop.ask(.point(target: AxisVector(yaw: 150 * Self.degree, roll: 0, pitch: 0), duration: 0))
        loop.run(seconds: 3)
        loop.ask(.point(target: AxisVector(yaw: 210 * Self.degree, roll: 0, pitch: 0), duration: 0))
        loop.run(seconds: 4)
        #expect(abs(loop.joints.yaw + 150) < 1.5)
    }
}

extension SimulatedLoop {
    fileprivate var soon: Instant { now.advanced(bySeconds: 1) }
    /// True joint angles, degrees, continuous over whole turns.
    fileprivate var joints: AxisVector { gimbal.joints * (1 / ReachTests.degree) }
    /// Joint angles that the set-point requires, degrees, in the turn nearest to the true joint
    /// angles. The error of the estimate is excluded.
    fileprivate var wanted: AxisVector {
        let snapshot = snapshot
        let camera = EulerZXY.quaternion(gimbal.joints)
        let relative = camera * (snapshot.attitude.conjugate * snapshot.setpoint)
        var result = EulerZXY.angles(relative) * (1 / ReachTests.degree)
        result.yaw = joints.yaw + (result.yaw - joints.yaw).remainder(dividingBy: 360)
        result.pitch = joints.pitch + (result.pitch - joints.pitch).remainder(dividingBy: 360)
        return result
    }

    fileprivate mutating func ask(_ mode: Mode) { ask(.mode(mode)) }

    /// Sends the position of a person to the right or left, as a tracking app does.
    fileprivate mutating func track(_ pan: Double, tilt: Double = 0, for seconds: Double) {
        for _ in 0..<Int((seconds * 10).rounded()) {
            ask(
                .track(
                    pan: pan * ReachTests.degree, tilt: tilt * ReachTests.degree), validUntil: soon)
            run(seconds: 0.1)
        }
    }

    private func angle(_ limit: Double, _ random: inout RandomSource) -> Double {
        let value = (2 * random.uniform() - 1) * limit * ReachTests.degree
        return random.uniform() < 0.25 ? .nan : value
    }

    /// Sends a random request with values that any link can send.
    fileprivate mutating func askForAnything(_ random: inout RandomSource) {
        switch Int(random.uniform() * 8) {
        case 0, 1:
            let modes = Mode.allCases.filter { $0 != .inactive }
            ask(modes[Int(random.uniform() * Double(modes.count))])
        case 2:
            ask(.mode(.tracking))
        case 3:
            let target = AxisVector(
                yaw: angle(400, &random), roll: angle(90, &random), pitch: angle(200, &random))
            ask(.point(target: target, duration: random.uniform() * 2))
        case 4:
            let rate = AxisVector(
                yaw: angle(250, &random), roll: angle(30, &random), pitch: angle(120, &random))
            ask(.rate(rate), validUntil: soon)
        case 5, 6:
            ask(.track(pan: angle(90, &random), tilt: angle(90, &random)), validUntil: soon)
        default:
            ask(.lookAside(yaw: angle(180, &random), rate: angle(120, &random)), validUntil: soon)
        }
    }
}
