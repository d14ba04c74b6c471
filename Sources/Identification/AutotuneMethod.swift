public import GimbalCore

/// Parts of autotune that depend on the kind of motor. `AutotuneRun` contains the common sequence.
protocol AutotuneMethod: Sendable {
    /// The tuning before the run.
    var present: Stabilizer.Parameters { get }
    /// Of the camera, while it is excited, rad.
    var largestSwing: Double { get }
    /// Initial amplitude of the search, as a share of the full scale.
    var firstShare: Double { get }
    /// A model that leaves more than this was measured in a loop that swings once it is shaken.
    var doubtfulResidual: Double { get }
    /// Takes hold of nothing for a moment, so that integrals empty themselves; nil where there are
    /// none.
    var limp: Stabilizer.Parameters? { get }
    /// A tuning for an axis of which nothing is known but its motor.
    var soft: Stabilizer.Parameters { get }

    /// Full scale of the axis: N·m, or rad for servos.
    func fullScale(_ axis: GimbalAxis) -> Double
    /// Takes what belongs to the axis out of a tick.
    func record(_ snapshot: StabilizerSnapshot, in record: inout ExcitationRecord)
    /// Result from the record.
    ///
    /// - Parameters:
    ///   - record: Whole periods.
    ///   - inForce: The tuning under which it was made.
    ///   - tickRate: Hz.
    /// - Returns: Nil when no model fits.
    func identify(
        _ record: ExcitationRecord, inForce: Stabilizer.Parameters, tickRate: Double
    ) -> AutotuneRun.AxisResult?
    /// A tuning to measure with: `tuning` with what was found roughly, a little softer than the
    /// optimum.
    func trial(
        after tuning: Stabilizer.Parameters, with rough: AutotuneRun.AxisResult
    ) -> Stabilizer.Parameters
    /// The tuning with everything that was found.
    func proposal(_ results: [AutotuneRun.AxisResult]) -> Stabilizer.Parameters
}

extension AutotuneRun {
    /// Result of one axis.
    public struct AxisResult: Sendable {
        /// The axis.
        public var axis: GimbalAxis
        /// The points of the frequency response: rate per moment, or the camera's angle per angle
        /// that a servo was told.
        public var points: [ResponsePoint]
        /// The model that fits them, and what follows from it.
        public var finding: Finding
        /// Root mean square of the relative error that the model leaves.
        public var residual: Double

        /// Margins of the proposed tuning.
        public var margins: LoopMargins {
            switch finding {
            case .motor(let motor): motor.design.margins
            case .servo(let servo): servo.design.margins
            }
        }

        /// The motor, unless it is a servo.
        public var motor: MotorFinding? {
            if case .motor(let motor) = finding { motor } else { nil }
        }

        /// The servo, if it is one.
        public var servo: ServoFinding? {
            if case .servo(let servo) = finding { servo } else { nil }
        }

        /// The model at `omega`, rad/s; in the unit of the points.
        public func plant(omega: Double) -> Complex {
            switch finding {
            case .motor(let motor): motor.model.response(omega: omega)
            case .servo(let servo): servo.model.response(omega: omega)
            }
        }

        /// The open loop with the proposed tuning at `omega`, rad/s.
        public func loop(omega: Double) -> Complex {
            switch finding {
            case .motor(let motor):
                motor.design.response(omega: omega) * motor.model.response(omega: omega)
            case .servo(let servo):
                LoopMargins.response(of: servo.design.parameters, axis: axis, omega: omega)
            }
        }
    }

    /// A model with what follows from it.
    public enum Finding: Sendable {
        /// Of a motor that exerts torque.
        case motor(MotorFinding)
        /// Of a position servo.
        case servo(ServoFinding)
    }

    /// Load of a motor.
    public struct MotorFinding: Sendable {
        /// From moment to rate.
        public var model: PlantModel
        /// Coulomb friction, N·m.
        public var coulomb: Double
        /// Viscous friction, N·m·s/rad.
        public var viscous: Double
        /// Gains with 6 dB and 45°.
        public var design: GainDesign
    }

    /// Response of a servo.
    public struct ServoFinding: Sendable {
        /// From what it is told to the camera's angle.
        public var model: ServoResponse
        /// Parameters of its controller, and its bandwidth.
        public var design: ServoDesign
    }
}
