public import GimbalCore

/// Controller of a stepper motor whose driver has step and direction inputs. The controller moves
/// the motor to a position or at a velocity, with a trapezoidal speed profile. The controller
/// observes soft limits and homes to a switch. The caller calls `tick` at a fixed interval, and
/// then outputs `lines`. The position is the count of output steps. Therefore a late call delays a
/// step, but no step is lost. The controller does not read a clock and has no side effects. Use a
/// `StepAxis` from only one thread.
public struct StepAxis: Sendable, BitwiseCopyable {
    /// Limits of the motor and of the driven mechanism.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Largest speed, steps/s; at most half the number of calls of `tick` per second.
        public var maxSpeed = 800.0
        /// Acceleration, steps/s².
        public var acceleration = 2000.0
        /// Lowest position, steps from home.
        public var minimum = -100_000
        /// Highest position, steps from home.
        public var maximum = 100_000
        /// Homing speed towards the switch, steps/s; negative, because the switch is at the lower
        /// end. The motor leaves the switch at a quarter of the homing speed.
        public var homingSpeed = -200.0
        /// Number of steps without a change of the switch after which homing fails.
        public var homingRange = 200_000

        /// Creates the default values.
        public init() {}
    }

    /// A goal of the motor.
    public enum Goal: Sendable, BitwiseCopyable {
        /// Decelerate to a stop.
        case hold
        /// Move to a position, steps from home; limited to the soft limits.
        case position(Int)
        /// Move a number of steps relative to the present goal. The function `replaced` converts a
        /// relative goal to a position. If `tick` receives the goal `further`, the motor
        /// decelerates to a stop.
        case further(Int)
        /// Turn at a velocity, steps/s, until the given time; then decelerate to a stop.
        case velocity(Double, validUntil: Instant)
        /// Search for the home switch; the edge of the switch becomes position 0. `asked` is the
        /// time of the request. A request with a later time starts another search.
        case home(asked: Instant)
    }

    /// State of homing.
    public enum Homing: Int, Sendable, BitwiseCopyable {
        /// Homing was not requested, or another goal has cancelled it. Position 0 is the position
        /// at start-up.
        case none
        /// The motor moves towards the switch.
        case seeking
        /// The motor moves off the switch.
        case leaving
        /// Homing is complete: position 0 is the switch's edge. The edge counts when the switch has
        /// been released for `steadySeconds`.
        case done
        /// Homing has failed: the switch did not respond, or was not released.
        case failed
    }

    /// States of the step and direction signals.
    public struct Lines: Sendable, BitwiseCopyable, Equatable {
        /// Step signal: the motor makes a step when this signal becomes active.
        public var step = false
        /// Direction signal: active means forwards.
        public var direction = false

        /// Creates the initial state: both signals are inactive.
        public init() {}
    }

    /// Limits of the motor.
    public let parameters: Parameters
    /// Number of steps output since home, forwards minus backwards.
    public private(set) var position = 0
    /// Present speed, steps/s.
    public private(set) var speed = 0.0
    /// State of homing.
    public private(set) var homing = Homing.none
    /// Present states of the two signals.
    public private(set) var lines = Lines()
    /// Distance from `position` to the ideal continuous position, steps. When this distance reaches
    /// half a step, the motor makes a step.
    private var ahead = 0.0
    private var sought = 0
    private var asked: Instant?
    /// Last state of the home switch, and the time since its last change, s.
    private var isPressed = false
    private var unchangedSeconds = 0.0

    /// Time without a change of the home switch after which its state counts, s. A switch bounces
    /// for less time.
    private static let steadySeconds = 0.01

    /// Creates a motor at rest at position 0.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// True if the motor is at rest.
    public var isStanding: Bool { speed == 0 }

    /// Sets the speed to zero immediately, without a ramp, because the motor has come to rest
    /// without steps.
    public mutating func stop() { speed = 0 }

    /// Computes the signals for the next tick.
    ///
    /// - Parameters:
    ///   - goal: The newest goal of the motor.
    ///   - isAtSwitch: True if the home switch is pressed.
    ///   - now: The time of the present tick.
    ///   - dt: Interval between two ticks, s.
    public mutating func tick(_ goal: Goal, isAtSwitch: Bool, now: Instant, dt: Double) {
        let wasHigh = lines.step
        lines.step = false
        let acceleration = parameters.acceleration * dt
        unchangedSeconds = isAtSwitch == isPressed ? unchangedSeconds + dt : 0
        isPressed = isAtSwitch
        let wish = wish(goal, now: now)
        speed += min(max(wish - speed, -acceleration), acceleration)
        if wish == 0, abs(speed) <= acceleration { speed = 0 }
        ahead += speed * dt
        settle(goal, dt: dt)
        guard abs(ahead) >= 0.5, !wasHigh else { return }
        let forwards = ahead > 0
        guard forwards == lines.direction else {
            // The driver needs the direction one tick before the step.
            lines.direction = forwards
            return
        }
        lines.step = true
        position += forwards ? 1 : -1
        ahead -= forwards ? 1 : -1
        sought += 1
    }

    /// Ends a motion to a position: at low speed and within 0.05 steps of the target, the motor
    /// stops exactly at the target.
    private mutating func settle(_ goal: Goal, dt: Double) {
        switch goal {
        case .position(let wanted):
            let target = min(max(wanted, parameters.minimum), parameters.maximum)
            let left = Double(target - position) - ahead
            guard abs(left) < 0.05, abs(speed) <= 4 * parameters.acceleration * dt else { return }
            speed = 0
            ahead = Double(target - position)
        default: break
        }
    }

    private mutating func wish(_ goal: Goal, now: Instant) -> Double {
        switch goal {
        case .hold, .further:
            abandonHoming()
            return 0
        case .position(let wanted):
            abandonHoming()
            let target = min(max(wanted, parameters.minimum), parameters.maximum)
            let left = Double(target - position) - ahead
            let most = fastest(within: abs(left))
            return left < 0 ? -most : most
        case .velocity(let wanted, let validUntil):
            abandonHoming()
            guard now < validUntil, wanted.isFinite else { return 0 }
            return limited(wanted)
        case .home(let asked):
            if asked != self.asked { homing = .none }
            self.asked = asked
            return homingRequest()
        }
    }

    /// Speed, limited to allow a stop before a soft limit, steps/s.
    private func limited(_ wanted: Double) -> Double {
        let limit = wanted < 0 ? parameters.minimum : parameters.maximum
        let room = (Double(limit - position) - ahead) * (wanted < 0 ? -1 : 1)
        let most = fastest(within: max(room, 0))
        return min(max(wanted, -most), most)
    }

    /// The largest speed from which the motor can stop within the given number of steps, steps/s.
    /// The formula uses four fifths of the largest acceleration, so the motor can stop in time even
    /// after late ticks.
    private func fastest(within steps: Double) -> Double {
        min(parameters.maxSpeed, (1.6 * parameters.acceleration * steps).squareRoot())
    }

    private mutating func abandonHoming() {
        switch homing {
        case .seeking, .leaving: homing = .none
        case .none, .done, .failed: break
        }
    }

    /// Homing speed, steps/s, negative, limited to the motor's largest speed.
    private var homingSpeed: Double { max(parameters.homingSpeed, -parameters.maxSpeed) }

    private mutating func homingRequest() -> Double {
        let isSteady = unchangedSeconds >= Self.steadySeconds
        switch homing {
        case .none:
            homing = .seeking
            sought = 0
            // The switch has not been read before.
            unchangedSeconds = 0
            return 0
        case .seeking:
            if isPressed, isSteady {
                homing = .leaving
                sought = 0
                return 0
            }
            guard sought < parameters.homingRange else {
                homing = .failed
                return 0
            }
            return homingSpeed
        case .leaving:
            guard isPressed || !isSteady else {
                homing = .done
                position = 0
                ahead = 0
                speed = 0
                return 0
            }
            guard sought < parameters.homingRange else {
                homing = .failed
                return 0
            }
            return -homingSpeed / 4
        case .done, .failed:
            return 0
        }
    }
}

extension StepAxis.Goal {
    /// The goal that results from a new request while the motor is at `position`. A relative
    /// request is added to the present goal. Therefore no request is lost if requests arrive faster
    /// than the motor moves.
    ///
    /// - Parameters:
    ///   - goal: The requested goal.
    ///   - position: Present position of the motor, steps from home.
    ///   - parameters: Limits of the motor, which also apply to the result.
    /// - Returns: Next goal of the motor; a relative goal (`further`) has been converted to a
    ///   position.
    public func replaced(
        by goal: Self, at position: Int, _ parameters: StepAxis.Parameters
    ) -> Self {
        guard case .further(let steps) = goal else { return goal }
        var from = position
        if case .position(let target) = self { from = target }
        return .position(min(max(from + steps, parameters.minimum), parameters.maximum))
    }
}
