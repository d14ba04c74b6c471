import Foundation
import GimbalCore
import Testing

@Suite("What comes back with every stride")
struct StrideCompensatorTests {
    /// A gimbal with servos as its controller believes them to be, on a handle that turns about its pitch axis.
    struct Walk {
        /// Handle pitch, rad, at a time, s.
        var handle: (Double) -> Double
        var setpoint: (Double) -> Setpoint = { _ in ServoControllerTests.still }

        /// Distance from the set-point, rad, at each millisecond.
        func errors(seconds: Double) -> [Double] {
            var controller = ServoController(parameters: ServoControllerTests.ideal)
            var servo = ServoControllerTests.PerfectServo()
            return (0..<Int(seconds * 1000)).map { tick in
                let time = Double(tick) * 1e-3
                let swing = (handle(time + 5e-4) - handle(time - 5e-4)) / 1e-3
                let attitude = Quaternion.aboutY(handle(time) + servo.angle.pitch)
                let setpoint = setpoint(time)
                servo.follow(
                    controller.step(
                        attitude: attitude, rate: Vector3(0, swing + servo.rate.pitch, 0),
                        setpoint: setpoint, authority: 1, dt: 1e-3))
                return attitude.error(to: setpoint.attitude).y
            }
        }
    }

    /// Two steps a second with harmonics, and left unlike right; begun within a second.
    static func walking(_ time: Double) -> Double {
        let waves = [(1.0, 0.2, 0.3), (2, 1, 1.1), (4, 0.3, 2.0), (6, 0.12, 0.7)]
        let angle = waves.reduce(0) { sum, wave in
            sum + 0.07 * wave.1 * sin(2 * .pi * wave.0 * time + wave.2)
        }
        let begun = min(max(time, 0), 1)
        return angle * begun * begun * (3 - 2 * begun)
    }

    private static func rms(_ values: ArraySlice<Double>) -> Double {
        (values.reduce(0) { $0 + $1 * $1 } / Double(values.count)).squareRoot()
    }

    @Test("a walker's steps are known after some strides, and taken out")
    func learned() {
        let errors = Walk(handle: Self.walking).errors(seconds: 15)
        let (unknown, known) = (Self.rms(errors[1000..<2000]), Self.rms(errors[10_000...]))
        #expect(unknown > 0.003)
        #expect(known < 0.1 * unknown, "\(known) of \(unknown)")
    }

    @Test("strides that differ in length and in size are foreseen as far as they are alike")
    func uneven() {
        let walk = Walk { time in
            (1 + 0.05 * sin(2 * .pi * 0.13 * time))
                * Self.walking(time + 0.03 * sin(2 * .pi * 0.21 * time))
        }
        let errors = walk.errors(seconds: 25)
        let (unknown, known) = (Self.rms(errors[1000..<2000]), Self.rms(errors[10_000...]))
        #expect(known < 0.35 * unknown, "\(known) of \(unknown)")
    }

    @Test("when the walker stops, what was known does not shake the camera, then or later")
    func stops() {
        let walk = Walk { time in
            let left = 1 - min(max((time - 12) / 0.4, 0), 1)
            return Self.walking(time) * left * left * (3 - 2 * left)
        }
        let errors = walk.errors(seconds: 25)
        let unknown = errors[1000..<2000].map(abs).max() ?? 0
        let stop = errors[12_000..<13_000].map(abs).max() ?? 0
        #expect(stop < unknown, "\(stop), \(unknown)")
        let after = errors[13_000...].map(abs).max() ?? 0
        #expect(after < 0.1 * unknown, "\(after), \(unknown)")
    }

    @Test("motion that does not come back is left to the loop")
    func tremor() {
        // No two frequencies have a common period below some seconds.
        let hand = Walk { time in
            [0.53, 0.83, 1.37, 2.11, 3.43].reduce(0) { $0 + 0.01 * sin(2 * .pi * $1 * time + $1) }
        }
        let errors = hand.errors(seconds: 30)
        let (before, after) = (Self.rms(errors[500..<1500]), Self.rms(errors[1500...]))
        #expect(after < 1.5 * before, "\(after), \(before)")
    }

    @Test("a command while walking leaves no echo in the strides after it")
    func commanded() {
        let plain = Walk(handle: Self.walking)
        var turned = plain
        turned.setpoint = { time in
            // 0.3 rad in 0.3 s, as a generator without limits of jerk would.
            let share = min(max((time - 12) / 0.3, 0), 1)
            let isMoving = share > 0 && share < 1
            return Setpoint(
                attitude: .aboutY(0.3 * share), rate: Vector3(0, isMoving ? 1 : 0, 0))
        }
        let (quiet, echoing) = (plain.errors(seconds: 16), turned.errors(seconds: 16))
        let echo = zip(quiet, echoing).map { $1 - $0 }[13_000...].map(abs).max() ?? 0
        #expect(echo < 0.002, "\(echo)")
    }
}
