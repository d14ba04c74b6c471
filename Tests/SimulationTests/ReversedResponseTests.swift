import GimbalCore
import Simulation
import Testing

/// Tests a motor or a sensor with the wrong sign. The outputs must switch off after a small turn of
/// the camera, and stay off.
@Suite("A motor or sensor with a reversed sign")
struct ReversedResponseTests {
    static let degrees = 180 / Double.pi

    /// The reversed part.
    enum Wrong: CaseIterable, CustomTestStringConvertible {
        case yawMotor, rollMotor, pitchMotor, sensorAboutX, sensorAboutY, sensorAboutZ

        var testDescription: String { "\(self)" }

        func inject(into gimbal: inout SimulatedGimbal) {
            switch self {
            case .yawMotor: gimbal.motorDirection.yaw = -1
            case .rollMotor: gimbal.motorDirection.roll = -1
            case .pitchMotor: gimbal.motorDirection.pitch = -1
            case .sensorAboutX: gimbal.fault = .remounted(Quaternion(w: 0, x: 1, y: 0, z: 0))
            case .sensorAboutY: gimbal.fault = .remounted(Quaternion(w: 0, x: 0, y: 1, z: 0))
            case .sensorAboutZ: gimbal.fault = .remounted(Quaternion(w: 0, x: 0, y: 0, z: 1))
            }
        }
    }

    struct Outcome {
        var conditions: Conditions = .none
        /// Conditions at the end.
        var last: Conditions = .none
        /// Axes that were reported as reversed.
        var reversed = AxisSet.none
        /// Largest turn while the outputs were on, degrees.
        var turned = 0.0
        /// Time from a turn of 1° until the outputs were off, s; infinite if the outputs stayed on.
        var reaction = Double.infinity
        /// True if the outputs switched on again after the report.
        var hasReturned = false
        var everEnabled = false
    }

    /// Runs for some seconds. The part `wrong` is reversed from `onset` on.
    static func run(
        _ wrong: Wrong?, type: MotorType = .torque, inertia: Double = 1, onset: Double = 0,
        motion: HandleMotion = .still, stillSeconds: Double = 2, seed: UInt64 = 2,
        seconds: Double = 6,
        change: (inout SimulatedGimbal, Double) -> Void = { _, _ in },
        isStalled: (Double) -> Bool = { _ in false }
    ) -> Outcome {
        let base = BaseMotion(
            motion, seed: seed, stillDuration: stillSeconds,
            rampDuration: stillSeconds > 0 ? 2 : 0)
        var loop = SimulatedLoop(base, motor: type, seed: seed) { gimbal, _ in
            gimbal.plant.inertia = gimbal.plant.inertia * inertia
        }
        var outcome = Outcome()
        var start: Quaternion?
        var away: Double?
        for tick in 1...Int(seconds * 1000) {
            let time = Double(tick) * 1e-3
            if time >= onset { wrong?.inject(into: &loop.gimbal) }
            change(&loop.gimbal, time)
            if isStalled(time) { continue }
            loop.advance(to: Instant(nanoseconds: Int64(tick) * 1_000_000))
            loop.drive()
            let conditions = loop.conditions
            outcome.conditions.insert(conditions)
            outcome.last = conditions
            outcome.reversed.insert(loop.snapshot.conditionAxes.reversed)
            guard time >= onset else { continue }
            if loop.output.enabled {
                outcome.everEnabled = true
                // The braking phase is excluded; the campaign of FaultRun tests its turn.
                if loop.snapshot.phase == .braking { continue }
                if outcome.conditions.intersects(.responseReversed) { outcome.hasReturned = true }
                let from = start ?? loop.gimbal.attitude
                start = from
                let turn = from.error(to: loop.gimbal.attitude).norm * degrees
                outcome.turned = max(outcome.turned, turn)
                if turn > 1, away == nil { away = time }
            } else if outcome.everEnabled, outcome.reaction.isInfinite {
                outcome.reaction = away.map { time - $0 } ?? 0
            }
        }
        return outcome
    }

    @Test(
        "torque motors: a sign reversed at the start switches the outputs off within 150 ms and 5°",
        arguments: Wrong.allCases, [1 / 17.0, 1, 4])
    func torqueStart(wrong: Wrong, inertia: Double) {
        let outcome = Self.run(wrong, inertia: inertia)
        #expect(outcome.conditions.intersects(.responseReversed))
        #expect(outcome.turned < 5)
        // A heavy camera turns slowly at first.
        #expect(outcome.reaction < (inertia > 1 ? 0.15 : 0.1))
        #expect(!outcome.hasReturned)
    }

    /// A camera with ten times the configured inertia saturates a motor before the correlation
    /// shows the wrong sign.
    @Test(
        "torque motors: a heavy camera with a reversed sign is stopped within 10°",
        arguments: [
            (Wrong.yawMotor, 8.0, UInt64(5)), (.yawMotor, 10, 4), (.yawMotor, 10, 5),
            (.rollMotor, 10, 4), (.rollMotor, 10, 10),
        ])
    func heavyStart(wrong: Wrong, inertia: Double, seed: UInt64) {
        let outcome = Self.run(wrong, inertia: inertia, seed: seed, seconds: 5)
        #expect(outcome.conditions.intersects(.responseReversed))
        #expect(outcome.turned < 10)
        #expect(!outcome.hasReturned)
    }

    @Test(
        "a hand that is stronger than the motors and turns the camera at the start is not a reversed sign",
        arguments: [1.0, 8], [Vector3(0.35, 0, 0), Vector3(0, 0.35, 0), Vector3(0, 0, 0.35)])
    func handAtStart(inertia: Double, push: Vector3) {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3, stillDuration: 2), seed: 3) {
            gimbal, _ in gimbal.plant.inertia = gimbal.plant.inertia * inertia
        }
        var began: Double?
        var turned = 0.0
        loop.run(seconds: 6) { loop in
            let begin = began ?? (loop.output.enabled ? loop.seconds : nil)
            began = begin
            let isPushed = begin.map { loop.seconds - $0 < 0.4 } ?? false
            loop.gimbal.push = isPushed ? push : .zero
            turned = max(turned, loop.snapshot.attitudeError.norm * Self.degrees)
            #expect(!loop.snapshot.conditions.intersects(.responseReversed))
        }
        #expect(turned > 30)
        #expect(loop.output.enabled)
    }

    @Test(
        "torque motors: a plug reversed during a walk switches the outputs off within 100 ms and 5°, and the axis is reported",
        arguments: [(Wrong.yawMotor, GimbalAxis.yaw), (.rollMotor, .roll), (.pitchMotor, .pitch)],
        [1 / 17.0, 1, 4])
    func torqueLater(plug: (wrong: Wrong, axis: GimbalAxis), inertia: Double) {
        let wrong = plug.wrong
        let outcome = Self.run(wrong, inertia: inertia, onset: 7, motion: .walking, seconds: 8)
        // A phone turns so fast that the condition gyro_contradicted can come first, in 1 of 24
        // walks.
        withKnownIssue("named gyro_contradicted", isIntermittent: true) {
            #expect(outcome.conditions.intersects(.responseReversed))
            #expect(outcome.reversed.contains(plug.axis))
        } when: {
            inertia < 1 && plug.axis == .pitch
        }
        #expect(outcome.conditions.intersects(.responseReversed | .gyroContradicted))
        #expect(outcome.turned < 5)
        #expect(outcome.reaction < 0.1)
        #expect(!outcome.hasReturned)
    }

    @Test(
        "a plug reversed while the camera points up or down is reported as that of its joint",
        arguments: [(Wrong.yawMotor, GimbalAxis.yaw), (.rollMotor, .roll), (.pitchMotor, .pitch)],
        [-90.0, -60, 90])
    func torqueSteep(plug: (wrong: Wrong, axis: GimbalAxis), pitch: Double) {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 2, stillDuration: 2), seed: 2)
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: pitch / Self.degrees)
        var reversed = AxisSet.none
        var turned = 0.0
        var before: Quaternion?
        loop.run(seconds: 8) { loop in
            if loop.tick == 3000 { loop.ask(.point(target: target, duration: 1)) }
            guard loop.tick >= 7000 else { return }
            plug.wrong.inject(into: &loop.gimbal)
            reversed.insert(loop.snapshot.conditionAxes.reversed)
            guard loop.output.enabled else { return }
            let start = before ?? loop.gimbal.attitude
            before = start
            turned = max(turned, start.error(to: loop.gimbal.attitude).norm * Self.degrees)
        }
        #expect(reversed == AxisSet(plug.axis))
        #expect(turned < 5)
    }

    @Test(
        "servos: a sign reversed at the start switches the outputs off within 100 ms and 5°, or prevents the start",
        arguments: Wrong.allCases)
    func servo(wrong: Wrong) {
        let outcome = Self.run(wrong, type: .servo, motion: .walking)
        #expect(outcome.turned < 5)
        #expect(!outcome.hasReturned)
        if outcome.everEnabled {
            #expect(outcome.conditions.intersects(.responseReversed))
            #expect(outcome.reaction < 0.1)
        } else {
            #expect(outcome.conditions.intersects(.jointsOutOfReach))
        }
    }

    @Test(
        "pushes beyond the torque limit are not reported as a reversed sign",
        arguments: [0.1, 0.3, 0.4], [0.05, 0.3, 1])
    func push(moment: Double, seconds: Double) {
        // The two largest pushes throw the camera to its stop, and the camera returns along two
        // joints.
        for seed in [UInt64(2), 16, 37] {
            let outcome = Self.run(nil, motion: .walking, seed: seed, seconds: 9) { gimbal, time in
                let isPushed = time > 6 && time < 6 + seconds
                gimbal.push = isPushed ? Vector3(0, moment, 0) : .zero
            }
            #expect(outcome.everEnabled)
            #expect(!outcome.conditions.intersects(.responseReversed))
        }
    }

    @Test(
        "a handle that drags the camera along during the start is not reported as a reversed sign",
        arguments: [
            (MotorType.torque, HandleMotion.walking, 1.0, UInt64(25)),
            (.torque, .walking, 1, 56), (.torque, .walking, 1 / 17, 30),
            (.torque, .running, 1 / 17, 62), (.torque, .running, 1, 93),
            (.field, .walking, 1, 22), (.field, .walking, 4, 5), (.field, .running, 1, 13),
        ])
    func startInMotion(
        type: MotorType, motion: HandleMotion, inertia: Double, seed: UInt64
    ) {
        let outcome = Self.run(
            nil, type: type, inertia: inertia, motion: motion, stillSeconds: 0, seed: seed,
            seconds: 3)
        #expect(outcome.everEnabled)
        #expect(!outcome.conditions.intersects(.responseReversed))
    }

    @Test(
        "short pauses of the loop, during which the motors keep their last torque, are not reported as a reversed sign",
        arguments: [MotorType.torque, .servo, .field], [0.04, 0.08, 0.15, 0.3])
    func stall(type: MotorType, seconds: Double) {
        let outcome = Self.run(
            nil, type: type, motion: .walking, seconds: 20,
            isStalled: { $0 > 6 && $0.truncatingRemainder(dividingBy: 0.713) < seconds })
        #expect(outcome.everEnabled)
        withKnownIssue(
            "the hand continues to turn while the camera does not follow", isIntermittent: true
        ) {
            #expect(!outcome.conditions.intersects(.responseReversed))
        } when: {
            type == .field && seconds == 0.15 || type == .servo && seconds == 0.04
        }
    }

    @Test(
        "repeated pauses of the loop from the start on are not reported as a reversed sign, and the inertia is found",
        arguments: [MotorType.torque, .servo, .field], [0.005, 0.02, 0.05, 0.1])
    func stallAtStart(type: MotorType, longest: Double) {
        for seed in UInt64(1)...3 {
            for motion in [HandleMotion.walking, .still] {
                var random = RandomSource(seed: seed)
                var (begin, end) = (0.5, 0.5)
                let outcome = Self.run(
                    nil, type: type, motion: motion, seconds: 10,
                    isStalled: { time in
                        if time > end {
                            begin = time + 0.2 + 1.6 * random.uniform()
                            end = begin + longest * random.uniform()
                        }
                        return time > begin && time <= end
                    })
                #expect(outcome.everEnabled)
                #expect(!outcome.conditions.intersects(.responseReversed))
                #expect(!outcome.last.intersects(.inertiaUnknown))
            }
        }
    }

    /// Simulated bus thread that is sometimes late while the loop continues to tick.
    struct LateBus: Sendable {
        /// Limits of the time for which the bus thread is late, s.
        let shortest, longest: Double
        private var begin = 0.0
        private var end = 0.0
        private var random: RandomSource

        init(from shortest: Double, to longest: Double, seed: UInt64) {
            (self.shortest, self.longest) = (shortest, longest)
            random = RandomSource(seed: seed)
        }

        /// True if the thread is late at `time`, s.
        mutating func isLate(_ time: Double) -> Bool {
            if time > end {
                begin = time + 0.1 * (0.5 + random.uniform())
                end = begin + shortest + (longest - shortest) * random.uniform()
            }
            return time > begin && time <= end
        }
    }

    @Test(
        "torques that the loop commands while the bus thread is late, and that no motor receives, are not reported as a reversed sign",
        arguments: [
            (LateBus(from: 0.005, to: 0.019, seed: 1545), UInt64(20)),
            (LateBus(from: 0.012, to: 0.019, seed: 698), 9),
        ] as [(LateBus, UInt64)])
    func lateBus(bus: LateBus, seed: UInt64) {
        var bus = bus
        var loop = SimulatedLoop(BaseMotion(.walking, seed: seed), seed: seed)
        var turns = 0.0
        var report: Double?
        for tick in 1...8000 {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            // The camera turns to and fro by 30° while the handle moves.
            if tick % 2000 == 1000, tick >= 3000 {
                turns += 1
                let yaw = turns.truncatingRemainder(dividingBy: 2) * 0.5236
                loop.stabilizer.apply(
                    .point(target: AxisVector(yaw: yaw, roll: 0, pitch: 0), duration: 1), now: now)
            }
            let time = Double(tick) * 1e-3
            if time >= 3.2, bus.isLate(time) {
                _ = loop.stabilizer.step(now: now)
            } else {
                // A batch has room for 16 samples.
                var samples: [IMUSample] = []
                loop.gimbal.advance(to: now) { if samples.count < 16 { samples.append($0) } }
                for sample in samples { loop.stabilizer.integrate(sample) }
                loop.gimbal.apply(loop.stabilizer.step(now: now), at: now)
            }
            if report == nil, loop.conditions.intersects(.responseReversed) { report = time }
        }
        #expect(report == nil)
        #expect(loop.snapshot.phase == .active)
    }
}
