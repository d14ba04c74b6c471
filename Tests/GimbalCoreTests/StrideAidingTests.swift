import CMathShim
import Testing

@testable import GimbalCore

/// Someone who walks with a sensor in his hand, switched on in mid-stride.
@Suite("What whole strides say of the vertical")
struct StrideAidingTests {
    static let degree = Double.pi / 180

    /// A stride's acceleration, m/s²: sway at its frequency, steps at twice that and their harmonics.
    static func walk(_ time: Double, stride: Double) -> Vector3 {
        let phase = 2 * Double.pi * time / stride
        return Vector3(
            0.8 * cm_sin(2 * phase + 1) + 0.3 * cm_sin(4 * phase),
            0.7 * cm_sin(phase + 2) + 0.2 * cm_sin(2 * phase),
            1.5 * cm_sin(2 * phase + 0.5) + 0.8 * cm_sin(4 * phase + 2))
    }

    /// Seconds over which a sensor in motion averages its first vertical.
    static let firstVertical = 0.4

    /// A sensor with an offset of 1 °/s that is tilted by 6°, swung by each step.
    static func walker(stride: Double) -> SimulatedMotion {
        var motion = SimulatedMotion()
        motion.attitude = Quaternion(rotationVector: Vector3(0.08, -0.06, 0.3))
        motion.bias = Vector3(0.8, -0.6, 0.3) * degree
        motion.gyroNoise = 2.5e-4
        motion.accelNoise = 2e-3
        motion.acceleration = { walk($0, stride: stride) }
        motion.rate = { time in
            let phase = 2 * Double.pi * time / stride
            return Vector3(0.5 * cm_sin(phase), 0.6 * cm_sin(2 * phase + 1), 0.4 * cm_cos(phase))
        }
        return motion
    }

    /// The largest error of the inclination between two times, degrees, and what was found.
    static func run(
        _ motion: inout SimulatedMotion, from: Double, until: Double, isAided: Bool = true
    ) -> (error: Double, aiding: StrideAiding, estimator: AttitudeEstimator) {
        var parameters = AttitudeEstimator.Parameters.undelayed
        parameters.usesStrides = isAided
        var estimator = AttitudeEstimator(parameters: parameters)
        var aiding = StrideAiding()
        var error = 0.0
        while motion.time < until {
            let sample = motion.next()
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: sample.dt)
            aiding.follow(&estimator)
            if motion.time > from { error = max(error, motion.inclinationError(estimator)) }
        }
        return (error, aiding, estimator)
    }

    @Test(
        "the period is found within a stride and a half after the first vertical, to 2 %",
        arguments: [0.72, 0.85, 1.0, 1.15, 1.4])
    func period(stride: Double) throws {
        var motion = Self.walker(stride: stride)
        let found = try #require(
            Self.run(&motion, from: 0, until: 1.5 * stride + Self.firstVertical + 0.1).aiding.period
        )
        #expect(abs(found - stride) < 0.02 * stride)
    }

    @Test(
        "the vertical is known to 0.5° two strides after the first, the bias to 0.1 °/s after five",
        arguments: [0.72, 1.0, 1.4])
    func start(stride: Double) {
        var motion = Self.walker(stride: stride)
        #expect(Self.run(&motion, from: 2 * stride + Self.firstVertical, until: 6).error < 0.5)
        motion = Self.walker(stride: stride)
        let known = Self.run(&motion, from: 0, until: 5 * stride + Self.firstVertical).estimator
        let lacking = motion.attitude.rotate(motion.bias - known.bias)
        #expect(max(abs(lacking.x), abs(lacking.y)) < 0.1 * Self.degree)
    }

    @Test("without strides that takes longer: what is tested here is the aiding")
    func unaided() {
        var motion = Self.walker(stride: 1)
        #expect(Self.run(&motion, from: 2, until: 6, isAided: false).error > 0.7)
    }

    @Test("strides that differ by 3 % in length say it to 1°")
    func uneven() {
        var motion = Self.walker(stride: 1)
        motion.acceleration = { time in
            Self.walk(time + 0.03 * cm_sin(1.9 * time) / 1.9, stride: 1)
        }
        #expect(Self.run(&motion, from: 2, until: 20).error < 1)
    }

    @Test(
        "who turns a corner at walking pace, or stops, is not taken for tilted by more than without strides"
    )
    func corner() {
        for seconds in [1.0, 1.5] {
            var errors: [Double] = []
            for isAided in [true, false] {
                var motion = Self.walker(stride: 1)
                motion.acceleration = { time in
                    let since = time - 20
                    let lasts = since > 0 && since < seconds
                    // 1.4 m/s, a quarter turn.
                    let turn = lasts ? 1.4 * .pi / 2 / seconds : 0
                    let angle = .pi / 2 * since / seconds
                    return Self.walk(time, stride: 1)
                        + Vector3(-turn * cm_sin(angle), turn * cm_cos(angle), 0)
                }
                errors.append(Self.run(&motion, from: 19, until: 30, isAided: isAided).error)
            }
            #expect(errors[0] < errors[1])
            #expect(errors[0] < 1.5)
        }
    }

    @Test("a motion that does not come back is not measured, nor is rest")
    func others() {
        var motion = SimulatedMotion()
        motion.accelNoise = 2e-3
        motion.gyroNoise = 2.5e-4
        #expect(Self.run(&motion, from: 0, until: 8).aiding.period == nil)
        motion = Self.walker(stride: 1)
        // Three sines without a common period.
        motion.acceleration = { time in
            Vector3(
                cm_sin(2 * .pi * 0.43 * time), cm_sin(2 * .pi * 0.71 * time + 1),
                cm_sin(2 * .pi * 1.13 * time + 2))
        }
        #expect(Self.run(&motion, from: 0, until: 8).aiding.period == nil)
    }

    @Test(
        "whoever walks on for minutes with the offset of the start is measured as well as at first")
    func lasting() {
        var motion = Self.walker(stride: 1)
        #expect(Self.run(&motion, from: 4, until: 200).error < 0.2)
    }

    @Test("another heading or mounting in mid-stride changes nothing of it")
    func frames() {
        var motion = Self.walker(stride: 1)
        var estimator = AttitudeEstimator(parameters: .undelayed)
        var aiding = StrideAiding()
        var error = 0.0
        let turn = Quaternion(rotationVector: Vector3(0.2, 1.1, -0.4))
        var isTurned = false
        while motion.time < 10 {
            let sample = motion.next()
            let (gyro, accel) =
                isTurned
                ? (turn.rotate(sample.gyro), turn.rotate(sample.accel))
                : (sample.gyro, sample.accel)
            estimator.update(gyro: gyro, accel: accel, dt: sample.dt)
            aiding.follow(&estimator)
            if abs(motion.time - 4.3) < 1e-3 { estimator.resetHeading() }
            if abs(motion.time - 6.7) < 1e-3 {
                // The frame is another one, the sensor stays as it is: samples are turned from here on.
                estimator.turnBodyFrame(by: turn)
                isTurned = true
            }
            let down = Vector3(0, 0, 1)
            let truth = motion.attitude.inverseRotate(down)
            let seen = estimator.attitude.inverseRotate(down)
            if motion.time > 4 {
                error = max(error, seen.cross(isTurned ? turn.rotate(truth) : truth).norm)
            }
        }
        #expect(error < 0.3 * Self.degree)
    }
}
