/// Switch of the supply of drives, bus servos or a motor board: determines when the supply is on, and
/// when the drives are expected to answer.
///
/// Drives without supply cannot answer. Therefore the supply does not follow the outputs, which stay
/// off until the drives have answered. The supply is on from the start of the loop. A stop, a
/// shutdown or a controller's fault switches it off. A fault because of which commands may not reach
/// a drive also switches it off, when the motors have braked; after a pause, the supply is switched
/// on again. After each switch-on, faults of the drives and of their bus are ignored for the boot
/// time.
///
/// Without such a switch, the supply counts as on and the drives as started. Runs on the loop thread
/// only.
public struct MotorSupply: Sendable, BitwiseCopyable {
    /// Settings of the switch.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// True if a GPIO line switches the supply.
        public var isSwitched = false
        /// Time from switching the supply on until the drives must answer, s.
        public var bootSeconds = 2.0

        /// Creates parameters without a switch.
        public init() {}
    }

    /// State of the supply.
    enum Phase: UInt8, Sendable, BitwiseCopyable {
        /// The supply is off.
        case off
        /// The supply is on, and the drives start.
        case starting
        /// The supply is on, and the drives must answer.
        case on
    }

    private(set) var phase = Phase.off
    /// Remaining time of the pause or of the boot time, s.
    private var seconds = 0.0
    /// True if all drives have answered since the supply was switched on.
    private var haveAnswered = false
    /// Conditions because of which the supply was switched off, until the boot time has passed again.
    private var cause = Conditions.none

    /// Time for which the supply stays off after a fault, s.
    static var pauseSeconds: Double { @_noLocks get { 5 } }

    /// Conditions that switch the supply off at once.
    static var stopping: Conditions {
        @_noLocks get { .emergencyStop | .shutdown | .controlFault }
    }

    /// Conditions because of which commands may not reach a drive.
    static var unreachable: Conditions {
        @_noLocks get { .driveSilent | .canBusOff | .motorPortLost | .busError }
    }

    /// Conditions that are ignored while the drives are without supply, or start.
    static var ignored: Conditions {
        @_noLocks get {
            unreachable | .driveFault | .driveOverload | .driveOverheated | .driveVoltage
                | .canErrors | .motorBytesDamaged | .driveUnguarded
        }
    }

    /// Creates a supply that is off.
    init() {}

    /// Updates the state for one tick.
    ///
    /// - Parameters:
    ///   - conditions: All conditions that hold now.
    ///   - areOutputsOff: True if the outputs were off in the last tick.
    ///   - dt: Seconds since the last tick, not negative.
    ///   - parameters: Settings of the switch.
    /// - Returns: The conditions without those that the state of the supply explains; with
    ///   `drivesStarting` while the drives are not expected to answer.
    @_noLocks
    mutating func step(
        _ conditions: Conditions, areOutputsOff: Bool, dt: Double, parameters: Parameters
    ) -> Conditions {
        guard parameters.isSwitched else {
            phase = .on
            return conditions
        }
        if conditions.intersects(Self.stopping) {
            phase = .off
            seconds = 0
            cause = .none
        } else {
            advance(conditions, areOutputsOff: areOutputsOff, dt: dt, boot: parameters.bootSeconds)
        }
        if case .on = phase { return conditions }
        return conditions.subtracting(Self.ignored) | cause | .drivesStarting
    }

    @_noLocks
    private mutating func advance(
        _ conditions: Conditions, areOutputsOff: Bool, dt: Double, boot: Double
    ) {
        seconds -= dt
        switch phase {
        case .off where seconds <= 0:
            phase = .starting
            seconds = boot
            haveAnswered = false
        case .starting where seconds <= 0:
            phase = .on
            cause = .none
            noteAnswers(conditions)
        case .off, .starting: break
        case .on:
            noteAnswers(conditions)
            guard haveAnswered, areOutputsOff, conditions.intersects(Self.unreachable) else {
                return
            }
            phase = .off
            seconds = Self.pauseSeconds
            cause = conditions.intersection(Self.unreachable)
        }
    }

    @_noLocks
    private mutating func noteAnswers(_ conditions: Conditions) {
        if !conditions.intersects(Self.unreachable) { haveAnswered = true }
    }

    /// True if the supply must be on.
    var isOn: Bool {
        @_noLocks get { if case .off = phase { false } else { true } }
    }

    /// True if the drives are expected to answer.
    var areDrivesStarted: Bool {
        @_noLocks get { if case .on = phase { true } else { false } }
    }
}
