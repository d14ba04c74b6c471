import Configuration
import GimbalCore
import Logging
import Port
import Wire

/// Handler of the events of all input devices. The handler recognises gestures and deflections, and
/// sends the requests that the settings bind to them. The panel reads no file and no clock; callers
/// pass the events and the time as arguments. Only the thread airframed-ctrl uses the panel.
struct ControlPanel {
    /// Counters since the start of airframed.
    struct Counters: Equatable {
        /// Number of gestures whose request was accepted.
        var granted = 0
        /// Number of gestures whose request was refused.
        var refused = 0
        /// Number of contacts that were shorter than the debounce time.
        var glitches = 0
        /// Number of times that a button or a stick became stuck.
        var stuck = 0
        /// Number of times that the kernel dropped events.
        var dropped = 0
    }

    /// Shortest and longest interval between two rate requests while a stick is deflected, s.
    private static let (shortestSeconds, repeatSeconds) = (0.005, 0.1)
    /// Longest time until the loop executes a request, s. The next step starts from the target of
    /// the newest step until the loop has processed a sample that is newer by this time.
    private static let requestSeconds = 0.01
    /// Largest number of stored events.
    static let maximumEvents = 32

    private(set) var counters = Counters()
    private(set) var devices: [Int: ControlDevice] = [:]
    /// The newest events, oldest first.
    private(set) var events: [ControlsReport.Event] = []
    /// Number of events since the start.
    private(set) var sequence = 0
    /// Most recently identified control.
    private(set) var learned: ControlsReport.Learned?
    private var learnsUntil: Instant?
    private var settings: Settings.Controls
    private var rules: GestureRules
    private var effects: [Control: [Gesture: ControlAction]] = [:]
    private var turns: [(code: UInt16, axis: GimbalAxis, isReversed: Bool)] = []
    private let port: any GimbalPort
    private let others: ControlEffects
    private let log: Logger
    private var source = CommandSource(link: .controls, connection: 1)
    /// Modes of the buttons that are held.
    private var heldModes = HeldModes()
    private var asked = AxisVector.zero
    /// Time of the last rate request; nil before the first one.
    private var askedAt: Instant?
    private var refusal: String?
    /// Axis, target angle, rad, and time of the newest step; nil before the first one.
    private var stepped: (axis: GimbalAxis, angle: Double, at: Instant)?

    /// Creates a panel that has no devices yet.
    init(port: any GimbalPort, effects: ControlEffects, logger: Logger) {
        self.port = port
        others = effects
        log = logger
        settings = port.settings.controls
        rules = GestureRules(settings)
        bind()
    }

    private mutating func bind() {
        rules = GestureRules(settings)
        effects = [:]
        turns = []
        for binding in settings.bindings {
            if case .stick(let code) = binding.control,
                case .turn(let axis, let isReversed) = binding.action
            {
                turns.append((code, axis, isReversed))
            } else if let gesture = binding.gesture {
                effects[binding.control, default: [:]][gesture] = binding.action
            }
        }
    }

    /// Actions of a control as text, one for each gesture.
    func actions(of control: Control) -> [String] {
        var list = (effects[control] ?? [:]).map { "\($0.key.rawValue): \($0.value)" }.sorted()
        if case .stick(let code) = control {
            let own = turns.filter { $0.code == code }
            list += own.map { "\(ControlAction.turn($0.axis, isReversed: $0.isReversed))" }
        }
        return list
    }

    // MARK: Devices

    /// Adds a device that has just been opened.
    mutating func connect(_ id: Int, _ device: ControlDevice) {
        devices[id] = device
        let name = device.description.name
        log.notice("The input device \(name) (\(device.node)) can move the gimbal.")
    }

    /// Removes a device, and stops the motion that the device has requested.
    mutating func disconnect(_ id: Int, now: Instant) {
        guard let device = devices.removeValue(forKey: id) else { return }
        log.notice("The input device \(device.description.name) (\(device.node)) was removed.")
        endModes(of: id, nil, now: now)
        turn(now: now)
        if devices.isEmpty { port.left(source, now: now) }
    }

    /// Handles an event of a device.
    mutating func handle(_ event: InputEvent, from id: Int, now: Instant) {
        guard devices[id] != nil else { return }
        switch event.kind {
        case .dropped:
            devices[id]?.isDropping = true
            counters.dropped += 1
        case .other, .report: break
        default:
            // If the time of an event is not on the loop's clock, the present time is used.
            var event = event
            let age = now.seconds(since: event.time)
            if !(0...1).contains(age) { event.time = now }
            let happenings = devices[id]?.handle(event, rules) ?? []
            happenings.forEach { carryOut($0, from: id, now: now) }
        }
    }

    /// True if the events of a device are invalid until the next report event.
    func isDropping(_ id: Int) -> Bool { devices[id]?.isDropping ?? false }

    /// Adopts the present state of a device after events were lost.
    mutating func resume(_ id: Int, _ state: InputState, now: Instant) {
        devices[id]?.isDropping = false
        let happenings = devices[id]?.resume(state, now: now) ?? []
        happenings.forEach { carryOut($0, from: id, now: now) }
    }

    // MARK: Time

    /// Handles the timeouts that have expired since the last event, and sends due requests. Call
    /// this method after every batch of events, and at `due`.
    mutating func advance(now: Instant) {
        let present = port.settings.controls
        if present != settings {
            settings = present
            bind()
        }
        if let until = learnsUntil, until <= now { learnsUntil = nil }
        rules.isLearning = learnsUntil != nil
        for id in devices.keys.sorted() {
            guard let (happenings, stuck) = devices[id]?.advance(now: now, rules) else { continue }
            happenings.forEach { carryOut($0, from: id, now: now) }
            for code in stuck {
                counters.stuck += 1
                note(
                    id, .stick(code), "stuck", "", "ignored until the stick returns to its centre",
                    now)
            }
            if learnsUntil != nil, learned == nil { learn(id, now: now) }
        }
        turn(now: now)
    }

    /// Next time at which `advance` has an effect; nil if no such time is known.
    func due(now: Instant) -> Instant? {
        var times = devices.values.compactMap { $0.due(rules) }
        if let learnsUntil { times.append(learnsUntil) }
        let rates = wanted
        if rates != .zero || asked != .zero {
            let wait = rates == asked ? interval : Self.shortestSeconds
            times.append(askedAt?.advanced(bySeconds: wait) ?? now)
        }
        return times.min()
    }

    /// Interval between two requests of a deflected stick, s. If one request is late, the next one
    /// still arrives before the dead-man time of the mode ends.
    private var interval: Double {
        let settings = port.settings
        let isTracking = port.control.mode == .tracking
        let deadMan = isTracking ? settings.tracking.timeoutS : settings.commander.deadManS
        return min(Self.repeatSeconds, deadMan / 3)
    }

    // MARK: Learning

    /// Identifies a control. For the given number of seconds, the panel reports each control that
    /// is used, and does not execute the control's action. An emergency stop is executed.
    mutating func learn(seconds: Double, now: Instant) {
        learned = nil
        learnsUntil = now.advanced(bySeconds: seconds)
        rules.isLearning = true
    }

    /// Ends the identification of a control.
    mutating func endLearning() {
        learnsUntil = nil
        rules.isLearning = false
    }

    /// True if a control is being identified.
    var isLearning: Bool { learnsUntil != nil }

    private mutating func learn(_ id: Int, now: Instant) {
        guard let device = devices[id] else { return }
        for (code, stick) in device.sticks where abs(stick.deflection(deadZone: 0)) > 0.7 {
            // A D-pad and a trigger are used as buttons, not as sticks.
            if device.isButtonLike(code) { continue }
            learned = ControlsReport.Learned(
                device: device.description.name, control: "\(Control.stick(code))", gesture: "")
        }
    }

    // MARK: Effects

    private mutating func carryOut(
        _ happening: ControlDevice.Happening, from id: Int, now: Instant
    ) {
        let control = happening.control
        switch happening.outcome {
        case .glitch: counters.glitches += 1
        case .stuck:
            counters.stuck += 1
            note(id, control, "stuck", "", "ignored until the button is released", now)
        case .released: endModes(of: id, control, now: now)
        case .gesture(let gesture):
            // An emergency stop always has an effect.
            if learnsUntil != nil, effects[control]?[gesture] != .stop {
                // A press precedes every other gesture of a button, so the press is ignored here.
                guard gesture != .press else { return }
                learned = ControlsReport.Learned(
                    device: devices[id]?.description.name ?? "", control: "\(control)",
                    gesture: gesture.rawValue)
                return
            }
            guard let action = effects[control]?[gesture] else {
                if gesture != .press, !isOfStick(control) {
                    note(id, control, gesture.rawValue, "", "not bound", now)
                }
                return
            }
            perform(action, id, control, gesture, now: now)
        }
    }

    /// True if the control is an end position of an axis that the settings use as a stick.
    private func isOfStick(_ control: Control) -> Bool {
        guard case .end(let code, _) = control else { return false }
        return turns.contains { $0.code == code }
    }

    private mutating func perform(
        _ action: ControlAction, _ id: Int, _ control: Control, _ gesture: Gesture, now: Instant
    ) {
        let outcome: String
        do throws(Refusal) {
            switch action {
            case .turn: return
            case .mode(let mode): try ask(.mode(mode), now: now)
            case .modeWhileHeld(let mode):
                let earlier = port.control.mode
                guard earlier != .inactive else { throw .inactive }
                try ask(.mode(mode), now: now)
                heldModes.begin(mode, after: earlier, control, of: id)
            case .nextMode: try ask(.mode(port.nextMode), now: now)
            case .recentre: try port.recentre(from: source, now: now)
            case .step(let axis, let angle):
                try step(axis, Angle.degrees(angle).radians, now: now)
            case .stop: try ask(.emergencyStop, now: now)
            case .resetStop: try ask(.resetEmergencyStop, now: now)
            case .record: others.record(later(action))
            case .profile(let name): others.profile(name, later(action))
            case .nextProfile: others.profile(nil, later(action))
            }
            counters.granted += 1
            outcome = "done"
        } catch {
            counters.refused += 1
            outcome = error.message
            log.warning("\(control) \(gesture.rawValue): \(action) is refused: \(error.message).")
        }
        note(id, control, gesture.rawValue, "\(action)", outcome, now)
    }

    private func later(_ action: ControlAction) -> Later<String> {
        { [log] result in
            switch result {
            case .success(let sentence): log.notice("Action of a button: \(sentence)")
            case .failure(let refusal):
                log.warning("The action \(action) of a button was refused: \(refusal.message).")
            }
        }
    }

    private func ask(_ request: MotionRequest, now: Instant) throws(Refusal) {
        try port.request(request, from: source, now: now)
    }

    /// Ends the modes of one control of a device, or of all its controls if `control` is nil.
    private mutating func endModes(of id: Int, _ control: Control?, now: Instant) {
        let present = port.control.mode
        let mode = heldModes.end(control, of: id, in: present)
        if mode != present { try? ask(.mode(mode), now: now) }
    }

    private mutating func step(_ axis: GimbalAxis, _ angle: Double, now: Instant) throws(Refusal) {
        guard let snapshot = port.snapshot else {
            throw Refusal(.noValue, "The sensor has not delivered a sample yet.")
        }
        var wanted = snapshot.stepStart[axis] + angle
        if let stepped, stepped.axis == axis,
            snapshot.sampleTime.seconds(since: stepped.at) < Self.requestSeconds
        {
            wanted = stepped.angle + angle
        }
        if axis == .yaw, port.control.mode == .panFollow {
            guard let heading = VehicleHeading.heading(in: snapshot) else {
                throw Refusal(.noValue, "The joint angles are unknown.")
            }
            let aside = (wanted - heading).remainder(dividingBy: 2 * .pi)
            try ask(.lookAside(yaw: aside, rate: 0), now: now)
        } else {
            var target = AxisVector.unknown
            // Requests permit half a turn; the set-point stops at the end of its range.
            if axis != .yaw { wanted = min(max(wanted, -.pi), .pi) }
            target[axis] = axis == .yaw ? wanted.remainder(dividingBy: 2 * .pi) : wanted
            try ask(.point(target, duration: 0), now: now)
        }
        stepped = (axis, wanted, now)
    }

    // MARK: Sticks

    /// Rates that the sticks of all devices request, rad/s.
    private var wanted: AxisVector {
        guard learnsUntil == nil else { return .zero }
        var rates = AxisVector.zero
        for turn in turns {
            let fractions = devices.values.compactMap {
                $0.sticks[turn.code]?.deflection(deadZone: settings.deadZone)
            }
            // If several devices have this stick, the stick with the largest deflection is used.
            let fraction = fractions.max { abs($0) < abs($1) } ?? 0
            let full = Angle.degrees(settings.maxRateDps[turn.axis]).radians
            let rate = StickAxis.rate(fraction, expo: settings.expo) * full
            rates[turn.axis] += turn.isReversed ? -rate : rate
        }
        return rates
    }

    /// Sends the rates of the sticks after a change, or before the last request expires.
    private mutating func turn(now: Instant) {
        let rates = wanted
        guard rates != .zero || asked != .zero else { return }
        let age = askedAt.map { now.seconds(since: $0) } ?? .infinity
        guard rates == .zero || age >= (rates == asked ? interval : Self.shortestSeconds) else {
            return
        }
        let before = asked
        askedAt = now
        asked = rates
        do throws(Refusal) {
            switch port.control.mode {
            case .panFollow:
                // Rates of 0 stop roll and pitch, so a turn of yaw alone sends no rates of 0.
                let own = AxisVector(yaw: 0, roll: rates.roll, pitch: rates.pitch)
                if own != .zero || before.roll != 0 || before.pitch != 0 || rates == .zero {
                    try ask(.rate(own), now: now)
                }
                try ask(.lookAside(yaw: .nan, rate: rates.yaw), now: now)
            case .tracking: try ask(.track(pan: rates.yaw, tilt: -rates.pitch), now: now)
            default: try ask(.rate(rates), now: now)
            }
            refusal = nil
        } catch {
            if refusal != error.message { log.warning("Stick request refused: \(error.message).") }
            refusal = error.message
        }
    }

    /// Rates that the sticks have requested, deg/s.
    var turning: AxisVector { asked * (180 / .pi) }

    private mutating func note(
        _ id: Int, _ control: Control, _ gesture: String, _ action: String, _ outcome: String,
        _ now: Instant
    ) {
        sequence += 1
        events.append(
            ControlsReport.Event(
                sequence: sequence, t: Number(Double(now.nanoseconds) * 1e-9),
                device: devices[id]?.description.name ?? "", control: "\(control)",
                gesture: gesture, action: action, outcome: outcome))
        if events.count > Self.maximumEvents { events.removeFirst() }
    }
}
