public import GimbalCore

/// Parts of autotune that depend on the kind of motor. `AutotuneRun` contains the common sequence.
protocol AutotuneMethod: Sendable {
    /// The tuning before the autotune run.
    var present: Stabilizer.Parameters { get }
    /// Largest permitted rotation of the camera due to the excitation, rad.
    var largestSwing: Double { get }
    /// Initial amplitude of the excitation, as a fraction of `fullScale`.
    var firstShare: Double { get }
    /// Threshold of the model's relative residual. Above this threshold, the loop has probably
    /// oscillated during the measurement.
    var doubtfulResidual: Double { get }
    /// Tuning in which the motors exert almost no torque. The run uses the tuning `limp` briefly to
    /// reset the controller's integrals; nil for a controller without integrals.
    var limp: Stabilizer.Parameters? { get }
    /// Tuning that is stable for an axis of unknown inertia.
    var soft: Stabilizer.Parameters { get }

    /// Largest possible excitation of the axis: N·m, or rad for servos.
    func fullScale(_ axis: GimbalAxis) -> Double
    /// Records the values of the axis at one tick.
    func record(_ snapshot: StabilizerSnapshot, in record: inout ExcitationRecord)
    /// Identifies the model of the axis from the record of its excitation.
    ///
    /// - Parameters:
    ///   - record: Record of whole periods of the excitation.
    ///   - inForce: The tuning that was active during the recording.
    ///   - tickRate: Ticks per second, Hz.
    /// - Returns: The model and the design; nil if no model fits.
    func identify(
        _ record: ExcitationRecord, inForce: Stabilizer.Parameters, tickRate: Double
    ) -> AutotuneRun.AxisResult?
    /// From the rough results, computes the tuning for the final measurement. The gains of the
    /// trial tuning are slightly lower than the designed gains.
    func trial(
        after tuning: Stabilizer.Parameters, with rough: AutotuneRun.AxisResult
    ) -> Stabilizer.Parameters
    /// Computes the proposed tuning from all results.
    func proposal(_ results: [AutotuneRun.AxisResult]) -> Stabilizer.Parameters
}

extension AutotuneRun {
    /// Result of the autotune of one axis.
    public struct AxisResult: Sendable {
        /// The identified axis.
        public var axis: GimbalAxis
        /// Points of the frequency response from moment to rate; for a servo, from commanded angle
        /// to camera angle.
        public var points: [ResponsePoint]
        /// The model that fits the points, and the resulting design.
        public var finding: Finding
        /// Root mean square of the relative difference between the points and the model.
        public var residual: Double

        /// Stability margins of the proposed tuning.
        public var margins: LoopMargins {
            switch finding {
            case .motor(let motor): motor.design.margins
            case .servo(let servo): servo.design.margins
            }
        }

        /// The result for a motor; nil for a servo.
        public var motor: MotorFinding? {
            if case .motor(let motor) = finding { motor } else { nil }
        }

        /// The result for a servo; nil for a motor.
        public var servo: ServoFinding? {
            if case .servo(let servo) = finding { servo } else { nil }
        }

        /// Frequency response of the model at `omega`, rad/s, in the unit of the points.
        public func plant(omega: Double) -> Complex {
            switch finding {
            case .motor(let motor): motor.model.response(omega: omega)
            case .servo(let servo): servo.model.response(omega: omega)
            }
        }

        /// Frequency response of the open loop with the proposed tuning at `omega`, rad/s.
        public func loop(omega: Double) -> Complex {
            switch finding {
            case .motor(let motor):
                motor.design.response(omega: omega) * motor.model.response(omega: omega)
            case .servo(let servo):
                LoopMargins.response(
                    of: servo.design.parameters, axis: axis, omega: omega, lead: servo.design.lead)
            }
        }
    }

    /// Model of an axis, and the design that results from it.
    public enum Finding: Sendable {
        /// Result for a motor that exerts torque.
        case motor(MotorFinding)
        /// Result for a position servo.
        case servo(ServoFinding)
    }

    /// Identified load of a motor, and the gains for this load.
    public struct MotorFinding: Sendable {
        /// Model of the response from moment to rate.
        public var model: PlantModel
        /// Coulomb friction, N·m.
        public var coulomb: Double
        /// Viscous friction, N·m·s/rad.
        public var viscous: Double
        /// Gains with a gain margin of 6 dB and a phase margin of 45°.
        public var design: GainDesign
        /// Loop delay for the settings, s: the model's delay without the wait for the samples of a
        /// sensor that is slower than the loop. The controller adds this wait itself.
        public var loopDelay: Double
        /// Delay of the gyroscope relative to the joint's encoder; nil if it was not measured.
        public var gyroDelay: GyroDelay?
    }

    /// Identified response of a servo, and the tuning for this response.
    public struct ServoFinding: Sendable {
        /// Model of the response from commanded angle to camera angle.
        public var model: ServoResponse
        /// Parameters and bandwidth of the servo controller.
        public var design: ServoDesign
    }
}
