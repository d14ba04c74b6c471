/// Two driven wheels: what somebody asks for, limited, ramped, and braked when nobody asks any
/// more. Pure; one thread.
public struct DriveModel: Sendable, BitwiseCopyable {
    /// What the owner decides.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest share of full speed, 0...1.
        public var limit = 1.0
        /// Share of full speed that may be gained in a second, 1/s.
        public var acceleration = 2.0
        /// Share of full speed that may be lost in a second, 1/s; braking may be harder than
        /// setting off.
        public var deceleration = 5.0

        /// The defaults: half a second to full speed, a fifth to a stop.
        public init() {}
    }

    /// What somebody asks for.
    public struct Request: Sendable, BitwiseCopyable {
        /// Share of full speed, -1...1, forwards positive; more counts as 1.
        public var left: Double
        /// The same on the right.
        public var right: Double
        /// The dead-man: from then on it counts as a wish to stand.
        public var validUntil: Instant

        /// A request with these values.
        public init(left: Double, right: Double, validUntil: Instant) {
            self.left = left
            self.right = right
            self.validUntil = validUntil
        }

        /// Nobody has asked for anything.
        public static var none: Request {
            Request(left: 0, right: 0, validUntil: Instant(nanoseconds: .min))
        }
    }

    /// What the owner decides.
    public var parameters: Parameters
    /// Speed of the left wheel now, share of full speed.
    public private(set) var left = 0.0
    /// Speed of the right wheel now, share of full speed.
    public private(set) var right = 0.0

    /// Wheels that stand.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// One period.
    ///
    /// - Parameters:
    ///   - request: The newest; what is not finite counts as a wish to stand.
    ///   - now: The time of this period.
    ///   - dt: Seconds since the one before, at most 0.2: a thread that slept does not leap.
    public mutating func step(_ request: Request, now: Instant, dt: Double) {
        let isValid = now < request.validUntil && request.left.isFinite && request.right.isFinite
        let dt = min(max(dt, 0), 0.2)
        left = next(left, towards: isValid ? request.left : 0, dt: dt)
        right = next(right, towards: isValid ? request.right : 0, dt: dt)
    }

    /// At once, without a ramp.
    public mutating func stop() {
        left = 0
        right = 0
    }

    private func next(_ speed: Double, towards wish: Double, dt: Double) -> Double {
        let limit = min(max(parameters.limit, 0), 1)
        let goal = min(max(wish, -limit), limit)
        // A change of direction brakes to a stop first.
        let isBraking = speed * goal < 0 || abs(goal) < abs(speed)
        let step = (isBraking ? parameters.deceleration : parameters.acceleration) * dt
        let aim = speed * goal < 0 ? 0 : goal
        return speed + min(max(aim - speed, -step), step)
    }
}
