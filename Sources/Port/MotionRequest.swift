public import GimbalCore

/// Request from a source: the effect of the request, and the conditions under which the `Commander`
/// executes it. The extension below declares each kind of request once. Angles are in rad, earth
/// frame, order Z-X-Y; rates are in rad/s.
public struct MotionRequest: Sendable, Equatable {
    /// Effect of a request that the `Commander` has granted.
    public enum Effect: Sendable, Equatable {
        /// The loop executes the command.
        case camera(Command)
        /// The two wheels turn at the given fractions of full speed, -1...1.
        case wheels(left: Double, right: Double)
        /// One of the robot's stepper motors moves; its number is 0...2.
        case stepper(Int, StepRequest)
        /// The source takes control of the camera.
        case take
        /// The source releases control.
        case release
    }

    /// State in which a request is possible.
    public enum Requirement: Sendable, Equatable {
        /// Every state, even with a latched emergency stop.
        case any
        /// Every state without a latched emergency stop. Every case that is declared below also
        /// requires that no stop is latched.
        case noStop
        /// The mode is `inactive`.
        case inactive
        /// Every mode except `inactive`. Every case that is declared below also requires a mode
        /// other than `inactive`.
        case active
        /// The given mode is active.
        case mode(Mode)
        /// A mode in which the request can move at least one of the given axes. An axis without a
        /// request is NaN; if all axes are NaN, any mode is possible.
        case axes(AxisVector)
    }

    /// Kind of dead-man time. The dead-man time is the time from the receipt of a request to the
    /// end of its motion. Each case names the setting or constant with the dead-man time. There are
    /// dead-man times for rate requests, for tracking, for a motor test (0.5 s), for driving, and
    /// for stepping.
    public enum Lifetime: Sendable, Equatable {
        case rates, tracking, motorTest, driving, stepping
    }

    /// Effect of the request if it is granted.
    public let effect: Effect
    /// State in which the request is possible.
    public let requirement: Requirement
    /// Refusal because a value is outside its range; nil if every value is within its range.
    public let misfit: Refusal?
    /// The rates at which the request turns the camera, rad/s. An assistant's limit applies to
    /// these rates. In a request to turn to given angles, a rate of 0 means no limit.
    public let turnRates: [Double]
    /// Kind of dead-man time; nil for a request that does not expire.
    public let lifetime: Lifetime?
    /// True if the request starts a rotation that ends after a dead-man time; false if the request
    /// ends this rotation; nil for other requests.
    public let isTurning: Bool?
    /// True if the source of the request takes control.
    public let takesControl: Bool
}

// The kinds of requests. Each declaration states the parameters, the effect, the values with their
// ranges, the required state and the dead-man time.
extension MotionRequest {
    private init(
        _ effect: Effect, _ values: [Values], requirement: Requirement = .any,
        lifetime: Lifetime? = nil, isTurning: Bool? = nil, takesControl: Bool = true
    ) {
        self.effect = effect
        self.requirement = requirement
        misfit = values.lazy.compactMap(\.misfit).first
        turnRates = values.flatMap(\.turnRates)
        self.lifetime = lifetime
        self.isTurning = isTurning
        self.takesControl = takesControl
    }

    /// Change the mode.
    public static func mode(_ mode: Mode) -> MotionRequest {
        MotionRequest(.camera(.mode(mode)), [], requirement: .noStop)
    }

    /// Turn to the given angles within `duration`, s; the rate on each axis is at most `rate`,
    /// rad/s. A duration or a rate of 0 means as fast as the limits permit. NaN keeps the present
    /// target of an axis.
    public static func point(
        _ target: AxisVector, duration: Double, rate: Double = 0
    ) -> MotionRequest {
        MotionRequest(
            .camera(.point(target: target, duration: duration, rate: rate)),
            [
                .rates([rate], in: fastest), .angles("angle", target.all.filter { !$0.isNaN }),
                .seconds("duration", duration, in: durations),
            ], requirement: .axes(target), isTurning: false)
    }

    /// Turn at the given rates, rad/s, until the next request, or until the dead-man time of rate
    /// requests has passed. An axis with the rate 0 continues a movement to an angle; if all rates
    /// are 0, every axis stops, except an axis that a mode moves to level.
    public static func rate(_ rate: AxisVector) -> MotionRequest {
        MotionRequest(
            .camera(.rate(rate)), [.rates(rate.all, in: rates)], requirement: .axes(rate.turning),
            lifetime: .rates, isTurning: rate != .zero)
    }

    /// Pan and tilt at the given rates in mode `tracking`, rad/s, right and down positive. The
    /// motion lasts until the next request, or until the dead-man time of tracking has passed. NaN
    /// keeps the present rate.
    public static func track(pan: Double, tilt: Double) -> MotionRequest {
        MotionRequest(
            .camera(.track(pan: pan, tilt: tilt)),
            [.rates([pan, tilt].filter { !$0.isNaN }, in: trackingRates)],
            requirement: .mode(.tracking), lifetime: .tracking, isTurning: true)
    }

    /// Change the mode to `tracking`, if the motors are on.
    public static let beginTracking = MotionRequest(
        .camera(.mode(.tracking)), [], requirement: .active)

    /// In mode `tracking`, point the camera in the direction `aim`. The commanded direction rotates
    /// at the given rate until the next request, or until the dead-man time of tracking has passed.
    public static func aim(_ aim: Aim) -> MotionRequest {
        MotionRequest(
            .camera(.aim(aim)),
            [
                .angles("yaw", [aim.target.yaw]),
                .angles("pitch", [aim.target.pitch], in: elevations),
                .rates([aim.rate.yaw, aim.rate.pitch], in: rates),
                .seconds("smoothing", aim.smoothing, in: smoothings),
            ], requirement: .mode(.tracking), lifetime: .tracking, isTurning: true)
    }

    /// In mode `panFollow`, turn the camera to the angle `yaw` relative to the handle's heading,
    /// rad, -π...π, right positive, at no more than `rate`, rad/s; 0 means that only the general
    /// limits apply. If `yaw` is NaN, turn the camera at `rate` until the next request, or until
    /// the source's dead-man time has passed. `lead` is the angle by which the camera leads the
    /// handle, rad, -π...π; NaN does not change the lead.
    public static func lookAside(
        yaw: Double, rate: Double, lead: Double = 0
    ) -> MotionRequest {
        MotionRequest(
            .camera(.lookAside(yaw: yaw, rate: rate, lead: lead)),
            [.angles("yaw", [yaw, lead].filter { !$0.isNaN }), .rates([rate], in: rates)],
            requirement: .mode(.panFollow), lifetime: .rates,
            isTurning: yaw.isNaN && rate != 0 ? true : nil)
    }

    /// Shake one axis slightly, to measure the inertia, friction and delay of the axis. The source
    /// does not take control; any other request ends the excitation.
    public static func excite(_ excitation: Excitation) -> MotionRequest {
        let isPositive = excitation.amplitude.isFinite && excitation.amplitude >= 0
        return MotionRequest(
            .camera(.excite(excitation)),
            [.valid(isPositive, .outOfRange(field: "amplitude", allowed: "0 and more"))],
            requirement: .active, takesControl: false)
    }

    /// Move one motor slightly for 0.5 s, in mode `inactive`.
    public static func testMotor(_ axis: GimbalAxis) -> MotionRequest {
        MotionRequest(
            .camera(.testMotor(axis)), [], requirement: .inactive, lifetime: .motorTest,
            isTurning: false)
    }

    /// Turn one motor slowly to the end of its joint and back, in mode `inactive`; the request must be
    /// repeated within 0.5 s.
    public static func findEnd(_ axis: GimbalAxis, isPositive: Bool) -> MotionRequest {
        MotionRequest(
            .camera(.findEnd(axis, isPositive: isPositive)), [], requirement: .inactive,
            lifetime: .motorTest, isTurning: false)
    }

    /// Turn the two wheels at the given fractions of full speed, -1...1, forwards positive. The
    /// motion lasts until the next request, or until the dead-man time of driving has passed.
    public static func drive(left: Double, right: Double) -> MotionRequest {
        MotionRequest(
            .wheels(left: left, right: right),
            [
                .valid(
                    wheels.contains(left) && wheels.contains(right),
                    .outOfRange("wheel", wheels, ""))
            ], requirement: .noStop, lifetime: .driving)
    }

    /// Move one of the robot's stepper motors, 0...2.
    public static func step(axis: Int, _ choice: StepRequest) -> MotionRequest {
        MotionRequest(
            .stepper(axis, choice),
            [
                .valid(
                    steppers.indices.contains(axis), .outOfRange(field: "axis", allowed: "0...2")),
                .valid(
                    choice.isFinite, .outOfRange(field: "speed", allowed: "steps per second")),
            ], requirement: .noStop, lifetime: .stepping)
    }

    /// Reset the controllers' integrals to zero.
    public static let resetIntegrals = MotionRequest(.camera(.resetIntegrals), [])
    /// Take control of the camera without moving it.
    public static let take = MotionRequest(.take, [])
    /// Release control; the camera stops turning.
    public static let release = MotionRequest(.release, [])
    /// Emergency stop: switch the motors' outputs off, until the stop is reset. This request is
    /// always granted.
    public static let emergencyStop = MotionRequest(.camera(.emergencyStop), [])
    /// Reset the emergency stops of the source's link and of links with lower rank. The mode stays
    /// `inactive`. The source does not take control.
    public static let resetEmergencyStop = MotionRequest(
        .camera(.resetEmergencyStop), [], takesControl: false)
}

/// Values of a request that have the same range. Every request lists its values, so the range and
/// an assistant's limit apply to every rate.
private struct Values {
    /// Refusal if a value is outside its range; otherwise nil.
    var misfit: Refusal?
    /// The values, if they are rates at which the camera turns, rad/s; otherwise empty.
    var turnRates: [Double] = []

    /// Rates at which the camera turns, rad/s, with their range in degrees per second.
    static func rates(_ rates: [Double], in range: ClosedRange<Double>) -> Values {
        Values(misfit: outside(range, "rate", "degrees per second", rates), turnRates: rates)
    }

    /// Angles, rad, with their range in degrees.
    static func angles(
        _ field: String, _ angles: [Double], in range: ClosedRange<Double> = MotionRequest.angles
    ) -> Values {
        Values(misfit: outside(range, field, "degrees", angles))
    }

    /// A time and its range, s.
    static func seconds(
        _ field: String, _ value: Double, in range: ClosedRange<Double>
    ) -> Values {
        valid(range.contains(value), .outOfRange(field, range, "seconds"))
    }

    /// Values that `isValid` describes completely.
    static func valid(_ isValid: Bool, _ refusal: @autoclosure () -> Refusal) -> Values {
        Values(misfit: isValid ? nil : refusal())
    }

    /// Refusal if a value in rad is outside a range in degrees; otherwise nil.
    private static func outside(
        _ range: ClosedRange<Double>, _ field: String, _ unit: String, _ radians: [Double]
    ) -> Refusal? {
        let bounds =
            Angle.degrees(range.lowerBound).radians...Angle.degrees(range.upperBound).radians
        return radians.allSatisfy(bounds.contains) ? nil : .outOfRange(field, range, unit)
    }
}

// Ranges of the values in requests, in the units that users enter, for parsers and checks.
extension MotionRequest {
    /// Range of angles in the earth frame, degrees.
    public static let angles = -180.0...180.0
    /// Range of the elevation of an aimed camera, degrees.
    public static let elevations = -90.0...90.0
    /// Range of the turn rates, degrees per second.
    public static let rates = -720.0...720.0
    /// Range of the rate limit that a user can enter for a turn to given angles, degrees per
    /// second.
    public static let rateLimits = 0.01...720.0
    /// Range of the rate limit of a turn to given angles, degrees per second; 0 means as fast as
    /// the limits allow.
    public static let fastest = 0.0...rateLimits.upperBound
    /// Range of the tracking rates, degrees per second. A link that can receive any rate, such as
    /// AirOS, limits the rate to this range.
    public static let trackingRates = -1000.0...1000.0
    /// Range of the time constant with which an aimed camera corrects its pointing error, seconds.
    public static let smoothings = 0.05...3.0
    /// Range of the duration of a turn to given angles, seconds; 0 means as fast as the limits
    /// allow.
    public static let durations = 0.0...600.0
    /// Range of the wheels' speeds, as fractions of full speed.
    public static let wheels = -1.0...1.0
    /// Range of a stepper motor's position, steps from home.
    public static let steps = -1_000_000...1_000_000
    /// Names of the robot's stepper motors, in the order of their numbers: the slider's motor, then
    /// the motors for the joystick's x and y.
    public static let steppers = ["slider", "x", "y"]
}

extension AxisVector {
    /// True if at least one axis has a request; an axis without a request is NaN.
    public var isRequested: Bool { !yaw.isNaN || !roll.isNaN || !pitch.isNaN }

    /// List of the values of all axes.
    fileprivate var all: [Double] { [yaw, roll, pitch] }
}

/// Requested motion of a stepper motor.
public enum StepRequest: Sendable, Equatable {
    /// Stop, and hold the position.
    case hold
    /// Turn at the given rate, steps/s, until the next request, or until the dead-man time of
    /// stepping has passed.
    case turn(Double)
    /// Go to the given position, steps from home, and hold it.
    case position(Int)
    /// Move by the given number of steps from the present position or target, and hold the new
    /// position.
    case by(Int)
    /// Search for the home switch; the edge of the switch becomes position 0.
    case home

    /// True if the requested rate is a finite number, or if no rate is requested.
    fileprivate var isFinite: Bool {
        if case .turn(let speed) = self { return speed.isFinite }
        return true
    }
}
