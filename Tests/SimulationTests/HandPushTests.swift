import Configuration
import GimbalCore
import Simulation
import Testing

/// Finger that pulls the camera about one axis, modelled as a spring with a damper.
private struct Finger {
    var axis: GimbalAxis
    /// Stiffness, N·m/rad.
    var stiffness = 2.0
    /// Damping, N·m·s/rad.
    var damping = 0.05
    /// Largest moment, N·m.
    var strength: Double
    /// Rate of the finger, rad/s, and the angle at which the finger stops, rad.
    var (rate, way) = (0.4, 0.5)
    /// Camera angle at the first touch, rad; nil before the touch.
    private var start: Double?

    init(_ axis: GimbalAxis, strength: Double) {
        self.axis = axis
        self.strength = strength
    }

    /// Moment on the camera `time` seconds after the first touch, camera frame, N·m.
    mutating func moment(on gimbal: SimulatedGimbal, after time: Double) -> Vector3 {
        let angle = EulerZXY.angles(gimbal.attitude)[axis]
        let first = start ?? angle
        start = first
        let turn = axis == .yaw ? gimbal.rate.z : gimbal.rate.y
        let present = time * rate < way ? rate : 0
        let size =
            stiffness * (first + min(time * rate, way) - angle) + damping * (present - turn)
        let limited = min(max(size, -strength), strength)
        return axis == .yaw ? Vector3(0, 0, limited) : Vector3(0, limited, 0)
    }
}

/// Random gimbals with friction, imbalance and encoders, in a hand that trembles or walks. The
/// threshold was chosen with the seeds 1 to 6 and 101 to 116; these tests use other seeds.
@Suite("Detection of a hand that pushes the camera")
struct HandPushTests {
    static let degrees = 180 / Double.pi

    /// Loop of a random gimbal with the tuning that the daemon computes. The result is not part of a
    /// tuple: the compiler would divide the loop into its numbers, which takes minutes.
    static func drawn(
        _ seed: UInt64, _ motion: BaseMotion, _ settings: [String] = ["push.enabled=true"]
    ) throws -> SimulatedLoop {
        let gimbal = DrawnGimbal(seed: seed, motor: .torque)
        let limit = gimbal.torqueLimit
        let source = ConfigurationSource(
            config: "/dev/null",
            overrides: [
                "loop.rate_hz=\(gimbal.loopHz)",
                "motors.torque_limit_nm=[\(limit), \(limit), \(limit)]",
            ] + settings)
        var parameters = gimbal.parameters
        parameters.encoderCounts = 16384
        return SimulatedLoop(
            SimulatedGimbal(parameters: parameters, motion: motion, seed: seed),
            try ConfigurationLoader.load(source).settings.stabilizerParameters,
            rateHz: gimbal.loopHz)
    }

    static func hand(_ kind: HandleMotion, _ seed: UInt64) -> BaseMotion {
        BaseMotion(kind, seed: seed, stillDuration: 1, rampDuration: 1)
    }

    /// Pushes for 2.5 s.
    ///
    /// - Returns: Angles of the pushed axis before the push, at its end, and 2 s later, degrees;
    ///   time until the detection, s.
    private static func push(
        _ loop: inout SimulatedLoop, _ finger: Finger,
        each: (inout SimulatedLoop) -> Void = { _ in }
    ) -> (before: Double, end: Double, rest: Double, after: Double) {
        var (finger, time, after) = (finger, 0.0, Double.infinity)
        func angle(_ loop: SimulatedLoop) -> Double {
            EulerZXY.angles(loop.gimbal.attitude)[finger.axis] * degrees
        }
        let before = angle(loop)
        loop.run(seconds: 2.5) { loop in
            time += 1 / Double(loop.rateHz)
            loop.gimbal.push = finger.moment(on: loop.gimbal, after: time)
            if loop.isPushed { after = min(after, time) }
            each(&loop)
        }
        let end = angle(loop)
        loop.gimbal.push = .zero
        loop.run(seconds: 2)
        return (before, end, angle(loop), after)
    }

    /// Number of pushes that the gimbal detects in 20 s.
    private static func pushes(
        _ loop: SimulatedLoop, each: (inout SimulatedLoop) -> Void = { _ in }
    ) -> Int {
        var (loop, count, was) = (loop, 0, false)
        loop.run(seconds: 20) { loop in
            each(&loop)
            let now = loop.isPushed
            if now, !was { count += 1 }
            was = now
        }
        #expect(loop.snapshot.output.enabled)
        return count
    }

    @Test(
        "a push turns the camera, and the camera stays where the hand releases it",
        arguments: [GimbalAxis.yaw, .pitch], [UInt64](201...204))
    func takesAlong(axis: GimbalAxis, seed: UInt64) throws {
        var loop = try Self.drawn(seed, Self.hand(.handheld, seed))
        loop.run(seconds: 12)
        let angle = Self.push(&loop, Finger(axis, strength: 1.2 * loop.torqueLimit))
        // The finger moves by 28.6°.
        #expect(angle.after < 1.3, "detected after \(angle.after) s")
        #expect(abs(angle.end - angle.before - 26) < 4, "\(angle)")
        #expect(abs(angle.rest - angle.end) < 3, "\(angle)")
        #expect(!loop.isPushed)
    }

    @Test(
        "a push turns the camera on a tilted handle, and the horizon stays level",
        arguments: [GimbalAxis.yaw, .pitch])
    func tiltedHandle(axis: GimbalAxis) throws {
        let pose = AxisVector(yaw: 1, roll: 0.25, pitch: 0.4)
        let motion = BaseMotion(
            .handheld, seed: 204, stillDuration: 1, rampDuration: 1, pose: pose)
        var loop = try Self.drawn(204, motion)
        loop.run(seconds: 12)
        let angle = Self.push(&loop, Finger(axis, strength: 1.2 * loop.torqueLimit))
        #expect(abs(angle.end - angle.before - 26) < 6, "\(angle)")
        #expect(abs(angle.rest - angle.end) < 3, "\(angle)")
        let roll = EulerZXY.angles(loop.gimbal.attitude).roll * Self.degrees
        #expect(abs(roll) < 6, "the horizon is level, except for the mounting: \(roll)")
    }

    @Test("a push does not change the set-point unless push.enabled is true")
    func isOffByDefault() throws {
        var loop = try Self.drawn(201, Self.hand(.handheld, 201), [])
        loop.run(seconds: 12)
        let angle = Self.push(&loop, Finger(.pitch, strength: 0.8 * loop.torqueLimit))
        #expect(angle.after.isInfinite)
        #expect(abs(angle.rest - angle.before) < 1.5, "\(angle)")
    }

    @Test(
        "no push is detected in a hand that trembles, walks or runs",
        arguments: [HandleMotion.handheld, .walking, .running], [UInt64](211...212))
    func ignoresMotion(kind: HandleMotion, seed: UInt64) throws {
        let loop = try Self.drawn(seed, Self.hand(kind, seed))
        #expect(Self.pushes(loop) == 0)
    }

    @Test("no push is detected while the handle turns under the camera", arguments: [2.0, 60])
    func ignoresTurns(rate: Double) throws {
        for seed in UInt64(221)...222 {
            for axis in [GimbalAxis.yaw, .pitch] {
                var motion = BaseMotion(.handheld, seed: seed, stillDuration: 8, rampDuration: 1)
                motion.turnRate[axis] = rate / Self.degrees
                motion.turnDuration = min(10, 60 / rate)
                #expect(Self.pushes(try Self.drawn(seed, motion)) == 0, "\(seed) \(axis)")
            }
        }
    }

    /// Gusts of 2 s with 0.4 times the torque limit. On a small camera (250 mN·m), this is the
    /// moment of a wind of about 30 m/s on 100 cm², 20 mm from the joint.
    @Test("a strong gust is not detected as a push", arguments: [UInt64](231...233))
    func ignoresGusts(seed: UInt64) throws {
        let loop = try Self.drawn(seed, Self.hand(.handheld, seed))
        let count = Self.pushes(loop) { loop in
            let phase = (loop.seconds - 10).truncatingRemainder(dividingBy: 3)
            let size = loop.seconds > 10 && phase < 2 ? min(phase, 2 - phase) : 0
            loop.gimbal.push = Vector3(0, 1, 0.7) * (0.4 * loop.torqueLimit * size)
        }
        #expect(count == 0)
    }

    @Test("no push is detected during an autotune run, and a command ends a push")
    func yields() throws {
        var loop = try Self.drawn(201, Self.hand(.handheld, 201))
        loop.run(seconds: 12)
        let finger = Finger(.yaw, strength: 1.2 * loop.torqueLimit)
        var tuned = loop
        let angle = Self.push(&tuned, finger) { $0.stabilizer.report(.autotuning) }
        #expect(angle.after.isInfinite)
        var isAsked = false
        _ = Self.push(&loop, finger) { loop in
            if loop.isPushed, !isAsked {
                isAsked = true
                loop.ask(.point(target: AxisVector(yaw: 0, roll: 0, pitch: 0), duration: 0.5))
                loop.step()
                #expect(!loop.isPushed)
            }
        }
        #expect(isAsked)
    }

    @Test("a constant load is treated as a push for 10 s at most")
    func isBounded() throws {
        var loop = try Self.drawn(202, Self.hand(.handheld, 202))
        loop.run(seconds: 12)
        loop.gimbal.push = Vector3(0, 0, 0.75 * loop.torqueLimit)
        var pushed = 0.0
        loop.run(seconds: 25) { loop in
            if loop.isPushed { pushed += 1 / Double(loop.rateHz) }
        }
        #expect(pushed > 1 && pushed < 10.1, "\(pushed) s")
        #expect(!loop.isPushed)
    }

    @Test("in pan_follow, a push turns only the pitch axis")
    func panFollow() throws {
        let settings = ["push.enabled=true", "mode.boot=pan_follow"]
        var loop = try Self.drawn(203, Self.hand(.handheld, 203), settings)
        loop.run(seconds: 12)
        var other = loop
        let yaw = Self.push(&other, Finger(.yaw, strength: 0.9 * loop.torqueLimit))
        #expect(yaw.after.isInfinite)
        let pitch = Self.push(&loop, Finger(.pitch, strength: 1.2 * loop.torqueLimit))
        #expect(pitch.rest - pitch.before > 20, "\(pitch)")
    }
}

extension SimulatedLoop {
    fileprivate var torqueLimit: Double { stabilizer.parameters.controller.torqueLimit.yaw }
    fileprivate var isPushed: Bool { snapshot.conditions.intersects(.cameraPushed) }
}
