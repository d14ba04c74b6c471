import Foundation
import GimbalCore
import Simulation
import Testing

/// Measures by which factor a camera on servos reduces or amplifies the handle's swing at each
/// frequency.
@Suite("Sensitivity of servos to motion of the handle")
struct ServoSensitivityTests {
    private typealias Swing = (hertz: Double, degrees: Double)

    /// Amplitude of the handle's swing at each frequency, degrees. From 8 Hz on, the values are
    /// five times those of a walker, so that the dead band of 0.2° does not hide the swing.
    private static let walker: [Swing] = [
        (1.5, 1.5), (3, 1), (5.5, 0.5), (8.5, 0.6), (12.5, 0.5), (19, 0.4),
    ]
    /// Start of the measurement, s. The motion starts earlier, and the estimate settles.
    private static let settled = 8.0
    /// Duration of the measurement, s, a whole number of periods of each frequency.
    private static let measured = 20.0

    /// Handle that swings about its pitch axis at all given frequencies at once. The handle is
    /// still for the first second.
    private static func swinging(_ swings: [Swing]) -> RecordedMotion {
        let rate = 500.0
        let samples = (0..<Int((settled + measured + 2) * rate)).map { index in
            let time = Double(index) / rate
            let share = min(max(time - 1, 0), 1)
            var (angle, turning) = (0.0, 0.0)
            for (order, swing) in swings.enumerated() {
                let omega = 2 * Double.pi * swing.hertz
                let size = swing.degrees * .pi / 180 * share * share
                angle += size * sin(omega * time + Double(order))
                turning += size * omega * cos(omega * time + Double(order))
            }
            return IMUSample(
                time: Instant(nanoseconds: Int64(time * 1e9)), gyro: Vector3(0, turning, 0),
                accel: Quaternion.aboutY(angle).inverseRotate(Vector3(0, 0, -9.80665)))
        }
        return RecordedMotion(samples, sampleRate: rate)
    }

    /// Ratio of the camera's to the handle's amplitude at each frequency, from the true pitch
    /// angles.
    private static func ratios(
        of swings: [Swing], later: Double, leavesTremor: Bool = true
    ) -> [(hertz: Double, ratio: Double)] {
        var loop = SimulatedLoop(BaseMotion(swinging(swings), stillDuration: 0), motor: .servo) {
            $0.servo.totalDelay += later
            // The controller would treat tremor of this amplitude and duration as an oscillation.
            $1.servo.watchesOscillation = false
            $1.servo.leavesTremor = leavesTremor
        }
        loop.run(seconds: settled)
        var sums = swings.map { _ in (handle: Complex(0), camera: Complex(0)) }
        loop.run(seconds: measured) { loop in
            let handle = EulerZXY.angles(loop.gimbal.base.attitude).pitch
            let camera = EulerZXY.angles(loop.gimbal.attitude).pitch
            for (index, swing) in swings.enumerated() {
                let turn = Complex(phase: -2 * .pi * swing.hertz * loop.seconds)
                sums[index].handle = sums[index].handle + turn * handle
                sums[index].camera = sums[index].camera + turn * camera
            }
        }
        return zip(swings, sums).map {
            ($0.hertz, $1.camera.magnitude / $1.handle.magnitude)
        }
    }

    /// A loop with a delay that attenuates low frequencies must amplify higher ones (Bode's
    /// integral). If each frequency were limited to 1.2, three times as much of 1 to 4 Hz would
    /// remain.
    @Test(
        "servos that follow all motion attenuate steps, and amplify 8.5 Hz by at most 1.2",
        arguments: [0, 0.002])
    func sensitivity(later: Double) {
        let bars = [1.5: 0.12, 3: 0.25, 5.5: 0.65, 8.5: 1.2, 12.5: 2, 19: 2.5]
        for (hertz, ratio) in Self.ratios(
            of: Self.walker, later: later, leavesTremor: false)
        {
            #expect(ratio < bars[hertz] ?? 0, "at \(hertz) Hz")
        }
    }

    /// A prediction that removes the motion of steps would amplify 12 Hz by 1.4 and 25 Hz by 1.9.
    @Test(
        "tremor of one frequency is amplified by at most 1.2",
        arguments: [6.5, 8.5, 10, 12.5, 15, 19, 25, 35], [0, 0.002])
    func tremor(hertz: Double, later: Double) throws {
        let ratio = try #require(Self.ratios(of: [(hertz, 0.7)], later: later).first?.ratio)
        #expect(ratio < 1.2, "at \(hertz) Hz, \(later) s later")
    }

    @Test(
        "tremor of a swaying hand is amplified by at most 1.2, and the camera turns less than with all motion followed",
        arguments: [8.5, 12.5, 19, 25])
    func swaying(hertz: Double) {
        let (left, all) = Self.both(of: [(0.4, 2), (hertz, 0.7)])
        #expect(left.ratios[1] < 1.2 && left.ratios[0] < 0.25, "\(left)")
        #expect(left.turn < all.turn, "\(left), \(all)")
    }

    @Test(
        "for a walker with a trembling hand, the camera turns at most 2 % more than with all motion followed",
        arguments: [8.5, 12.5, 19, 25])
    func walking(hertz: Double) {
        let (left, all) = Self.both(of: [(2, 1), (hertz, 0.7)])
        #expect(left.turn < all.turn * 1.02, "\(left), \(all)")
    }

    /// Ratios, and RMS turn of the camera in degrees, with the defaults (`left`) and with all
    /// motion followed (`all`).
    private static func both(
        of swings: [Swing]
    ) -> (left: (ratios: [Double], turn: Double), all: (ratios: [Double], turn: Double)) {
        func figures(leavesTremor: Bool) -> (ratios: [Double], turn: Double) {
            let ratios = ratios(of: swings, later: 0, leavesTremor: leavesTremor).map(\.ratio)
            let powers = zip(swings, ratios).map { $0.degrees * $0.degrees * $1 * $1 / 2 }
            return (ratios, powers.reduce(0, +).squareRoot())
        }
        return (figures(leavesTremor: true), figures(leavesTremor: false))
    }

    @Test(
        "the share of the motion that servos follow is reported: less with tremor, all if the filter is off"
    )
    func reported() {
        func pitch(_ swings: [Swing], leavesTremor: Bool) -> Double {
            var loop = SimulatedLoop(
                BaseMotion(Self.swinging(swings), stillDuration: 0), motor: .servo
            ) {
                $1.servo.leavesTremor = leavesTremor
            }
            loop.run(seconds: Self.settled)
            return loop.snapshot.followed.pitch
        }
        #expect(pitch([(19, 0.7)], leavesTremor: true) < 0.3)
        #expect(pitch([(1.5, 1.5)], leavesTremor: true) > 0.9)
        #expect(pitch([(19, 0.7)], leavesTremor: false) == 1)
    }

    @Test("motors of other types report no share")
    func torqueMotors() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 0.1)
        #expect(loop.snapshot.followed.pitch.isNaN)
    }
}
