import GimbalCore
import Simulation
import Testing

/// No set-point may be where the joints cannot follow: in any mode, from any source, after any sequence of requests.
@Suite("Set-points and the reach of the joints")
struct ReachTests {
    static let degree = Double.pi / 180

    /// The whole gimbal with encoders in a hand that sways and turns.
    struct Rig {
        var gimbal: SimulatedGimbal
        var stabilizer: Stabilizer
        var random: RandomSource
        var tick: Int64 = 0

        init(
            seed: UInt64, _ kind: BaseMotion.Kind = .handheld, turning rate: Double = 0,
            tilted: Double = 0
        ) {
            var parameters = SimulatedGimbal.Parameters()
            parameters.plant.stepRate = 4000
            parameters.imu.sampleRate = 500
            random = RandomSource(seed: seed, stream: 0x5EAC4)
            let tilt = tilted * ReachTests.degree
            parameters.initialJoints.pitch = -tilt
            var motion = BaseMotion(
                kind, seed: seed, stillDuration: 3, pose: AxisVector(yaw: 0, roll: 0, pitch: tilt))
            motion.turnRate.yaw = rate * ReachTests.degree
            gimbal = SimulatedGimbal(parameters: parameters, motion: motion, seed: seed)
            var tuning = Stabilizer.Parameters()
            tuning.bootMode = .locked
            stabilizer = Stabilizer(parameters: tuning)
        }

        var now: Instant { Instant(nanoseconds: tick * 2_000_000) }
        var soon: Instant { now.advanced(bySeconds: 1) }
        /// True joint angles, degrees, continuous over whole turns.
        var joints: AxisVector { gimbal.joints * (1 / ReachTests.degree) }
        /// Where the set-point asks the joints to be, degrees, the turn that is nearest to where they are. What the estimate is
        /// off by is not in it.
        var wanted: AxisVector {
            let snapshot = stabilizer.snapshot
            let camera = EulerZXY.quaternion(gimbal.joints)
            let relative = camera * (snapshot.attitude.conjugate * snapshot.setpoint)
            var result = EulerZXY.angles(relative) * (1 / ReachTests.degree)
            result.yaw = joints.yaw + (result.yaw - joints.yaw).remainder(dividingBy: 360)
            result.pitch = joints.pitch + (result.pitch - joints.pitch).remainder(dividingBy: 360)
            return result
        }

        mutating func run(_ seconds: Double, each: (Rig) -> Void = { _ in }) {
            for _ in 0..<Int((seconds * 500).rounded()) {
                tick += 1
                let time = now
                gimbal.advance(to: time) { stabilizer.integrate($0) }
                gimbal.apply(stabilizer.step(now: time), at: time)
                each(self)
            }
        }

        mutating func ask(_ command: Command) { stabilizer.apply(command, now: now) }

        mutating func ask(_ mode: Mode) { ask(.mode(mode)) }

        /// A person on the right or left, as an app that tracks says it.
        mutating func track(_ pan: Double, tilt: Double = 0, for seconds: Double) {
            for _ in 0..<Int((seconds * 10).rounded()) {
                ask(
                    .track(
                        pan: pan * ReachTests.degree, tilt: tilt * ReachTests.degree,
                        validUntil: soon))
                run(0.1)
            }
        }

        private mutating func angle(_ limit: Double) -> Double {
            let value = (2 * random.uniform() - 1) * limit * ReachTests.degree
            return random.uniform() < 0.25 ? .nan : value
        }

        /// A request of any kind, with values as they may come from any link.
        mutating func askForAnything() {
            switch Int(random.uniform() * 8) {
            case 0, 1:
                let modes = Mode.allCases.filter { $0 != .inactive }
                ask(modes[Int(random.uniform() * Double(modes.count))])
            case 2:
                ask(.mode(.tracking))
            case 3:
                let target = AxisVector(yaw: angle(400), roll: angle(90), pitch: angle(200))
                ask(.point(target: target, duration: random.uniform() * 2))
            case 4:
                let rate = AxisVector(yaw: angle(250), roll: angle(30), pitch: angle(120))
                ask(.rate(rate, validUntil: soon))
            case 5, 6:
                ask(.track(pan: angle(90), tilt: angle(90), validUntil: soon))
            default:
                ask(.lookAside(yaw: angle(180), rate: angle(120), validUntil: soon))
            }
        }
    }

    @Test(
        "after any requests the set-point is where the joints can be, and the joints stay there",
        arguments: [
            (1, 0, 0), (2, 25, 0), (3, -25, 20), (4, 60, 0), (5, -60, 0), (6, 0, 75),
            (7, 90, 0), (8, -10, -40), (3, -68, -69), (11, 87, -54), (13, -40, -25), (35, -75, -75),
            (1000, 67, 60), (1106, -46, -47),
        ] as [(UInt64, Double, Double)])
    func anySequence(seed: UInt64, turning: Double, tilted: Double) {
        var rig = Rig(seed: seed, turning: turning, tilted: tilted)
        rig.run(2.5)
        #expect(rig.stabilizer.snapshot.output.enabled)
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
            rig.askForAnything()
            rig.run(0.05 + rig.random.uniform() * 0.7) { rig in
                beyond = larger(beyond, excess(rig.joints))
                guard rig.stabilizer.snapshot.output.enabled else {
                    isOn = false
                    return
                }
                asked = larger(asked, excess(rig.wanted))
                wrong = max(wrong, rig.stabilizer.snapshot.attitudeError.norm / Self.degree)
            }
        }
        // The hand turns by up to 90 °/s and drags the camera along at the end.
        let (most, mostAsked) = (
            max(beyond.yaw, max(beyond.roll, beyond.pitch)),
            max(asked.yaw, max(asked.roll, asked.pitch))
        )
        #expect(mostAsked < 1.5, "the set-point leads the joints out of their range: \(asked)")
        #expect(most < 5, "the joints leave their range: \(beyond)")
        #expect(wrong < 5, "the camera is thrown: \(wrong)")
        #expect(isOn)
    }

    @Test("tracking that is toggled keeps its range, and turns back at once")
    func toggledTracking() {
        var rig = Rig(seed: 5, .still)
        rig.run(2.5)
        for _ in 0..<4 {
            rig.ask(.tracking)
            rig.track(30, for: 4)
            #expect(abs(rig.joints.yaw) < 91, "the range is 90° to either side of the handle")
            rig.ask(.locked)
            rig.run(0.3)
        }
        #expect(rig.joints.yaw > 88)
        rig.ask(.tracking)
        rig.track(30, for: 1)
        let before = rig.joints
        rig.track(-30, for: 0.5)
        #expect(before.yaw - rig.joints.yaw > 10, "half a second at 30 °/s")
        rig.ask(.locked)
        rig.run(10)
        #expect(rig.stabilizer.snapshot.attitudeError.norm < 0.5 * Self.degree)
        #expect(rig.stabilizer.snapshot.output.enabled)
    }

    @Test("in every mode that turns, a turn against the stop ends there and leaves it at once")
    func leavesTheStop() {
        for steps in 1...3 {
            var rig = Rig(seed: 6, .still)
            rig.run(2.5)
            for _ in 0..<(4 * steps) {
                rig.ask(
                    .rate(
                        AxisVector(yaw: 90 * Self.degree, roll: 0, pitch: 0), validUntil: rig.soon))
                rig.run(0.9)
            }
            #expect(abs(rig.joints.yaw - 170) < 1)
            rig.ask(
                .rate(AxisVector(yaw: -90 * Self.degree, roll: 0, pitch: 0), validUntil: rig.soon))
            rig.run(0.3)
            #expect(rig.joints.yaw < 155)
        }
    }

    @Test("a heading behind the stop is reached the other way round")
    func theOtherWayRound() {
        var rig = Rig(seed: 7, .still)
        rig.run(2.5)
        rig.ask(.point(target: AxisVector(yaw: 150 * Self.degree, roll: 0, pitch: 0), duration: 0))
        rig.run(3)
        rig.ask(.point(target: AxisVector(yaw: 210 * Self.degree, roll: 0, pitch: 0), duration: 0))
        rig.run(4)
        #expect(abs(rig.joints.yaw + 150) < 1.5)
    }
}
