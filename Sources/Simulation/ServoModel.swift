/// Model of one hobby servo, from its pulse to the angle of its horn. The model has a rate limit, a
/// first-order position loop and a dead band.
public struct ServoModel: Sendable {
    /// Properties of the servo and of its pulses.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Pulse rate, Hz. A command takes effect with the next pulse.
        public var frameRate = 333.0
        /// Total delay from command to movement, s: the mean wait for a pulse (half a frame), the
        /// transport, and the lag of the position loop.
        public var totalDelay = 0.015
        /// Lag of the servo's own position loop, s; part of `totalDelay`.
        public var lag = 0.004
        /// Largest rate, rad/s.
        public var maxRate = 600 * Double.pi / 180
        /// Dead band, rad: smallest difference between commanded angle and horn angle at which the
        /// motor starts.
        public var deadBand = 0.2 * Double.pi / 180
        /// Range of the horn angle, ± rad.
        public var range = 1.6

        /// Creates the default servo.
        public init() {}

        /// Delay from the pulse to the start of the motor, s: `totalDelay` without the mean wait
        /// for a pulse and without `lag`.
        public var transportDelay: Double { max(totalDelay - lag - 0.5 / frameRate, 0) }
    }

    /// The servo's properties.
    public let parameters: Parameters
    /// Horn angle, rad.
    public private(set) var angle: Double
    /// Horn rate, rad/s.
    public private(set) var rate = 0.0
    private var isDriving = false

    /// Creates a servo at rest at `angle`, rad.
    public init(parameters: Parameters, angle: Double) {
        self.parameters = parameters
        self.angle = angle
    }

    /// Advances the servo by one step.
    ///
    /// - Parameters:
    ///   - target: Commanded angle, rad; nil means no pulses, and the horn does not move.
    ///   - dt: Duration of the step, s.
    public mutating func step(target: Double?, dt: Double) {
        guard let target else {
            rate = 0
            isDriving = false
            return
        }
        let goal = min(max(target, -parameters.range), parameters.range)
        let error = goal - angle
        if abs(error) > parameters.deadBand { isDriving = true }
        // The servo switches its motor off when the error is less than a tenth of the dead band.
        if abs(error) < parameters.deadBand / 10 { isDriving = false }
        guard isDriving else {
            rate = 0
            return
        }
        rate = min(max(error / parameters.lag, -parameters.maxRate), parameters.maxRate)
        angle += rate * dt
    }
}
