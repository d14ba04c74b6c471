import Configuration
import GimbalCore
import Port
import Simulation
import Testing

/// The complete stabilizer on a gimbal with servos, carried by a walking person.
@Suite("Gimbal with servos, walking")
struct ServoGimbalTests {
    /// RMS angle between camera and set-point over the next seconds, degrees; infinite if the
    /// motors are off.
    private static func error(of loop: inout SimulatedLoop, seconds: Double) -> Double {
        var sum = 0.0
        loop.run(seconds: seconds) {
            sum += $0.output.enabled ? $0.snapshot.attitudeError.squaredNorm : .infinity
        }
        return (sum / (seconds * 1000)).squareRoot() * FieldGimbalTests.degrees
    }

    @Test(
        "a camera that turns by 75° is held at the new heading with less than 3 times the previous error"
    )
    func aside() {
        var loop = FieldGimbalTests.loop(.walking, .servo)
        loop.run(seconds: 12)
        let before = Self.error(of: &loop, seconds: 3)
        let aside = AxisVector(yaw: 1.3, roll: 0, pitch: 0)
        loop.ask(.point(target: aside, duration: 1))
        loop.run(seconds: 1.5)
        let after = Self.error(of: &loop, seconds: 1.5)
        #expect(after < 3 * before, "\(after), \(before)")
    }

    @Test(
        "for extreme positions of an app's PID sliders, walking turns the camera by less than 2° RMS",
        arguments: [0.0, 1], [0.0, 1])
    func sliders(p: Double, i: Double) {
        for d in [0.0, 1] {
            let tilt = PIDTriple(p: 5 * p, i: i, d: 0.5 * d)
            let pan = PIDTriple(p: 3 * p, i: 0.5 * i, d: 0.2 * d)
            var loop = FieldGimbalTests.loop(
                .walking, .servo,
                tune: { AirOSScale.apply(PerAxis(yaw: pan, roll: tilt, pitch: tilt), to: &$0) })
            loop.run(seconds: 11)
            let error = Self.error(of: &loop, seconds: 4)
            #expect(error < 2, "d \(d)")
        }
    }
}
