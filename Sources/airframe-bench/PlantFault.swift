import GimbalCore
import Simulation

/// A plant that is not, or no longer, what the controller believes.
enum PlantFault: String, CaseIterable {
    case lighter = "a camera of a third of the inertia, while on"
    case heavier = "a camera of three times the inertia, while on"
    case later = "a loop 5 ms later than believed"
    case sooner = "a loop 5 ms sooner than believed"
    case slowSamples = "250 samples a second, 1000 ticks"
    case staleLight = "a saved inertia of four times the camera's"
    case staleHeavy = "a saved inertia of a third of the camera's"

    /// Ticks per second, where the fault says so.
    var loopHz: Int? { self == .slowSamples ? 1000 : nil }

    /// True for the kinds of motors that it concerns: servos know no inertia, and motors without encoders save none that they do not
    /// look for.
    func concerns(_ motor: MotorType) -> Bool {
        switch self {
        case .staleLight, .staleHeavy: motor == .torque
        default: true
        }
    }

    /// Settings that it overrides.
    func settings(for gimbal: DrawnGimbal) -> [String] {
        switch self {
        case .sooner:
            [
                "control.loop_delay_ms=\(8.5 + 1000 / Double(gimbal.loopHz) - 1)",
                "servo.delay_ms=20",
            ]
        case .staleLight: saved(4, gimbal)
        case .staleHeavy: saved(1 / 3.0, gimbal)
        case .lighter, .heavier, .later, .slowSamples: []
        }
    }

    private func saved(_ factor: Double, _ gimbal: DrawnGimbal) -> [String] {
        let inertia = gimbal.parameters.plant.inertia
        let constant = gimbal.parameters.motorConstant
        let values = [GimbalAxis.yaw, .roll, .pitch].map {
            "\(min(max(inertia[$0] / constant[$0] * factor, 1e-5), 1))"
        }
        return [
            "control.find_inertia=false",
            "control.inertia_kg_m2=[\(values.joined(separator: ", "))]",
        ]
    }

    /// Changes the gimbal from the beginning.
    func change(_ parameters: inout SimulatedGimbal.Parameters) {
        switch self {
        case .later:
            parameters.transportDelay += 5e-3
            parameters.servo.totalDelay += 5e-3
        case .slowSamples: parameters.imu.sampleRate = 250
        case .lighter, .heavier, .sooner, .staleLight, .staleHeavy: break
        }
    }

    /// Changes the gimbal when the figures begin.
    func strike(_ gimbal: inout SimulatedGimbal) {
        switch self {
        case .lighter: gimbal.scaleInertia(by: 1 / 3.0)
        case .heavier: gimbal.scaleInertia(by: 3)
        case .later, .sooner, .slowSamples, .staleLight, .staleHeavy: break
        }
    }
}
