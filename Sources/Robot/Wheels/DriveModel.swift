public import GimbalCore

/// Speed controller of a robot with two driven wheels: it limits the requested speeds and ramps the
/// wheels towards these speeds. After a request has expired, the wheels brake to a stop. The model
/// does not read a clock and has no side effects. Use a `DriveModel` from only one thread.
public struct DriveModel: Sendable, BitwiseCopyable {
    /// Configured limits.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest speed, as a fraction of full speed, 0...1. If a requested speed is larger, both
        /// speeds are reduced by the same factor.
        public var limit = 1.0
        /// Largest acceleration as a fraction of full speed, 1/s. A value of 2 means full speed
        /// after 0.5 s.
        public var acceleration = 2.0
        /// Largest deceleration as a fraction of full speed, 1/s; it can be larger than
        /// `acceleration`.
        public var deceleration = 5.0

        /// Creates the default limits: 0.5 s to full speed, 0.2 s to a stop.
        public init() {}
    }

    /// A request for wheel speeds.
    public struct Request: Sendable, BitwiseCopyable {
        /// Requested speed of the left wheel, as a fraction of full speed, -1...1, forwards
        /// positive; a value outside this range is limited.
        public var left: Double
        /// Requested speed of the right wheel, as a fraction of full speed, -1...1, forwards
        /// positive; a value outside this range is limited.
        public var right: Double
        /// Time at which the request expires and the wheels stop (dead-man timeout).
        public var validUntil: Instant
        /// True if the wheels stop immediately, without a ramp.
        public private(set) var isImmediate = false

        /// Creates a request.
        public init(left: Double, right: Double, validUntil: Instant) {
            self.left = left
            self.right = right
            self.validUntil = validUntil
        }

        /// No request: the wheels stop.
        public static var none: Request {
            Request(left: 0, right: 0, validUntil: Instant(nanoseconds: .min))
        }

        /// Emergency stop: the wheels stop immediately, without a ramp.
        public static var emergencyStop: Request {
            var request = Request.none
            request.isImmediate = true
            return request
        }
    }

    /// Configured limits.
    public var parameters: Parameters
    /// Present speed of the left wheel, as a fraction of full speed, forwards positive.
    public private(set) var left = 0.0
    /// Present speed of the right wheel, as a fraction of full speed, forwards positive.
    public private(set) var right = 0.0

    /// Creates wheels at rest.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// Computes the wheel speeds of the next period.
    ///
    /// - Parameters:
    ///   - request: The newest request. If a requested speed is not finite, both speeds count as
    ///     zero.
    ///   - now: The time of the present period.
    ///   - dt: Seconds since the previous period, limited to 0.2. The limit avoids a jump after a
    ///     delay of the thread.
    public mutating func step(_ request: Request, now: Instant, dt: Double) {
        if request.isImmediate { return stop() }
        let isValid = now < request.validUntil && request.left.isFinite && request.right.isFinite
        let dt = min(max(dt, 0), 0.2)
        let factor = factor(for: request)
        left = next(left, towards: isValid ? request.left * factor : 0, dt: dt)
        right = next(right, towards: isValid ? request.right * factor : 0, dt: dt)
    }

    /// Factor that reduces the requested speeds to the limit. The factor is the same for both
    /// wheels, because their ratio determines the curve: if only the faster wheel became slower, a
    /// robot with a low limit would drive straight on.
    private func factor(for request: Request) -> Double {
        let limit = min(max(parameters.limit, 0), 1)
        let largest = max(abs(request.left), abs(request.right))
        return largest > limit ? limit / largest : 1
    }

    /// Sets both wheel speeds to zero immediately, without a ramp.
    public mutating func stop() {
        left = 0
        right = 0
    }

    private func next(_ speed: Double, towards goal: Double, dt: Double) -> Double {
        // If a wheel must change its direction, it first brakes to a stop.
        let isBraking = speed * goal < 0 || abs(goal) < abs(speed)
        let step = (isBraking ? parameters.deceleration : parameters.acceleration) * dt
        let aim = speed * goal < 0 ? 0 : goal
        return speed + min(max(aim - speed, -step), step)
    }
}
