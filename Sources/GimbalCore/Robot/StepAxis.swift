/// A stepper motor behind a step line and a direction line: trapezoidal ramps to a position or a
/// velocity, soft limits, homing to a switch. Pure: called on a grid of time, it says what the
/// lines are to be; what it has counted is what it has put on the line, so a grid that stretches
/// costs time and no step. One thread.
public struct StepAxis: Sendable, BitwiseCopyable {
    /// What the motor and its mechanics stand.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Fastest, steps/s; half the rate of the grid is the most.
        public var maxSpeed = 800.0
        /// Steps/s².
        public var acceleration = 2000.0
        /// Lowest position, steps from home.
        public var minimum = -100_000
        /// Highest position, steps from home.
        public var maximum = 100_000
        /// Speed towards the switch, steps/s, negative: the switch is at the lower end; away from
        /// it a quarter of that.
        public var homingSpeed = -200.0
        /// Steps after which a switch that has not answered is not there.
        public var homingRange = 200_000

        /// The defaults.
        public init() {}
    }

    /// What somebody wants of it.
    public enum Goal: Sendable, BitwiseCopyable {
        /// Slow down and stand.
        case hold
        /// Go to a position, steps from home; beyond a limit: to the limit.
        case position(Int)
        /// So many steps beyond the position in force: a request, which `replaced` makes a position
        /// of. A motor holds.
        case further(Int)
        /// Turn at a velocity, steps/s, until then; after that it holds.
        case velocity(Double, validUntil: Instant)
        /// Look for the switch; its edge becomes position 0. Another time is another search.
        case home(asked: Instant)
    }

    /// Where homing stands.
    public enum Homing: Int, Sendable, BitwiseCopyable {
        /// Nobody has asked, or something else came first: position 0 is where it stood at the
        /// start.
        case none
        /// On the way to the switch.
        case seeking
        /// On the way off it.
        case leaving
        /// Position 0 is the switch's edge.
        case done
        /// The switch never answered, or never let go.
        case failed
    }

    /// What the lines are to be.
    public struct Lines: Sendable, BitwiseCopyable, Equatable {
        /// The motor steps when this becomes active.
        public var step = false
        /// Active: forwards.
        public var direction = false

        /// Both inactive.
        public init() {}
    }

    /// What the motor stands.
    public let parameters: Parameters
    /// Steps put on the line, forwards less backwards, from home.
    public private(set) var position = 0
    /// Steps/s.
    public private(set) var speed = 0.0
    /// Where homing stands.
    public private(set) var homing = Homing.none
    /// What the lines are now.
    public private(set) var lines = Lines()
    /// How far the ideal motion is ahead of `position`, steps; a step is due at a half.
    private var ahead = 0.0
    private var sought = 0
    private var asked: Instant?

    /// A motor that stands at position 0.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// Whether it stands.
    public var isStanding: Bool { speed == 0 }

    /// One tick of the grid.
    ///
    /// - Parameters:
    ///   - goal: The newest.
    ///   - isAtSwitch: Whether the home switch is pressed.
    ///   - now: The time of this tick.
    ///   - dt: Distance of the grid, s.
    public mutating func tick(_ goal: Goal, isAtSwitch: Bool, now: Instant, dt: Double) {
        let wasHigh = lines.step
        lines.step = false
        let acceleration = parameters.acceleration * dt
        let wish = wish(goal, isAtSwitch: isAtSwitch, now: now)
        speed += min(max(wish - speed, -acceleration), acceleration)
        if wish == 0, abs(speed) <= acceleration { speed = 0 }
        ahead += speed * dt
        settle(goal, dt: dt)
        guard abs(ahead) >= 0.5, !wasHigh else { return }
        let forwards = ahead > 0
        guard forwards == lines.direction else {
            // The driver wants to know the direction before the step: one tick earlier.
            lines.direction = forwards
            return
        }
        lines.step = true
        position += forwards ? 1 : -1
        ahead -= forwards ? 1 : -1
        sought += 1
    }

    /// Arrived: what is left of a step is no motion.
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

    private mutating func wish(_ goal: Goal, isAtSwitch: Bool, now: Instant) -> Double {
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
            return homingWish(isAtSwitch: isAtSwitch)
        }
    }

    /// Not into a soft limit.
    private func limited(_ wanted: Double) -> Double {
        let limit = wanted < 0 ? parameters.minimum : parameters.maximum
        let room = (Double(limit - position) - ahead) * (wanted < 0 ? -1 : 1)
        let most = fastest(within: max(room, 0))
        return min(max(wanted, -most), most)
    }

    /// The speed from which it can still stop in so many steps, with a fifth of the acceleration
    /// kept for a tick that comes late.
    private func fastest(within steps: Double) -> Double {
        min(parameters.maxSpeed, (1.6 * parameters.acceleration * steps).squareRoot())
    }

    private mutating func abandonHoming() {
        switch homing {
        case .seeking, .leaving: homing = .none
        case .none, .done, .failed: break
        }
    }

    /// Never faster than the motor stands.
    private var homingSpeed: Double { max(parameters.homingSpeed, -parameters.maxSpeed) }

    private mutating func homingWish(isAtSwitch: Bool) -> Double {
        switch homing {
        case .none:
            homing = isAtSwitch ? .leaving : .seeking
            sought = 0
            return 0
        case .seeking:
            if isAtSwitch {
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
            guard isAtSwitch else {
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
    /// The goal after this one, while the motor is at `position`: what is asked for further counts
    /// from where it was to go, so that commands that arrive faster than the motor steps are not
    /// lost.
    ///
    /// - Parameters:
    ///   - goal: What is asked for.
    ///   - position: Steps from home.
    ///   - parameters: The motor's: nothing is counted beyond its limits.
    /// - Returns: What the motor is to do; never `further`.
    public func replaced(
        by goal: Self, at position: Int, _ parameters: StepAxis.Parameters
    ) -> Self {
        guard case .further(let steps) = goal else { return goal }
        var from = position
        if case .position(let target) = self { from = target }
        return .position(min(max(from + steps, parameters.minimum), parameters.maximum))
    }
}
