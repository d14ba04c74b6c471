/// Possible effects of a condition on the outputs, in order of increasing severity.
public enum Response: UInt8, Comparable, Sendable, BitwiseCopyable {
    /// The condition is only reported; it does not affect the outputs.
    case report
    /// The outputs do not change: they remain off or on.
    case blockStart
    /// The outputs ramp down, and are then switched off.
    case softOff
    /// The motors first stop the camera without the failed sensor; then the outputs are switched
    /// off.
    case brake
    /// The outputs are switched off immediately.
    case off

    /// True if `a` is less severe than `b`.
    @inlinable @_noLocks
    public static func < (a: Response, b: Response) -> Bool { a.rawValue < b.rawValue }
}

/// Safety supervisor of the outputs: a pure function that computes the next state of the outputs
/// from the conditions and the previous state. This function is critical for safety; the tests are
/// its specification.
///
/// The structure is modelled on the supervisor of the Crazyflie firmware: one function with
/// conditions, state and action. The recovery delay is modelled on Betaflight's failsafe.
public struct Supervisor: Sendable, BitwiseCopyable {
    /// Durations of the transitions.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Duration of the ramp from no output to the full output, s.
        public var softStartSeconds = 0.5
        /// Duration of the ramp from the full output to no output, s.
        public var softStopSeconds = 0.2
        /// Duration of braking before the outputs are switched off, s.
        public var brakeSeconds = 0.025
        /// Time without faults after which the outputs are switched on again, s.
        public var recoverySeconds = 0.5

        /// Creates the default values.
        public init() {}
    }

    /// State of the outputs.
    public enum Phase: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// The outputs are off.
        case off
        /// The outputs ramp up.
        case starting
        /// The motors receive the full computed output.
        case active
        /// The outputs ramp down.
        case stopping
        /// The motors stop the camera before the outputs are switched off.
        case braking
    }

    /// State of the supervisor between two evaluations.
    public struct State: Sendable, BitwiseCopyable, Equatable {
        /// State of the outputs.
        public var phase = Phase.off
        /// Fraction of the controller's output that reaches the motors, 0...1.
        public var authority = 0.0
        /// Remaining time without faults until the outputs can be switched on again, s. The value
        /// is zero before the first fault. Therefore the outputs are switched on without a delay at
        /// the first start and after the mode `inactive`.
        public var recoverySeconds = 0.0
        /// Remaining duration of braking, s.
        public var brakeSeconds = 0.0

        /// Creates the initial state: the outputs are off, and no fault has occurred.
        public init() {}

        /// True if the power stages are on.
        @inlinable
        public var isEnabled: Bool { @_noLocks get { phase != .off } }
    }

    /// Effect of the given conditions on the outputs: the most severe effect of all conditions. A
    /// condition outside the sets `offAtOnce`, `braking`, `softly` and `blocking` is only reported.
    @_noLocks
    public static func response(to conditions: Conditions) -> Response {
        if conditions.intersects(offAtOnce) { return .off }
        if conditions.intersects(braking) { return .brake }
        if conditions.intersects(softly) { return .softOff }
        return conditions.intersects(blocking) ? .blockStart : .report
    }

    /// Conditions that turn the outputs off immediately: a stop was requested, or no valid output
    /// can be computed.
    @inlinable
    public static var offAtOnce: Conditions {
        @_noLocks get {
            .imuMissing | .emergencyStop | .shutdown | .simulatorMissing | .simulatorSilent
                | .controlFault | .canBusOff | .motorPortLost
        }
    }

    /// Conditions that prevent closed-loop control, because the camera's motion is unknown, a sign
    /// is wrong, or a motor is missing. If the motors were switched off immediately, a moving
    /// camera would continue to move. Therefore the motors brake the camera before they are
    /// switched off.
    @inlinable
    public static var braking: Conditions {
        @_noLocks get {
            .imuStale | .imuFrozen | .gyroContradicted | .gravityMismatch | .responseReversed
                | .driveSilent | .driveFault | .driveOverload | .driveOverheated | .driveVoltage
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

    /// Conditions that switch the outputs off because a user has requested another state. These
    /// conditions are not faults.
    @inlinable
    public static var wishes: Conditions {
        @_noLocks get { .inactiveMode | .retracted | .calibrating }
    }

    /// Conditions that prevent the outputs from being switched on, but do not switch them off.
    @inlinable
    public static var blocking: Conditions {
        @_noLocks get {
            .estimateNotConverged | .jointsOutOfReach | .supplyEmpty | .drivesStarting
                | .driveUnguarded
        }
    }

    /// All conditions that keep the outputs off.
    @inlinable
    public static var inhibiting: Conditions {
        @_noLocks get { offAtOnce | braking | softly | blocking }
    }

    /// Computes the next state of the outputs. The most severe condition determines the effect.
    ///
    /// - Parameters:
    ///   - state: Result of the previous evaluation.
    ///   - conditions: All conditions that hold now.
    ///   - dt: Seconds since the previous evaluation, not negative.
    ///   - parameters: Durations of the transitions.
    /// - Returns: The next state. The method runs on the loop thread, in constant time.
    @_noLocks
    public static func next(
        after state: State, conditions: Conditions, dt: Double, parameters: Parameters
    ) -> State {
        var next = state
        noteFault(&next, conditions: conditions, dt: dt, parameters: parameters)
        // Braking always ends with the outputs off.
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

    /// Restarts the recovery time while a fault is present and the outputs are on. The value
    /// decreases only while no fault is present.
    private static func noteFault(
        _ state: inout State, conditions: Conditions, dt: Double, parameters: Parameters
    ) {
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
            state.authority += dt / max(parameters.softStartSeconds, TimeLimit.shortest)
            if state.authority >= 1 {
                state.authority = 1
                state.phase = .active
            }
        case .active:
            state.authority = 1
        case .stopping:
            state.authority -= dt / max(parameters.softStopSeconds, TimeLimit.shortest)
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
