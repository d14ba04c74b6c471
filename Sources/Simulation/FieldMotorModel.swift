internal import CMathShim
public import GimbalCore

/// Model of three gimbal motors without encoders. The controller sets the electrical angle of the
/// stator's magnetic field, which holds the rotor like a spring.
///
/// Torque of a synchronous machine with constant excitation: `peak * power * sin(field - polePairs
/// * joint - zero)`, plus the damping of eddy currents and back-EMF. Beyond 90 electrical degrees
/// the torque decreases. The model therefore includes rotors that slip by whole pole pairs. Copper
/// losses heat the winding, and its resistance increases. The higher resistance reduces the torque
/// of a voltage-driven motor.
public struct FieldMotorModel: Sendable {
    /// Properties of the motors.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Number of pole pairs of the rotor; 7 in the usual 12N14P motor.
        public var polePairs = 7.0
        /// Torque of the cold motor at full power and 90 electrical degrees, N·m.
        public var peakTorque = AxisVector(repeating: 0.25)
        /// Electrical angle of the field at joint angle zero, rad; the controller does not use this
        /// value.
        public var zero = AxisVector(yaw: 0.7, roll: 2.6, pitch: -1.9)
        /// Damping by eddy currents and back-EMF, N·m·s/rad.
        public var damping = 1.5e-3
        /// Final temperature rise of the windings at full power, K.
        public var warming = 90.0
        /// Thermal time constant of the windings, s.
        public var thermalTime = 240.0
        /// Relative increase of the windings' resistance per kelvin, 1/K.
        public var resistanceRise = 0.0039

        /// Creates the default motors.
        public init() {}
    }

    /// Properties of the motors.
    public let parameters: Parameters
    /// Temperature of the windings above the surroundings, K.
    public private(set) var warming = AxisVector.zero

    /// Creates cold motors.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// Advances the motors by one step.
    ///
    /// - Parameters:
    ///   - output: Present field angles and powers. If the output is not enabled, no current flows.
    ///   - joints: Joint angles, rad.
    ///   - jointRates: Joint rates, rad/s.
    ///   - dt: Duration of the step, s.
    /// - Returns: Torque on the camera's side of each joint, N·m.
    public mutating func torque(
        output: MotorOutput, joints: AxisVector, jointRates: AxisVector, dt: Double
    ) -> AxisVector {
        let p = parameters
        let power = AxisVector(
            yaw: share(output.power.yaw), roll: share(output.power.roll),
            pitch: share(output.power.pitch))
        let drive = output.enabled ? power : .zero
        warming = warming + (drive * drive * p.warming - warming) * (dt / p.thermalTime)
        let load = output.field - joints * p.polePairs - p.zero
        let pull = AxisVector(
            yaw: drive.yaw * cm_sin(load.yaw) / (1 + p.resistanceRise * warming.yaw),
            roll: drive.roll * cm_sin(load.roll) / (1 + p.resistanceRise * warming.roll),
            pitch: drive.pitch * cm_sin(load.pitch) / (1 + p.resistanceRise * warming.pitch))
        return p.peakTorque * pull - jointRates * p.damping
    }

    private func share(_ power: Double) -> Double { min(max(power, 0), 1) }
}
