public import GimbalCore
public import Port
public import Robot

// Types that the Commander uses: times and limits, and the interface to the stepper motors.
extension Commander {
    /// Times and limits of the Commander.
    public struct Rules: Sendable, Equatable {
        /// Dead-man time of a rate command, from the receipt of the command, s.
        public var deadManSeconds = 1.0
        /// Timeout after which a silent source loses control, s.
        public var releaseAfterSeconds = 10.0
        /// Timeout of mode `tracking`, from the last tracking rate or from the start of the mode,
        /// s.
        public var trackingSeconds = 1.0
        /// Dead-man time of a driving request, from the receipt of the request, s.
        public var drivingSeconds = 1.0
        /// Dead-man time of a request that turns a stepper motor, from the receipt of the request,
        /// s.
        public var steppingSeconds = 0.3
        /// Time from the last rate request until the camera enters `fallbackMode`, s; 0 disables
        /// the fallback mode.
        public var fallbackSeconds = 0.0
        /// Mode that the camera enters after `fallbackSeconds`. The mode must not accept rate
        /// requests. Therefore only a request for another mode ends the fallback mode.
        public var fallbackMode = Mode.neutral
        /// Time from the last rate request until the outputs are switched off, s; the outputs stay
        /// off until a client requests a mode. 0 disables this reaction.
        public var offSeconds = 0.0
        /// Links that cannot take control. A link that cannot take control can still request an
        /// emergency stop.
        public var barred: Set<CommandSource.Link> = []
        /// Links that require a key.
        public var keyed: Set<CommandSource.Link> = []

        /// Rank of a link, which determines whether the link can take control from other links.
        public func rank(of link: CommandSource.Link) -> Rank {
            if link == .diagnostics { return .local }
            if link == .companion { return .companion }
            if link == .assistant { return .assistant }
            if link == .controls { return .attached }
            return keyed.contains(link) ? .keyed : .open
        }

        /// Expiry time of a request that was received at `start`; a time in the past for a request
        /// without a dead-man time.
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

        /// Creates the default rules.
        public init() {}
    }
}

extension MotionRequest {
    /// Refusal of the request in the given mode; nil if the request is possible. `isStopped` is
    /// true if an emergency stop is latched.
    func refusal(in mode: Mode, isStopped: Bool) -> Refusal? {
        if requirement == .any { return misfit }
        if isStopped { return .emergencyStopped }
        let off: Refusal? = mode == .inactive ? .inactive : nil
        switch requirement {
        case .any, .noStop: return misfit
        case .inactive: return off == nil ? .active(mode) : misfit
        case .active: return off ?? misfit
        case .mode(let wanted): return off ?? (mode == wanted ? misfit : .onlyInMode(wanted))
        case .axes(let axes):
            let own = axes * mode.commandable
            return off ?? (axes.isRequested && !own.isRequested ? .notInMode(mode) : misfit)
        }
    }
}

extension MotionRequest.Effect {
    /// Refusal of a mode because of a missing sensor; nil if the loop has the sensor, or has sent
    /// no state yet.
    func missingSensor(_ loop: LoopState?) -> Refusal? {
        guard case .camera(.mode(let mode)) = self, mode.needsJoints, let loop, !loop.showsJoints
        else { return nil }
        return loop.hasSample ? .missingSensor(mode) : .sensorsUnknown(mode)
    }
}

extension Commander {
    /// A source that controls a motion, and the time of its last request.
    struct Hold {
        let source: CommandSource
        var lastRequest: Instant
    }
}

extension [Int: Commander.Hold] {
    /// Numbers of the stepper motors whose source fulfils a condition.
    func axes(where isIncluded: (Commander.Hold) -> Bool) -> [Int] {
        filter { isIncluded($0.value) }.map(\.key)
    }

    /// Stores the newest request of a source, so that the source does not count as silent.
    mutating func refresh(_ newest: Commander.Hold) {
        for (axis, old) in self where old.source == newest.source { self[axis] = newest }
    }
}

/// Interface of the `Commander` to the stepper motors.
public struct Steppers: Sendable {
    let hasSwitches: Bool
    let ask: @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - hasSwitches: True if each motor has a home switch.
    ///   - ask: Function that receives a target and the number of the stepper motor, 0...2. The
    ///     function must not call the `Commander`.
    public init(
        hasSwitches: Bool, ask: @escaping @Sendable (_ axis: Int, _ goal: StepAxis.Goal) -> Void
    ) {
        self.hasSwitches = hasSwitches
        self.ask = ask
    }
}

extension StepRequest {
    /// Target position of the stepper motor for the request.
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
