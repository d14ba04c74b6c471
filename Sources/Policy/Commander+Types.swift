public import GimbalCore
public import Port

// The times, limits and motors of the Commander.
extension Commander {
    /// Times and limits.
    public struct Rules: Sendable, Equatable {
        /// A rate command lives this long after it was received, s.
        public var deadManSeconds = 1.0
        /// A holder that is silent this long loses control, s.
        public var releaseAfterSeconds = 10.0
        /// Mode `tracking` lives this long after it was entered or a tracking rate was received, s.
        public var trackingSeconds = 1.0
        /// A request to drive lives this long, s.
        public var drivingSeconds = 1.0
        /// A request that turns a stepper motor lives this long, s.
        public var steppingSeconds = 0.3
        /// Silence after which a camera that was being turned goes to `fallbackMode`, s; 0: never.
        public var fallbackSeconds = 0.0
        /// Where it goes then: a mode that takes no rates, so that only a request for another ends it.
        public var fallbackMode = Mode.neutral
        /// Silence after which its outputs go off until somebody asks for a mode, s; 0: never.
        public var offSeconds = 0.0
        /// Links that may not take control. An emergency stop is granted to them as to everybody.
        public var barred: Set<CommandSource.Link> = []
        /// Links that need a key.
        public var keyed: Set<CommandSource.Link> = []

        /// The rank of a link.
        public func rank(of link: CommandSource.Link) -> Rank {
            if link == .diagnostics { return .local }
            return keyed.contains(link) ? .keyed : .open
        }

        var stages: LossOfControl.Rules {
            var stages = LossOfControl.Rules()
            stages.holdSeconds = deadManSeconds
            stages.fallbackSeconds = fallbackSeconds
            stages.offSeconds = offSeconds
            return stages
        }

        /// The defaults.
        public init() {}
    }
}

/// The stepper motors as the Commander reaches them.
public struct Steppers: Sendable {
    let hasSwitches: Bool
    let ask: @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void

    /// - Parameters:
    ///   - hasSwitches: Whether each motor can look for its home.
    ///   - ask: Where goals for the motors 0...2 go. Must not call back.
    public init(
        hasSwitches: Bool, ask: @escaping @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void
    ) {
        self.hasSwitches = hasSwitches
        self.ask = ask
    }
}

extension StepWish {
    /// As the motor is told.
    func goal(now: Instant, validUntil: Instant) -> StepAxis.Goal {
        switch self {
        case .hold: .hold
        case .turn(let speed): .velocity(speed, validUntil: validUntil)
        case .position(let steps): .position(steps)
        case .by(let steps): .further(steps)
        case .home: .home(asked: now)
        }
    }
}
