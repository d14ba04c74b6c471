import Configuration
import GimbalCore
import Port
import Simulation
import Testing

/// PID triples on the complete simulated gimbal. `airframe-bench gains` runs the whole grid.
@Suite("PID triples in the closed loop")
struct AirOSScaleLoopTests {
    static let corners = [
        PIDTriple(p: 0, i: 0, d: 0), PIDTriple(p: 5, i: 1, d: 0.5), PIDTriple(p: 0, i: 1, d: 0),
        PIDTriple(p: 5, i: 0, d: 0),
    ]

    @Test(
        "torque motors keep the camera within 0.06° of the set-point with extreme slider positions",
        arguments: corners)
    func torque(_ triple: PIDTriple) {
        let error = Self.error(.torque, triple)
        #expect(error < 0.06, "\(error)°")
    }

    @Test(
        "servos keep the camera within 0.5° of the set-point with extreme slider positions",
        arguments: corners)
    func servo(_ triple: PIDTriple) {
        let error = Self.error(.servo, triple)
        #expect(error < 0.5, "\(error)°")
    }

    @Test(
        "motors without encoders keep the camera within 0.06° of the set-point with extreme slider positions",
        arguments: corners)
    func field(_ triple: PIDTriple) {
        let error = Self.error(.field, triple)
        #expect(error < 0.06, "\(error)°")
    }

    /// Largest attitude error from 1.3 s to 1.8 s after a step of the set-point, degrees.
    private static func error(_ motor: MotorType, _ triple: PIDTriple) -> Double {
        let pan = PIDTriple(p: triple.p * 0.6, i: triple.i * 0.5, d: triple.d * 0.4)
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: motor)
        var tuning = loop.stabilizer.parameters
        AirOSScale.apply(PerAxis(yaw: pan, roll: triple, pitch: triple), to: &tuning)
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 2.2)
        loop.ask(.point(target: AxisVector(yaw: 0.1, roll: 0.05, pitch: 0.1), duration: 0))
        loop.run(seconds: 1.3)
        var largest = 0.0
        loop.run(seconds: 0.5) { largest = max(largest, $0.snapshot.attitudeError.norm) }
        #expect(loop.output.enabled)
        return largest * StabilizedGimbalTests.degrees
    }
}
