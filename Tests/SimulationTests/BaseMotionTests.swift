import GimbalCore
import Simulation
import Testing

@Suite("Base motion")
struct BaseMotionTests {
    static let degrees = 180 / Double.pi

    struct RMS {
        var angles = AxisVector.zero
        var acceleration = 0.0

        init(_ motion: BaseMotion) {
            var n = 0.0
            for tick in 0..<10_000 {
                let state = motion.state(at: 6 + Double(tick) * 0.01)
                let a = EulerZXY.angles(state.attitude)
                angles = angles + a * a
                acceleration += state.acceleration.squaredNorm
                n += 1
            }
            angles = AxisVector(
                yaw: (angles.yaw / n).squareRoot(), roll: (angles.roll / n).squareRoot(),
                pitch: (angles.pitch / n).squareRoot())
            acceleration = (acceleration / n).squareRoot()
        }
    }

    @Test("walking turns the handle by 3° RMS and shakes it with 1.5 m/s² RMS", arguments: 1...4)
    func walking(seed: Int) {
        let rms = RMS(BaseMotion(.walking, seed: UInt64(seed)))
        #expect(abs(rms.angles.roll * Self.degrees - 3) < 0.05)
        #expect(abs(rms.angles.pitch * Self.degrees - 3) < 0.05)
        #expect(abs(rms.angles.yaw * Self.degrees - 3) < 0.05)
        #expect(abs(rms.acceleration - 1.5) < 0.03)
    }

    @Test("a hand trembles by 0.3...1° RMS")
    func handheld() {
        let rms = RMS(BaseMotion(.handheld, seed: 7))
        for angle in [rms.angles.yaw, rms.angles.roll, rms.angles.pitch] {
            #expect(angle * Self.degrees > 0.3 && angle * Self.degrees < 1)
        }
    }

    @Test("a table stands still")
    func still() {
        let state = BaseMotion(.still, seed: 1).state(at: 12)
        #expect(state.attitude == .identity && state.rate == .zero)
        #expect(state.acceleration == .zero)
    }

    @Test(
        "the rate is the derivative of the attitude, also while the motion grows",
        arguments: [BaseMotion.Kind.walking, .handheld])
    func derivative(kind: BaseMotion.Kind) {
        let motion = BaseMotion(kind, seed: 3, stillDuration: 0)
        let h = 1e-5
        for t in [0.1, 0.7, 1.9, 2.0001, 5, 33.3] {
            let numeric =
                motion.state(at: t - h).attitude.error(to: motion.state(at: t + h).attitude)
                / (2 * h)
            #expect((numeric - motion.state(at: t).rate).norm < 1e-5)
        }
    }

    @Test("stands still at first, and starts from rest", arguments: [0.0, 1, 3.999, 4])
    func softStart(time: Double) {
        let state = BaseMotion(.walking, seed: 3).state(at: time)
        #expect(state.attitude.error(to: .identity).norm < 1e-12)
        #expect(state.rate.norm < 1e-12 && state.acceleration.norm < 1e-12)
    }

    @Test("another seed is another walk")
    func seeds() {
        let a = BaseMotion(.walking, seed: 3).state(at: 9)
        let b = BaseMotion(.walking, seed: 4).state(at: 9)
        let c = BaseMotion(.walking, seed: 3).state(at: 9)
        #expect(a.attitude != b.attitude)
        #expect(a.attitude == c.attitude)
    }
}
