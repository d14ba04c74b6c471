import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Healthy gimbals, for which no fault may be reported; `airframe-bench sensor-faults --only
/// starts` simulates 2,025 starts.
@Suite("False alarms of the fault detection")
struct FalseAlarmTests {
    /// An oscillating loop causes repeated contradictions between gyroscope and motors, also while
    /// the handle moves.
    @Test(
        "no fault is reported for a phone-sized gimbal that a runner switches on, while its loop oscillates"
    )
    func runner() {
        var run = PointingRun.inMotion(.running, seed: 75, seconds: 4)
        run.parameters.plant.inertia = run.parameters.plant.inertia * (1 / 17.0)
        #expect(FalseAlarms.names(in: run.run().conditions) == "")
    }

    /// Difficult starts: a first sample with the length of gravity that points up, a handle whose
    /// rate changes faster than the encoders show, and overloaded rotors.
    @Test(
        "no fault is reported if the gimbal is switched on in motion",
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

    private static func start(seed: UInt64, motor: MotorType) throws -> GalleryRun.Outcome {
        var run = GalleryRun(gimbal: DrawnGimbal(seed: seed, motor: motor), motion: .still)
        run.seconds = 9
        return try run.run()
    }

    /// One axis is measured before the others, and its gains rise while the camera still falls or
    /// trembles with the probes.
    @Test(
        "no oscillation is reported while the inertia is measured one axis after the other",
        arguments: [1060, 1076, 1080, 1136] as [UInt64])
    func oneAfterTheOther(seed: UInt64) throws {
        let outcome = try Self.start(seed: seed, motor: .torque)
        #expect(outcome.start < 4)
        #expect(!outcome.faults.intersects(.loopOscillating))
        #expect(outcome.isHeld && !outcome.isOscillating)
    }

    /// The set-point of a camera that rises to level requires much of the motors' torque.
    @Test(
        "no oscillation is reported when brushless motors without encoders turn a heavy camera to level",
        arguments: [22, 188, 325, 358] as [UInt64])
    func rise(seed: UInt64) throws {
        let outcome = try Self.start(seed: seed, motor: .field)
        #expect(!outcome.faults.intersects(.loopOscillating))
        #expect(outcome.isHeld && !outcome.isOscillating)
    }

    /// Servo horns receive the commands of a whole PWM frame at once, and turn several times as
    /// fast as the mean of the commands. The gyroscope measures this correctly.
    @Test(
        "no fault is reported for servos with slow pulses in a walker's hand, in any mode",
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
