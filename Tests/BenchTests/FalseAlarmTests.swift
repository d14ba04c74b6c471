import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Nothing is wrong, and nothing may be named; `airframe-bench sensor-faults --only starts` has
/// 2,025 of these starts.
@Suite("False alarms")
struct FalseAlarmTests {
    /// A loop that swings has one dispute after the other; a runner's handle does not wait for
    /// their end.
    @Test("a runner who switches on a phone-sized gimbal is told no fault while its loop swings")
    func runner() {
        var run = PointingRun.inMotion(.running, seed: 75, seconds: 4)
        run.parameters.plant.inertia = run.parameters.plant.inertia * (1 / 17.0)
        #expect(FalseAlarms.names(in: run.run().conditions) == "")
    }

    /// A first sample with gravity's length that points up; a handle whose rate changes faster than
    /// the encoders show; rotors that are overloaded.
    @Test(
        "people who switch on in motion are told no fault",
        arguments: [
            (MotorType.torque, HandleMotion.running, UInt64(53), 1.0),
            (.servo, .running, 53, 1), (.torque, .running, 13, 1 / 17),
            (.field, .walking, 32, 4),
        ])
    func starts(type: MotorType, motion: HandleMotion, seed: UInt64, inertia: Double) {
        var run = PointingRun.inMotion(motion, seed: seed, seconds: 4)
        run.use(type)
        run.parameters.plant.inertia = run.parameters.plant.inertia * inertia
        #expect(FalseAlarms.names(in: run.run().conditions) == "")
    }

    /// The horns of servos receive the commands of a whole frame at once, and turn several times as
    /// fast as the mean of the commands. The gyroscope is right to show that.
    @Test(
        "servos with slow pulses are told no fault in a walker's hand, in any mode",
        arguments: [73.0, 50], [2, 3, 4] as [UInt64])
    func slowPulses(frameHz: Double, seed: UInt64) throws {
        let gimbal = try FaultGimbal.servos(frameHz: frameHz)
        for mode in FaultCampaign().modes {
            let run = FaultRun(fault: .gyroBurst, mode: mode, seed: seed, gimbal: gimbal)
            let healthy = run.trace(isFaulty: false, seconds: 3)
            let held = healthy.points.reduce(into: Conditions.none) { $0.insert($1.conditions) }
            #expect(FalseAlarms.names(in: held) == "", "\(mode)")
        }
    }
}
