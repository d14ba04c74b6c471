import Configuration
import GimbalCore
import Simulation

/// A gimbal for the fault campaign, with its tuning.
struct FaultGimbal {
    /// Name of the gimbal in the rows of results.
    var name: String
    /// The physical gimbal.
    var simulated = SimulatedGimbal.Parameters()
    /// The controller's tuning: the default tuning with unknown inertia; for a random gimbal, the
    /// tuning that the daemon computes.
    var stabilizer = Stabilizer.Parameters()
    /// Ticks per second.
    var loopHz = 1000
    /// Time at which the fault occurs, s. By this time, the controller has learned bias,
    /// inertia and friction.
    var onset = 5.0
    /// Parameters of a variant of this gimbal with 1000 ticks and samples per second; nil if the
    /// gimbal is not random.
    private var swift: (simulated: SimulatedGimbal.Parameters, stabilizer: Stabilizer.Parameters)?

    init(name: String) { self.name = name }

    /// The default plant.
    static let standard = FaultGimbal(name: "standard")

    /// A gimbal with a phone-sized camera: inertia and mass are 1/17 of the default.
    static let phone = {
        var gimbal = FaultGimbal(name: "phone")
        gimbal.simulated.plant.scale(inertia: 1 / 17.0, imbalance: 1 / 17.0)
        return gimbal
    }()

    /// A gimbal with the phone-sized camera and without encoders.
    static let blindPhone = {
        var gimbal = phone
        gimbal.name = "phone, no encoders"
        gimbal.simulated.encoderCounts = 0
        return gimbal
    }()

    /// The default plant with the given kind of motor.
    static func driven(by motor: MotorType) -> FaultGimbal {
        var gimbal = FaultGimbal(name: "\(motor)")
        gimbal.simulated.motor = motor
        gimbal.stabilizer.motorType = motor
        return gimbal
    }

    /// The default plant with servos that receive `frameHz` pulses per second. The tuning comes
    /// from a daemon whose configuration contains only the kind of motor and the pulse rate.
    static func servos(frameHz: Double) throws -> FaultGimbal {
        var gimbal = driven(by: .servo)
        gimbal.name = "servos at \(frameHz) Hz"
        gimbal.simulated.servo.totalDelay += 0.5 / frameHz - 0.5 / gimbal.simulated.servo.frameRate
        gimbal.simulated.servo.frameRate = frameHz
        let source = ConfigurationSource(
            config: "/dev/null",
            overrides: ["motors.type=servo", "servo.frame_hz=\(frameHz)"])
        gimbal.stabilizer = try ConfigurationLoader.load(source).settings.stabilizerParameters
        return gimbal
    }

    /// A random gimbal. The tuning comes from a daemon whose configuration contains only the kind
    /// of motor and the loop's rate.
    ///
    /// The identification of inertia and delay can take 8 s; the faults therefore occur after 9 s.
    static func drawn(seed: UInt64, motor: MotorType) throws -> FaultGimbal {
        let drawn = DrawnGimbal(seed: seed, motor: motor)
        var gimbal = FaultGimbal(name: "random \(seed), \(motor)")
        gimbal.simulated = drawn.parameters
        gimbal.stabilizer = try drawn.tuning(loopHz: drawn.loopHz)
        gimbal.loopHz = drawn.loopHz
        gimbal.onset = 9
        var swift = drawn.parameters
        swift.imu.sampleRate = 1000
        gimbal.swift = (swift, try drawn.tuning(loopHz: 1000))
        return gimbal
    }

    /// Variant of this gimbal with 1000 ticks and samples per second.
    var atFullRate: FaultGimbal {
        guard let swift else { return self }
        var gimbal = self
        (gimbal.simulated, gimbal.stabilizer) = swift
        gimbal.loopHz = 1000
        return gimbal
    }
}
