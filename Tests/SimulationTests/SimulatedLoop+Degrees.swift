import GimbalCore
import Simulation

/// Quantities of a closed loop in degrees.
extension SimulatedLoop {
    /// Yaw, roll and pitch at which the camera truly looks, degrees.
    var camera: AxisVector { EulerZXY.angles(gimbal.attitude) * (180 / Double.pi) }
    /// The same of the handle.
    var handle: AxisVector { EulerZXY.angles(gimbal.base.attitude) * (180 / Double.pi) }
    /// The conditions after the newest tick.
    var conditions: Conditions { snapshot.conditions }
    /// Whether everything that leaves the stabilizer is a number.
    var isFinite: Bool {
        snapshot.attitude.isFinite && snapshot.rate.isFinite && snapshot.bias.isFinite
            && snapshot.inclinationSigma.isFinite && output.torque.isFinite
    }
}
