internal import CMathShim

/// Friction of one joint (LuGre model). The model of elastic, sliding bristles describes sticking,
/// break-away and sliding by one smooth equation without separate cases.
///
/// Source: Canudas de Wit, Olsson, Åström & Lischinsky, "A New Model for Control of Systems with
/// Friction", IEEE TAC 40 (1995). The model integrates the bristle equation exactly over a step of
/// constant velocity; it is therefore stable at any step size.
public struct JointFriction: Sendable, BitwiseCopyable {
    /// Friction parameters of a joint.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Coulomb (sliding) friction, N·m.
        public var coulomb = 0.010
        /// Break-away friction, N·m, not below `coulomb`.
        public var stiction = 0.015
        /// Viscous friction, N·m·s/rad.
        public var viscous = 1e-3
        /// Stribeck speed, rad/s: at this speed, most of the difference between stiction and
        /// Coulomb friction has disappeared.
        public var stribeckRate = 0.05
        /// Relative increase of the friction at positive rates, and decrease at negative rates,
        /// -1...1.
        public var asymmetry = 0.0
        /// Angle by which a joint creeps before break-away, rad.
        public var breakawayAngle = 0.9e-3
        /// Damping of the bristles relative to critical damping for `inertia`.
        public var bristleDamping = 0.3

        /// Creates the friction of the default plant.
        public init() {}

        /// Parameters of a joint without friction.
        public static var none: Parameters {
            var parameters = Parameters()
            parameters.coulomb = 0
            parameters.stiction = 0
            parameters.viscous = 0
            return parameters
        }
    }

    /// Parameters of the joint's friction.
    public var parameters: Parameters
    /// Mean deflection of the bristles, rad.
    private var deflection = 0.0

    /// Creates a joint with relaxed bristles.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// Advances the bristles by `dt`, and returns the friction torque on the camera's side of the
    /// joint.
    ///
    /// - Parameters:
    ///   - rate: Joint rate, rad/s.
    ///   - inertia: Moment of inertia that moves with the joint, kg·m²; the bristles' damping
    ///     depends on this inertia.
    ///   - dt: Duration of the step, s.
    /// - Returns: Torque opposite to the motion, N·m.
    public mutating func torque(rate: Double, inertia: Double, dt: Double) -> Double {
        let p = parameters
        guard p.stiction > 0 else { return -p.viscous * rate }
        let stiffness = p.stiction / p.breakawayAngle
        let slow = rate / p.stribeckRate
        let side = rate > 0 ? 1 + p.asymmetry : 1 - p.asymmetry
        let level = (p.coulomb + (p.stiction - p.coulomb) * cm_exp(-slow * slow)) * side
        let speed = abs(rate)
        let before = deflection
        if speed > 1e-12 {
            // The solution z of dz/dt = v - |v| stiffness / level * z converges to sign(v) level /
            // stiffness.
            let steady = rate > 0 ? level / stiffness : -level / stiffness
            deflection =
                steady + (deflection - steady) * cm_exp(-speed * stiffness / level * dt)
        }
        let damping = 2 * p.bristleDamping * cm_sqrt(stiffness * inertia)
        // The bristles' damping decreases with speed, as in later variants of the LuGre model. If
        // the bristles' damping did not decrease, it would act as additional viscous friction.
        let fade = cm_exp(-slow * slow)
        return
            -(stiffness * deflection + damping * fade * (deflection - before) / dt
            + p.viscous * rate)
    }
}
