public import GimbalCore
public import Port

// Times, limits and motors of the Commander.
extension Commander {
    /// Times and limits.
    public struct Rules: Sendable, Equatable {
        /// Lifetime of a rate command from its receipt, s.
        public var deadManSeconds = 1.0
        /// Silence after which a holder loses control, s.
        public var releaseAfterSeconds = 10.0
        /// Lifetime of mode `tracking` from its start or from the last tracking rate, s.
        public var trackingSeconds = 1.0
        /// Lifetime of a drive request, s.
        public var drivingSeconds = 1.0
        /// Lifetime of a request that turns a stepper motor, s.
        public var steppingSeconds = 0.3
        /// Silence after the last rates, after which the camera enters `fallbackMode`, s; 0
        /// disables it.
        public var fallbackSeconds = 0.0
        /// Mode after that silence. This mode accepts no rates, so only a request for another mode
        /// ends this mode.
        public var fallbackMode = Mode.neutral
        /// Silence after which the outputs go off until a client requests a mode, s; 0 disables it.
        public var offSeconds = 0.0
        /// Links that cannot take control. These links can still request an emergency stop.
        public var barred: Set<CommandSource.Link> = []
        /// Links that require a key.
        public var keyed: Set<CommandSource.Link> = []

        /// The rank of a link.
        public func rank(of link: CommandSource.Link) -> Rank {
            if link == .diagnostics { return .local }
            return keyed.contains(link) ? .keyed : .open
        }

        /// End of the lifetime of a request that was received at `start`; the past without one.
        func end(of request: MotionRequest, from start: Instant) -> Instant {
            let seconds: Double
            switch request.lifetime {
            case .rates: seconds = deadManSeconds
            case .tracking: seconds = trackingSeconds
            case .motorTest: seconds = 0.5
            case .driving: seconds = drivingSeconds
            case .stepping: seconds = steppingSeconds
            case nil: return Instant(nanoseconds: 0)
            }
            return start.advanced(bySeconds: seconds)
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

extension MotionRequest {
    /// Reason to refuse the request in this mode, with or without a latched emergency stop; nil if
    /// it is possible.
    func refusal(in mode: Mode, isStopped: Bool) -> Refusal? {
        if requirement == .any { return misfit }
        if isStopped { return .emergencyStopped }
        let off: Refusal? = mode == .inactive ? .inactive : nil
        switch requirement {
        case .any, .noStop: return misfit
        case .inactive: return off == nil ? .active(mode) : misfit
        case .active: return off ?? misfit
        case .mode(let wanted): return off ?? (mode == wanted ? misfit : .notInMode(mode))
        case .axes(let axes):
            let own = axes * mode.commandable
            return off ?? (axes.hasWish && !own.hasWish ? .notInMode(mode) : misfit)
        }
    }
}

/// Access of the Commander to the stepper motors.
public struct Steppers: Sendable {
    let hasSwitches: Bool
    let ask: @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void

    /// Creates the access.
    ///
    /// - Parameters:
    ///   - hasSwitches: Whether each motor has a home switch.
    ///   - ask: Receiver of the goals of the stepper motors, numbered 0...2. Must not call back.
    public init(
        hasSwitches: Bool, ask: @escaping @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void
    ) {
        self.hasSwitches = hasSwitches
        self.ask = ask
    }
}

extension StepWish {
    /// Goal for the motor.
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
