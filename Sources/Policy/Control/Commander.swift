public import GimbalCore
public import Port
public import Realtime
public import Robot
import Synchronization

/// Commander: the only object through which requests reach the motors. The Commander decides which
/// source is in control. Only the Commander writes to the command ring.
///
/// Links call the Commander on ordinary threads, and pass the time as an argument. The dead-man
/// function has two parts. Each rate command contains its expiry time; at this time, the loop stops
/// the motion without the Commander. `advance` releases control if the source in control is silent.
/// `advance` also begins the due steps of the link-loss fallback (`LossOfControl`).
public final class Commander: Sendable {
    private struct State: ~Copyable {
        var rules: Rules
        var ring: RingWriter<TimedCommand>
        var mode: Mode
        /// Number of mode requests that were pushed into the ring.
        var modeRequests: UInt64 = 0
        /// The source in control of the camera and the stepper motors.
        var holder: Hold?
        /// The source in control of the wheels, which can differ from `holder`.
        var driver: Hold?
        var turn = CameraTurn()
        /// Source of the newest request that took control; the source need not be in control now.
        var lastMover: CommandSource?
        /// Function that receives requests for the wheels, and can refuse them; nil without wheels.
        let wheels: (@Sendable (DriveModel.Request) -> Refusal?)?
        /// Interface to the stepper motors; nil without stepper motors.
        let steppers: Steppers?
        /// Sources of the stepper motors that search for their home switch, or that turn until
        /// their dead-man time has passed, by the motor's number.
        var turningSteppers: [Int: Hold] = [:]
        var stop = EmergencyStopLatch()
        var sticks = HeldSticks()
        var isShuttingDown = false
        var refusals: UInt64 = 0
        var lastRefusal: ControlState.Refused?
        var loss = LossOfControl()
    }

    private let state: Mutex<State>
    private let loop: @Sendable () -> LoopState?

    /// Creates a Commander without a source in control.
    ///
    /// - Parameters:
    ///   - ring: Producer's end of the command ring. Only the Commander writes to the command ring.
    ///   - bootMode: The mode in which the stabilizer starts.
    ///   - rules: Times and limits.
    ///   - loop: Function that returns the state of the loop after its last tick; nil if the state
    ///     is unknown. The Commander uses the state to refuse requests because of a missing sensor,
    ///     and to detect that the loop has ended mode `tracking`.
    ///   - wheels: Function that receives requests for the wheels, and refuses a request that the
    ///     wheels cannot execute now; nil without wheels. The function must not call the
    ///     `Commander`.
    ///   - steppers: Interface to the stepper motors; nil without stepper motors.
    public init(
        ring: consuming RingWriter<TimedCommand>, bootMode: Mode, rules: Rules,
        loop: @escaping @Sendable () -> LoopState? = { nil },
        wheels: (@Sendable (DriveModel.Request) -> Refusal?)? = nil,
        steppers: Steppers? = nil
    ) {
        self.loop = loop
        state = Mutex(
            State(
                rules: rules, ring: ring, mode: bootMode, wheels: wheels, steppers: steppers))
    }

    /// Changes the rules; the new rules apply from the next request on.
    public func apply(_ rules: Rules) {
        state.withLock { $0.rules = rules }
    }

    /// State of control at `now`.
    public func view(now: Instant) -> ControlState {
        let loop = loop()
        return state.withLock { state in
            Self.learn(from: loop, &state)
            var view = ControlState(mode: state.mode)
            view.holder = state.holder?.source
            view.lastMover = state.lastMover
            view.driver = state.driver?.source
            view.age = state.holder.map { now.seconds(since: $0.lastRequest) }
            view.stoppedBy = state.stop.owner(state.rules)
            view.stops = state.stop.links
            view.refusals = state.refusals
            view.lastRefusal = state.lastRefusal
            view.loss = Self.loss(state, now: now)
            return view
        }
    }

    /// Requests motion. After this method returns, the request takes effect at the loop's next
    /// tick.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: Source of the request.
    ///   - now: Time at which the request was received, on the loop's clock.
    /// - Throws: `Refusal` if the request is refused. A refused request changes nothing, with one
    ///   exception: before the refusal `stopped`, the source's own emergency stop is reset.
    public func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        let loop = loop()
        let refusal: Refusal? = state.withLock { state in
            Self.learn(from: loop, &state)
            let refusal =
                request.effect.missingSensor(loop)
                ?? Self.carryOut(request, from: source, now: now, &state)
            if let refusal {
                state.refusals &+= 1
                state.lastRefusal = ControlState.Refused(source: source, reason: refusal, time: now)
            }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// Checks whether the source can change settings, or choose the followed person. A barred link
    /// can do neither; an app cannot, while another source is in control. The check gives no control.
    ///
    /// - Throws: `Refusal` if the request is refused.
    public func admit(_ source: CommandSource, now: Instant) throws(Refusal) {
        let refusal: Refusal? = state.withLock { state in
            if state.rules.barred.contains(source.link) { return .barred(source.link) }
            guard source.link == .airos else { return nil }
            return Self.admit(source, beside: state.holder, now: now, state.rules)
        }
        if let refusal { throw refusal }
    }

    /// Handles the end of the source's connection. After the connection has ended, the source is no
    /// longer in control. If the source was in control, its rate requests end immediately.
    public func disconnected(_ source: CommandSource, now: Instant) {
        state.withLock { state in
            state.loss.cutOff(source)
            Self.release(by: source, &state, now: now)
            // The end of a connection stops a motion that an assistant has requested. A person's
            // `point` continues, because `airframectl` exits immediately after the request.
            if source.link == .assistant, state.lastMover == source { Self.stopCamera(&state, now) }
        }
    }

    /// Releases control if the source in control is silent, and begins the next step of the
    /// link-loss fallback (`LossOfControl`) if due. Call this method at least every 0.1 s.
    ///
    /// - Returns: The step of the fallback that has begun, with the source of the missing rate
    ///   requests; nil if no step has begun.
    @discardableResult
    public func advance(now: Instant) -> ControlState.Loss? {
        let loop = loop()
        return state.withLock { state in
            Self.learn(from: loop, &state)
            let isEntered = Self.enterStage(&state, loop, now: now)
            if let holder = state.holder, Self.isSilent(holder, now: now, state.rules) {
                Self.releaseCamera(&state, now: now)
            }
            // After a client has taken control from the source of a search and has left, no source
            // is in control. The search nevertheless ends if its source is silent.
            let rules = state.rules
            let silent = state.turningSteppers.axes { Self.isSilent($0, now: now, rules) }
            Self.stopSteppers(&state, silent)
            if let driver = state.driver, Self.isSilent(driver, now: now, state.rules) {
                Self.stopWheels(&state)
            }
            return isEntered ? Self.loss(state, now: now) : nil
        }
    }

    /// Resets the Commander to its state after the start of the process. No source is in control,
    /// and the mode is the boot mode. A latched emergency stop stays latched.
    ///
    /// - Parameters:
    ///   - bootMode: The mode in which the stabilizer starts.
    ///   - restartLoop: Function that restarts the loop and discards its waiting requests. No
    ///     request is accepted during the call. The function must not call the `Commander`.
    public func restart(bootMode: Mode, restartLoop: () -> Void) {
        state.withLock { state in
            restartLoop()
            state.holder = nil
            state.driver = nil
            state.turn = CameraTurn()
            state.loss.settle()
            state.mode = bootMode
            state.modeRequests = 0
            if state.stop.isLatched, state.ring.push(TimedCommand(.emergencyStop)) {
                Self.noteMode(.inactive, &state)
            }
            if state.isShuttingDown { _ = state.ring.push(TimedCommand(.shutdown)) }
        }
    }

    /// Switches the outputs off permanently, and refuses all later requests, because the process is
    /// ending.
    public func shutDown() {
        state.withLock { state in
            state.isShuttingDown = true
            Self.stopWheels(&state)
            Self.stopSteppers(&state, [0, 1, 2])
            _ = state.ring.push(TimedCommand(.shutdown))
        }
    }

    /// Number of slots in the ring that are reserved for safety commands. Safety commands are an
    /// emergency stop, the stop of the camera when control is released, and the shutdown.
    private static let reserve = 3

    private static func carryOut(
        _ request: MotionRequest, from source: CommandSource, now: Instant, _ state: inout State
    ) -> Refusal? {
        if state.isShuttingDown { return .shuttingDown }
        if case .camera(.emergencyStop) = request.effect {
            // A stop is not sent again while a stop is latched or queued. Therefore repeated stops
            // cannot use up the reserved slots.
            if !state.stop.isLatched {
                let stop = TimedCommand(.emergencyStop, received: now)
                guard state.ring.push(stop) else { return .busy }
                noteMode(.inactive, &state)
            }
            state.stop.latch(by: source)
            state.turn = CameraTurn()
            state.loss.settle()
            state.driver = nil
            _ = state.wheels?(.emergencyStop)
            stopSteppers(&state, [0, 1, 2])
            return nil
        }
        if state.rules.barred.contains(source.link) { return .barred(source.link) }
        if case .camera(.resetEmergencyStop) = request.effect, state.stop.isLatched {
            return takeBackStop(by: source, now: now, &state)
        }
        if case .release = request.effect {
            if state.holder?.source == source { state.loss.settle() }
            release(by: source, &state, now: now)
            return nil
        }
        var present = state.holder
        if case .wheels = request.effect { present = state.driver }
        if let refusal = admit(source, beside: present, now: now, state.rules) { return refusal }
        let until = state.rules.end(of: request, from: now)
        let isStopped = state.stop.isLatched
        let isHeld = state.sticks.isHeld(
            request, from: source, until: until, isStopped: isStopped, now: now)
        if let refusal = request.refusal(in: state.mode, isStopped: isStopped) { return refusal }
        if isHeld { return .stickHeld }
        let hold = Hold(source: source, lastRequest: now)
        switch request.effect {
        case .wheels(let left, let right):
            guard let wheels = state.wheels else { return .noWheels }
            let wish = DriveModel.Request(left: left, right: right, validUntil: until)
            let refusal = wheels(wish)
            // A driver whose requests the wheels refuse is not silent. Otherwise the driver would
            // lose control, and the stop of the wheels would open their interlock.
            if refusal == nil || state.driver?.source == source { state.driver = hold }
            return refusal
        case .stepper(let axis, let wanted):
            guard let steppers = state.steppers else { return .noSteppers }
            if wanted == .home, !steppers.hasSwitches { return .noHomeSwitches }
            steppers.ask(axis, wanted.goal(now: now, validUntil: until))
            switch wanted {
            case .turn, .home: state.turningSteppers[axis] = hold
            case .hold, .position, .by: state.turningSteppers[axis] = nil
            }
            state.holder = hold
            state.turningSteppers.refresh(hold)
            return nil
        case .camera(let command):
            let timed = TimedCommand(command, received: now, validUntil: until)
            guard state.ring.room > reserve, state.ring.push(timed) else { return .busy }
        case .take, .release: break
        }
        guard request.takesControl else { return nil }
        (state.holder, state.lastMover) = (hold, source)
        state.turningSteppers.refresh(hold)
        switch state.turn.note(request) {
        case true?: state.loss.turned(by: source, now: now)
        // A second request for other axes does not end the turn.
        case nil where request.lifetime == .rates && state.loss.source == source: break
        default: state.loss.settle()
        }
        if case .camera(.mode(let mode)) = request.effect { noteMode(mode, &state) }
        return nil
    }

    /// Checks whether the source can take control. The source can take control if no source is in
    /// control, or if the source in control is silent, has a lower rank, or is the same source. A
    /// client of the diagnostics socket can also take control from another client of this socket.
    /// Input controls of this computer can take control from every source.
    private static func admit(
        _ source: CommandSource, beside holder: Hold?, now: Instant, _ rules: Rules
    ) -> Refusal? {
        guard let holder, holder.source != source else { return nil }
        let rank = rules.rank(of: source.link)
        if rank >= .attached || rank > rules.rank(of: holder.source.link) { return nil }
        if isSilent(holder, now: now, rules) { return nil }
        return .held(by: holder.source, age: now.seconds(since: holder.lastRequest))
    }

    private static func isSilent(_ hold: Hold, now: Instant, _ rules: Rules) -> Bool {
        now.seconds(since: hold.lastRequest) > rules.releaseAfterSeconds
    }

    /// Resets a stop. The source need not be in control of the camera, because nothing moves after
    /// the reset. The reset depends only on two ranks: the rank of the source, and the rank of the
    /// source that requested the stop.
    private static func takeBackStop(
        by source: CommandSource, now: Instant, _ state: inout State
    ) -> Refusal? {
        var stop = state.stop
        if let left = stop.takeBack(by: source, state.rules) {
            state.stop = stop
            return .stopped(by: left)
        }
        let reset = TimedCommand(.resetEmergencyStop, received: now)
        guard state.ring.room > reserve, state.ring.push(reset) else { return .busy }
        state.stop = stop
        return nil
    }

    /// If the loop has executed the newest mode request, adopts the mode that the loop reports.
    private static func learn(from loop: LoopState?, _ state: inout State) {
        guard let loop, loop.modeRequests == state.modeRequests else { return }
        state.mode = loop.mode
    }

    /// Begins the next step of the reaction to missing rate requests if the step is due; returns
    /// true if a step has begun.
    private static func enterStage(
        _ state: inout State, _ loop: LoopState?, now: Instant
    ) -> Bool {
        guard let stage = state.loss.due(now: now, state.rules.stages) else { return false }
        let mode: Mode? =
            switch stage {
            case .hold: nil
            case .fallback: state.rules.fallbackMode
            case .off: .inactive
            }
        // Mode `inactive` does not change, because a fallback must not start motors.
        if let mode, state.mode != .inactive, !state.stop.isLatched, !state.isShuttingDown {
            // If the joint angles are unknown, the fallback mode is not possible, so the camera
            // keeps its attitude.
            if MotionRequest.mode(mode).effect.missingSensor(loop) != nil { return false }
            let timed = TimedCommand(.mode(mode), received: now)
            guard state.ring.room > reserve, state.ring.push(timed) else { return false }
            noteMode(mode, &state)
            state.turn = CameraTurn()
        }
        state.loss.enter(stage)
        return true
    }

    private static func loss(_ state: borrowing State, now: Instant) -> ControlState.Loss? {
        guard let source = state.loss.source, let stage = state.loss.stage,
            let silence = state.loss.silence(now: now)
        else { return nil }
        return ControlState.Loss(
            source: source, stage: stage, silence: silence, hasDisconnected: state.loss.isCutOff)
    }

    private static func noteMode(_ mode: Mode, _ state: inout State) {
        state.mode = mode
        state.modeRequests &+= 1
    }

    private static func stopWheels(_ state: inout State) {
        if state.driver != nil { _ = state.wheels?(.none) }
        state.driver = nil
    }

    private static func stopSteppers(_ state: inout State, _ axes: [Int]) {
        for axis in axes {
            state.steppers?.ask(axis, .hold)
            state.turningSteppers[axis] = nil
        }
    }

    /// Ends the source's control of camera and wheels, and stops the motion that the source has
    /// requested. Stepper motors that move to a position continue to the position, and hold it.
    private static func release(by source: CommandSource, _ state: inout State, now: Instant) {
        if state.driver?.source == source { stopWheels(&state) }
        if state.holder?.source == source { releaseCamera(&state, now: now) }
        stopSteppers(&state, state.turningSteppers.axes { $0.source == source })
    }

    private static func stopCamera(_ state: inout State, _ now: Instant) {
        let stop = state.mode == .tracking ? Command.track(pan: 0, tilt: 0) : .rate(.zero)
        _ = state.ring.push(TimedCommand(stop, received: now, validUntil: now))
    }

    /// Releases control of the camera and the stepper motors, and stops the camera.
    private static func releaseCamera(_ state: inout State, now: Instant) {
        if state.turn.isActive { stopCamera(&state, now) }
        state.turn = CameraTurn()
        state.holder = nil
    }
}
