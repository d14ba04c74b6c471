import GimbalCore
import Simulation
import Testing

@Suite("Base motion of the handle")
struct BaseMotionTests {
    static let degrees = 180 / Double.pi

    @Test("a hand trembles by 0.3...1° RMS")
    func handheld() {
        let motion = BaseMotion(.handheld, seed: 7)
        var squares = AxisVector.zero
        for tick in 0..<10_000 {
            let angles = EulerZXY.angles(motion.state(at: 6 + Double(tick) * 0.01).attitude)
            squares = squares + angles * angles
        }
        for axis in GimbalAxis.allCases {
            let angle = (squares[axis] / 10_000).squareRoot() * Self.degrees
            #expect(angle > 0.3 && angle < 1)
        }
    }

    @Test("a table does not move")
    func still() {
        let state = BaseMotion(.still, seed: 1).state(at: 12)
        #expect(state.attitude == .identity && state.rate == .zero)
        #expect(state.acceleration == .zero)
    }

    @Test(
        "the rate is the derivative of the attitude, even while the motion increases",
        arguments: [HandleMotion.walking, .running, .handheld])
    func derivative(kind: HandleMotion) {
        let motion = BaseMotion(kind, seed: 3, stillDuration: 0)
        let h = 1e-5
        for t in [0.1, 0.7, 1.9, 2.0001, 5, 33.3] {
            let numeric =
                motion.state(at: t - h).attitude.error(to: motion.state(at: t + h).attitude)
                / (2 * h)
            #expect((numeric - motion.state(at: t).rate).norm < 1e-5)
        }
    }

    @Test(
        "the handle does not move at first, and starts with a rate of zero",
        arguments: [0.0, 1, 3.999, 4])
    func softStart(time: Double) {
        let state = BaseMotion(.walking, seed: 3).state(at: time)
        #expect(state.attitude.error(to: .identity).norm < 1e-12)
        #expect(state.rate.norm < 1e-12 && state.acceleration.norm < 1e-12)
    }

    @Test("different seeds give different walks")
    func seeds() {
        let a = BaseMotion(.walking, seed: 3).state(at: 9)
        let b = BaseMotion(.walking, seed: 4).state(at: 9)
        let c = BaseMotion(.walking, seed: 3).state(at: 9)
        #expect(a.attitude != b.attitude)
        #expect(a.attitude == c.attitude)
    }
}
