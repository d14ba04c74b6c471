import GimbalCore
import Glibc
import Simulation

/// A gimbal for the campaign of faults, and the tuning that it is driven with: the defaults, its inertia to be found.
struct FaultGimbal {
    /// Names the rows.
    var name: String
    /// The physics.
    var simulated = SimulatedGimbal.Parameters()
    /// The controller.
    var stabilizer = Stabilizer.Parameters()

    /// The default plant.
    static let standard = FaultGimbal(name: "standard")

    /// A camera of the size of a phone: a seventeenth of the default inertia, and of its mass.
    static let phone = {
        var gimbal = FaultGimbal(name: "phone")
        gimbal.simulated.plant.scale(inertia: 1 / 17.0, imbalance: 1 / 17.0)
        return gimbal
    }()

    /// The phone without encoders.
    static let blindPhone = {
        var gimbal = phone
        gimbal.name = "phone, no encoders"
        gimbal.simulated.encoderCounts = 0
        return gimbal
    }()

    /// The default plant driven in this way.
    static func driven(by motor: MotorType) -> FaultGimbal {
        var gimbal = FaultGimbal(name: "\(motor)")
        gimbal.simulated.motor = motor
        gimbal.stabilizer.motorType = motor
        return gimbal
    }

    /// A gimbal at random: inertia from a seventeenth to four times the default's, friction and delay from half to twice,
    /// with its own sensor; torque motors, two in three with encoders.
    static func drawn(seed: UInt64) -> FaultGimbal {
        var random = RandomSource(seed: seed, stream: 0xFA17)
        func between(_ low: Double, _ high: Double) -> Double {
            low * pow(high / low, random.uniform())
        }
        var gimbal = FaultGimbal(name: "drawn \(seed)")
        let inertia = between(1 / 17.0, 4)
        gimbal.simulated.plant.scale(
            inertia: inertia, friction: between(0.5, 2),
            imbalance: min(inertia, 1) * random.uniform())
        gimbal.simulated.transportDelay *= between(0.5, 2)
        gimbal.simulated.imu.gyroNoiseDensity *= between(0.5, 2)
        if random.uniform() < 1 / 3.0 { gimbal.simulated.encoderCounts = 0 }
        return gimbal
    }
}
