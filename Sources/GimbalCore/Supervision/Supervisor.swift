/// What a condition does to the outputs, mildest first.
public enum Response: UInt8, Comparable, Sendable, BitwiseCopyable {
    /// Shown, nothing else.
    case report
    /// Outputs that are off stay off; outputs that are on stay on.
    case blockStart
    /// Outputs ramp down to off.
    case softOff
    /// The motors stop the camera by what is known without the sensor that failed, then the outputs are off.
    case brake
    /// Outputs off at once.
    case off

    /// Milder first.
    @inlinable @_noLocks
    public static func < (a: Response, b: Response) -> Bool { a.rawValue < b.rawValue }
}

/// Decides whether the outputs may be on: conditions and the previous state in, the next state out. Pure; critical for
/// safety, be careful when changing it. The tests are its specification.
///
/// The shape (conditions, state, action as one function) follows Crazyflie's supervisor; the waiting time before
/// recovery follows Betaflight's failsafe.
public struct Supervisor: Sendable, BitwiseCopyable {
    /// The times of the transitions.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Ramp from off to full authority, s.
        public var softStartSeconds = 0.5
        /// Ramp from full authority to off, s.
        public var softStopSeconds = 0.2
        /// How long the motors stop the camera before the outputs are off, s.
        public var brakeSeconds = 0.025
        /// After a fault, conditions must have been clear for this long before the outputs come back, s.
        public var recoverySeconds = 0.5

        /// The defaults.
        public init() {}
    }

    /// Where the outputs stand.
    public enum Phase: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// Off.
        case off
        /// Ramping up.
        case starting
        /// Full authority.
        case active
        /// Ramping down.
        case stopping
        /// Stopping the camera before the outputs are off.
        case braking
    }

    /// All that one evaluation hands to the next.
    public struct State: Sendable, BitwiseCopyable, Equatable {
        /// Where the outputs stand.
        public var phase = Phase.off
        /// Share of the controller's output that reaches the motors, 0...1.
        public var authority = 0.0
        /// How long the outputs stay off after the fault that turned them off has gone, s. Zero before any fault:
        /// the first start, and leaving the mode `inactive`, need no waiting.
        public var recoverySeconds = 0.0
        /// How much longer the motors stop the camera, s.
        public var brakeSeconds = 0.0

        /// Outputs off, nothing has happened yet.
        public init() {}

        /// Whether the power stages are on.
        @inlinable
        public var isEnabled: Bool { @_noLocks get { phase != .off } }
    }

    /// The table: what each condition does. A condition that is not listed here reports.
    @_noLocks
    public static func response(to conditions: Conditions) -> Response {
        if conditions.intersects(offAtOnce) { return .off }
        if conditions.intersects(braking) { return .brake }
        if conditions.intersects(softly) { return .softOff }
        return conditions.intersects(blocking) ? .blockStart : .report
    }

    /// Conditions that turn the outputs off at once: a stop was asked for, or no output can be made.
    @inlinable
    public static var offAtOnce: Conditions {
        @_noLocks get {
            .imuMissing | .emergencyStop | .shutdown | .simulatorMissing | .simulatorSilent
                | .controlFault
        }
    }

    /// Conditions under which the loop cannot be closed any more: the camera's motion is not known, or a sign is wrong. A
    /// camera that is let go in motion coasts, so its motors stop it first.
    @inlinable
    public static var braking: Conditions {
        @_noLocks get {
            .imuStale | .imuFrozen | .gyroContradicted | .gravityMismatch | .responseReversed
        }
    }

    /// Conditions that ramp the outputs down.
    @inlinable
    public static var softly: Conditions {
        @_noLocks get {
            .inactiveMode | .retracted | .calibrating | .imuImplausible | .imuTimeFault
                | .busError | .encoderMissing | .loopUnreliable | .rotorLost
        }
    }

    /// Conditions that only keep the outputs from starting.
    @inlinable
    public static var blocking: Conditions {
        @_noLocks get { .estimateNotConverged | .jointsOutOfReach }
    }

    /// Everything that keeps the outputs from being on.
    @inlinable
    public static var inhibiting: Conditions {
        @_noLocks get { offAtOnce | braking | softly | blocking }
    }

    /// One evaluation. Most severe condition wins.
    ///
    /// - Parameters:
    ///   - state: What the previous evaluation returned.
    ///   - conditions: Everything that holds now.
    ///   - dt: Seconds since the previous evaluation, not negative.
    ///   - parameters: The times of the transitions.
    /// - Returns: The state from now on. Loop thread; constant time.
    @_noLocks
    public static func next(
        after state: State, conditions: Conditions, dt: Double, parameters: Parameters
    ) -> State {
        var next = state
        noteFault(&next, conditions: conditions, dt: dt, parameters: parameters)
        // A brake once begun ends in off.
        if next.phase == .braking { next.brakeSeconds -= dt }
        switch response(to: conditions) {
        case .off:
            next.phase = .off
        case .brake:
            if next.phase != .off, next.phase != .braking {
                next.phase = .braking
                next.brakeSeconds = parameters.brakeSeconds
            }
        case .softOff:
            if next.phase != .off, next.phase != .braking { next.phase = .stopping }
        case .blockStart:
            if next.phase == .stopping { next.phase = .starting }
        case .report:
            if next.phase == .stopping { next.phase = .starting }
            if next.phase == .off, next.recoverySeconds <= 0 { next.phase = .starting }
        }
        ramp(&next, dt: dt, parameters: parameters)
        return next
    }

    /// A fault that meets outputs which are on starts the recovery time; it runs down only while there is no fault.
    private static func noteFault(
        _ state: inout State, conditions: Conditions, dt: Double, parameters: Parameters
    ) {
        let wishes: Conditions = .inactiveMode | .retracted | .calibrating
        let isFault = response(to: conditions.subtracting(wishes)) >= .softOff
        if isFault, state.phase != .off {
            state.recoverySeconds = parameters.recoverySeconds
        } else if !isFault {
            state.recoverySeconds = max(0, state.recoverySeconds - dt)
        }
    }

    private static func ramp(_ state: inout State, dt: Double, parameters: Parameters) {
        switch state.phase {
        case .off:
            state.authority = 0
        case .starting:
            state.authority += dt / max(parameters.softStartSeconds, 1e-3)
            if state.authority >= 1 {
                state.authority = 1
                state.phase = .active
            }
        case .active:
            state.authority = 1
        case .stopping:
            state.authority -= dt / max(parameters.softStopSeconds, 1e-3)
            if state.authority <= 0 {
                state.authority = 0
                state.phase = .off
            }
        case .braking:
            if state.brakeSeconds <= 0 {
                state.authority = 0
                state.phase = .off
            }
        }
    }
}
