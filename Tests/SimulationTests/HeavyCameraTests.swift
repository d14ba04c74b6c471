import GimbalCore
import Simulation
import Testing

@Suite("Camera that is too heavy for the configured acceleration")
struct HeavyCameraTests {
    /// Gimbal in locked mode, 4 s after the start. The camera's inertia is `inertia` times the usual
    /// inertia.
    private static func loop(_ motor: MotorType, inertia: Double) -> SimulatedLoop {
        var loop = FieldGimbalTests.loop(.still, motor) {
            $0.plant.inertia = $0.plant.inertia * inertia
        }
        loop.run(seconds: 4)
        return loop
    }

    /// Turns the camera down, and returns its largest angle beyond the target, degrees, and whether
    /// a motor was at its limit.
    private static func turn(_ loop: inout SimulatedLoop, to pitch: Double) -> (Double, Bool) {
        loop.ask(
            .point(
                target: AxisVector(yaw: .nan, roll: .nan, pitch: pitch * .pi / 180), duration: 0,
                rate: 0))
        var (beyond, isSaturated) = (0.0, false)
        loop.run(seconds: 2) {
            beyond = max(beyond, pitch - $0.camera.pitch)
            if $0.conditions.intersects(.motorSaturated) { isSaturated = true }
        }
        return (beyond, isSaturated)
    }

    @Test(
        "the set-point accelerates as fast as the motors permit, so they are not saturated",
        arguments: [MotorType.torque, .field])
    func turn(motor: MotorType) {
        var loop = Self.loop(motor, inertia: 4)
        let share = loop.snapshot.motion.acceleration
        // 60 % of 0.25 N·m / 0.01 kg·m², divided by 3000 °/s².
        #expect(abs(share / 0.286 - 1) < 0.35, "\(share)")
        #expect(loop.snapshot.motion.rate == 1)
        let (beyond, isSaturated) = Self.turn(&loop, to: -60)
        #expect(beyond < 1, "\(beyond)°")
        #expect(!isSaturated)
        #expect(abs(loop.camera.pitch + 60) < 1)
    }

    @Test(
        "a camera of usual weight has the configured acceleration, also with servos",
        arguments: [MotorType.torque, .field, .servo])
    func usual(motor: MotorType) {
        #expect(Self.loop(motor, inertia: 1).snapshot.motion.acceleration == 1)
    }
}
