internal import CMathShim

/// Friction of one joint: elastic bristles that slide (LuGre model), so that sticking, breaking
/// away and sliding are one smooth law without separate cases.
///
/// Source: Canudas de Wit, Olsson, Åström & Lischinsky, "A New Model for Control of Systems with
/// Friction", IEEE TAC 40 (1995). The bristle equation is integrated exactly over a step of
/// constant velocity, so it is stable at any step size.
public struct JointFriction: Sendable, BitwiseCopyable {
    /// The friction of a joint.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Sliding friction, N·m.
        public var coulomb = 0.010
        /// Break-away friction, N·m, not below `coulomb`.
        public var stiction = 0.015
        /// Viscous friction, N·m·s/rad.
        public var viscous = 1e-3
        /// Speed at which most of the difference between stiction and Coulomb friction has
        /// disappeared, rad/s (Stribeck).
        public var stribeckRate = 0.05
        /// Relative increase of the friction in forward turns, and decrease in backward turns,
        /// -1...1.
        public var asymmetry = 0.0
        /// Angle by which a joint creeps before it breaks away, rad.
        public var breakawayAngle = 0.9e-3
        /// Damping of the bristles relative to critical damping for `inertia`.
        public var bristleDamping = 0.3

        /// Creates the friction of the default plant.
        public init() {}

        /// A joint without friction.
        public static var none: Parameters {
            var parameters = Parameters()
            parameters.coulomb = 0
            parameters.stiction = 0
            parameters.viscous = 0
            return parameters
        }
    }

    /// The friction of the joint.
    public var parameters: Parameters
    /// Mean deflection of the bristles, rad.
    private var deflection = 0.0

    /// Creates a joint with relaxed bristles.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// The friction's torque on the outer part over the next `dt` seconds.
    ///
    /// - Parameters:
    ///   - rate: Joint rate, rad/s.
    ///   - inertia: Inertia that moves with the joint, kg·m², for the bristles' damping.
    ///   - dt: Seconds.
    /// - Returns: Torque, N·m, opposite to the motion.
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
            // The solution of dz/dt = v - |v| stiffness / level * z relaxes towards sign(v) level /
            // stiffness.
            let steady = rate > 0 ? level / stiffness : -level / stiffness
            deflection =
                steady + (deflection - steady) * cm_exp(-speed * stiffness / level * dt)
        }
        let damping = 2 * p.bristleDamping * cm_sqrt(stiffness * inertia)
        // Bristle damping fades with speed (as in later LuGre variants); otherwise it would act as
        // additional viscous friction.
        let fade = cm_exp(-slow * slow)
        return
            -(stiffness * deflection + damping * fade * (deflection - before) / dt
            + p.viscous * rate)
    }
}
