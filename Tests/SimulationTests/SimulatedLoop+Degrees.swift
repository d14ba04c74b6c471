import GimbalCore
import Simulation

/// Quantities of a closed loop in degrees.
extension SimulatedLoop {
    /// True yaw, roll and pitch of the camera, degrees.
    var camera: AxisVector { EulerZXY.angles(gimbal.attitude) * (180 / Double.pi) }
    /// True yaw, roll and pitch of the handle, degrees.
    var handle: AxisVector { EulerZXY.angles(gimbal.base.attitude) * (180 / Double.pi) }
    /// Conditions after the newest tick.
    var conditions: Conditions { snapshot.conditions }
    /// True if all outputs of the stabilizer are finite.
    var isFinite: Bool {
        snapshot.attitude.isFinite && snapshot.rate.isFinite && snapshot.bias.isFinite
            && snapshot.inclinationSigma.isFinite && output.torque.isFinite
    }
}
