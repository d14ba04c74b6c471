public import GimbalCore

/// State machine of an autotune run. The run excites the axes one after the other, in closed loop
/// and with a small amplitude. From each response, the run identifies the load of the axis and
/// designs the gains. An `AutotuneMethod` contains the parts that depend on the kind of motor.
///
/// The type has no side effects. The input of the run is the stabilizer's snapshot of every tick;
/// the output is the next action. If the present gains do not hold the camera still, the run begins
/// with low gains. The low gains are stable for inertias from 1/17 to 4 times the design inertia.
/// After a rough measurement with the low gains, the run measures again with suitable gains.
public struct AutotuneRun: Sendable {
    /// Next action.
    public enum Action: Sendable {
        /// Apply the given parameters until the next `trial` or the end of the run.
        case trial(Stabilizer.Parameters)
        /// Start an excitation.
        case excite(Excitation)
        /// Call `judge` and take its action: the measurement of an axis is complete.
        case judge
        /// The run has ended: restore the previous gains; `outcome` contains the result.
        case finish
    }

    /// Result of the run.
    public enum Outcome: Sendable {
        /// All axes were identified.
        case done
        /// The run ended early; the associated text states the reason.
        case failed(String)
    }

    private enum Phase: Sendable {
        case observing
        case catching
        case settling
        case ramping
        case measuring
        case judging
        case over
    }

    /// The axes to tune, in the order of the run.
    public let axes: [GimbalAxis]
    /// Results of the finished axes.
    public private(set) var results: [AxisResult] = []
    /// Result of the run; nil while it is running.
    public private(set) var outcome: Outcome?
    /// Inertia about the camera's axes in the tuning before the run, measured or configured, kg·m²;
    /// zero for servos.
    public private(set) var inertiaInForce = AxisVector.zero

    private let method: any AutotuneMethod
    private let tickRate: Double
    private let periodTicks: Int
    private var phase = Phase.observing
    private var ticks = 0
    private var waiting = 0
    private var largestError = 0.0
    private var saturated = 0
    private var baseline = 0.0
    private var swing = 0.0
    /// True if the gains in force are good enough for the final measurement.
    private var isFine = true
    private var trial: Stabilizer.Parameters?
    private var excitation: Excitation
    private var record: ExcitationRecord

    /// Largest RMS amplitude of the excitation, as a fraction of the full scale. A large torque
    /// reduces the influence of friction.
    private static let largestShare = 0.3
    /// RMS rate of the camera at which the amplitude of the excitation is sufficient, rad/s.
    private static let largestRate = 1.5
    private static let roughPeriods = 2
    private static let finePeriods = 4

    /// Creates a run that has not started.
    ///
    /// - Parameters:
    ///   - axes: Axes to tune, one to three.
    ///   - present: The tuning in force.
    ///   - tickRate: Ticks of the loop per second, Hz.
    public init(
        axes: [GimbalAxis], present: Stabilizer.Parameters, tickRate: Double
    ) {
        self.axes = axes
        method =
            switch present.motorType {
            case .torque: TorqueMethod(present: present)
            case .field: FieldMethod(present: present)
            case .servo: ServoMethod(present: present)
            }
        self.tickRate = tickRate
        // A period of 2 s gives spectral lines at a spacing of 0.5 Hz.
        periodTicks = Int((2 * tickRate).rounded())
        excitation = Excitation(
            id: 0, axis: axes.first ?? .yaw, amplitude: 0, periodTicks: Int32(periodTicks),
            ticks: 0, errorLimit: 0.2)
        record = ExcitationRecord(axis: .yaw, periodTicks: periodTicks)
    }

    /// The axis that is being measured.
    public var axis: GimbalAxis { axes[min(results.count, axes.count - 1)] }

    /// Present activity, as text for the user.
    public var words: String {
        switch phase {
        case .observing: "checking the present gains"
        case .catching, .settling: "letting the camera settle"
        case .ramping: "finding the amplitude of the shake"
        case .measuring: isFine ? "measuring" : "measuring roughly"
        case .judging: "evaluating the measurement"
        case .over: ""
        }
    }

    /// Approximate progress, 0...1.
    public var progress: Double {
        guard outcome == nil, !axes.isEmpty else { return 1 }
        let share: Double =
            switch phase {
            case .observing, .catching, .settling, .over: 0
            case .ramping: isFine ? 0.1 : 0.02
            case .measuring, .judging:
                (isFine ? 0.25 : 0.05) + (isFine ? 0.75 : 0.15) * Double(ticks)
                    / Double(max(excitation.ticks, 1))
            }
        return (Double(results.count) + min(share, 0.99)) / Double(axes.count)
    }

    /// Approximate remaining time, s.
    public var secondsLeft: Double {
        (1 - progress) * Double(axes.count) * (trial == nil ? 13.5 : 24)
    }

    /// Delay of the gyroscope relative to the joints' encoders; nil if the result is too inaccurate
    /// for a setting.
    public var gyroDelay: GyroDelay? {
        GyroDelay.common(of: results.compactMap(\.motor?.gyroDelay))
    }

    /// Tuning with the results of the finished axes.
    public var proposal: Stabilizer.Parameters { method.proposal(results) }

    /// Ends the run on request; `sentence` contains the reason.
    public mutating func cancel(_ sentence: String) {
        guard outcome == nil else { return }
        outcome = .failed(sentence)
        phase = .over
    }

    /// Advances the run by one tick.
    ///
    /// - Parameter snapshot: Snapshot after the tick.
    /// - Returns: Next action; usually nil, because most ticks need no action.
    public mutating func take(_ snapshot: StabilizerSnapshot) -> Action? {
        guard outcome == nil else { return nil }
        switch phase {
        case .observing: return observe(snapshot)
        case .catching: return catchCamera()
        case .settling: return settle(snapshot)
        case .ramping, .measuring: return follow(snapshot)
        case .judging, .over: return nil
        }
    }

    private mutating func fail(_ sentence: String) -> Action {
        cancel(sentence)
        return .finish
    }

    private mutating func observe(_ snapshot: StabilizerSnapshot) -> Action? {
        guard snapshot.output.enabled, snapshot.authority == 1 else {
            return fail("The motors are off: `airframectl status` shows the reason.")
        }
        ticks += 1
        // The loop keeps the ID of its last excitation, which can be of an earlier run. `begin`
        // counts on from this ID, so that the state of that excitation is not used.
        excitation.id = snapshot.excitation.id
        inertiaInForce = snapshot.inertia
        largestError = max(largestError, snapshot.attitudeError.norm)
        baseline += snapshot.rate.squaredNorm
        if snapshot.conditions.intersects(.motorSaturated) { saturated += 1 }
        guard ticks >= Int(0.5 * tickRate) else { return nil }
        baseline = (baseline / Double(ticks)).squareRoot()
        isFine = largestError < 0.025 && saturated == 0 && baseline < 0.5
        guard !isFine else { return ramp() }
        return soften()
    }

    /// Restarts the measurement of the axis, now with low gains, because the present gains are
    /// unsuitable. Before the restart, the run resets the controller's integrals.
    private mutating func soften() -> Action {
        isFine = false
        baseline = 0
        guard let limp = method.limp else { return settleSoftly() }
        trial = limp
        phase = .catching
        ticks = Int(0.3 * tickRate)
        return .trial(limp)
    }

    private mutating func settleSoftly() -> Action {
        let soft = method.soft
        trial = soft
        phase = .settling
        ticks = Int(3 * tickRate)
        return .trial(soft)
    }

    private mutating func catchCamera() -> Action? {
        ticks -= 1
        return ticks > 0 ? nil : settleSoftly()
    }

    private mutating func settle(_ snapshot: StabilizerSnapshot) -> Action? {
        ticks -= 1
        guard snapshot.output.enabled else {
            return fail("The motors were switched off: `airframectl status` shows the reason.")
        }
        return ticks > 0 ? nil : ramp()
    }

    private mutating func ramp() -> Action {
        phase = .ramping
        let scale = method.fullScale(axis)
        let next = excitation.axis == axis ? excitation.amplitude : 0
        return begin(amplitude: max(next, method.firstShare * scale), ticks: Int(0.5 * tickRate))
    }

    private mutating func begin(amplitude: Double, ticks count: Int) -> Action {
        excitation.id &+= 1
        excitation.axis = axis
        excitation.amplitude = amplitude
        excitation.ticks = Int32(count)
        // With low gains the limit on the attitude error is larger, because the camera then drifts
        // slowly.
        excitation.errorLimit = isFine ? 0.14 : 0.35
        record = ExcitationRecord(axis: axis, periodTicks: periodTicks)
        ticks = 0
        waiting = 0
        swing = 0
        return .excite(excitation)
    }

    /// Records the response of the axis during the excitation, and evaluates the record at the end
    /// of the excitation.
    private mutating func follow(_ snapshot: StabilizerSnapshot) -> Action? {
        let state = snapshot.excitation
        guard state.id == excitation.id else {
            waiting += 1
            return waiting < Int(tickRate)
                ? nil
                : fail(
                    "The control loop did not accept the request to shake the axis. Try again.")
        }
        if state.isActive {
            // The first period is skipped, because it contains the transients of the start.
            let skipped = if case .measuring = phase { periodTicks } else { Int(0.1 * tickRate) }
            let index = Int(state.tick) - 1
            guard index >= skipped else { return nil }
            guard index - skipped == record.inputs.count else {
                return fail(
                    "Samples were lost, because the computer is too busy. Stop other programs, and try again."
                )
            }
            method.record(snapshot, in: &record)
            swing = max(swing, snapshot.attitudeError.norm)
            ticks = index
            return nil
        }
        switch state.ending {
        case .complete: break
        case .error where trial == nil, .saturated where trial == nil: return soften()
        default: return fail(Self.sentence(state.ending, snapshot.conditionAxes))
        }
        guard case .measuring = phase else { return louder() }
        phase = .judging
        return .judge
    }

    private mutating func louder() -> Action {
        let limit = Self.largestShare * method.fullScale(axis)
        // Factor by which the amplitude can increase before the camera's rotation reaches the
        // limit. With low gains the factor is fixed, because the excitation is not the only cause
        // of the rotation.
        let bySwing = isFine ? method.largestSwing / max(swing, 1e-6) : 2
        let room = min(
            limit / excitation.amplitude, Self.largestRate / max(record.rateRMS, 1e-6), bySwing)
        if room <= 1.1 {
            phase = .measuring
            let periods = 1 + (isFine ? Self.finePeriods : Self.roughPeriods)
            return begin(
                amplitude: excitation.amplitude * min(room, 1), ticks: periods * periodTicks)
        }
        return begin(
            amplitude: excitation.amplitude * min(room, 1.7), ticks: Int(0.5 * tickRate))
    }

    /// Evaluates the measurement of an axis. The evaluation takes up to some tenths of a second;
    /// therefore `take` does not include it.
    ///
    /// - Returns: Next action; nil if no measurement is complete.
    public mutating func judge() -> Action? {
        guard case .judging = phase else { return nil }
        let inForce = trial ?? method.present
        guard let found = method.identify(record, inForce: inForce, tickRate: tickRate),
            found.residual < 0.5
        else {
            return fail(
                "The response of the \(axis) axis does not match a motor with a camera: check that all parts are fastened and that nothing touches the camera."
            )
        }
        if trial == nil, found.residual > method.doubtfulResidual { return soften() }
        guard isFine else {
            // The rough result is accurate enough to design the gains for the final measurement.
            let gains = method.trial(after: inForce, with: found)
            trial = gains
            isFine = true
            phase = .settling
            ticks = Int(1.5 * tickRate)
            // With a stiffer loop a smaller amplitude is sufficient.
            excitation.amplitude *= 0.5
            return .trial(gains)
        }
        results.append(found)
        if results.count == axes.count {
            outcome = .done
            phase = .over
            return .finish
        }
        isFine = trial == nil
        return ramp()
    }

    private static func sentence(_ ending: Exciter.Ending, _ axes: ConditionAxes) -> String {
        switch ending {
        case .none, .complete: ""
        case .command: "Another request has ended the autotune."
        case .outputs: "The motors were switched off: `airframectl status` shows the reason."
        case .jointLimit:
            "\(name("joint", axes.atLimit)) reached the end of its range: turn the handle until the joint is in the middle."
        case .saturated:
            "\(name("motor", axes.saturated)) was at its torque limit: balance the camera, and turn the handle until the joints are in the middle."
        case .error: "The camera swung too far: put the handle on a firm support, and try again."
        }
    }

    /// "The roll joint", for the first axis of the set; "A joint" for an empty set.
    private static func name(_ part: String, _ axes: AxisSet) -> String {
        GimbalAxis.allCases.first(where: axes.contains).map { "The \($0) \(part)" }
            ?? "A \(part)"
    }
}
