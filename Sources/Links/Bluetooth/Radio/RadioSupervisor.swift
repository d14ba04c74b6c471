import GimbalCore

/// Supervisor that starts the peripheral's advertisements and services. After a failure of the bus,
/// bluetoothd or the adapter, the supervisor restores the advertisements and services.
///
/// The supervisor is a state machine without a clock or a bus. The supervisor's inputs are events
/// and the time; its outputs are requests to bluetoothd. The supervisor compares the desired state
/// with the present state, and requests each missing step from bluetoothd. Therefore the bus,
/// bluetoothd and the adapter can fail and return in any order. The supervisor repeats failed
/// requests at growing intervals.
struct RadioSupervisor {
    /// Desired state of Bluetooth.
    struct Plan {
        /// Name of the Bluetooth adapter, such as "hci0"; empty for the first adapter.
        var adapter = ""
        /// Adapter name that phones read.
        var alias = ""
        /// Number of advertisements.
        var advertisements = 0
        /// True if phones must pair before they can read and write.
        var isEncrypted = false
    }

    /// Reported state of an adapter.
    struct Adapter: Equatable {
        var interfaces: Set<RadioInterface> = []
        var isPowered: Bool?
        var isPairable: Bool?
        var alias: String?
        /// Number of advertisements that the adapter sends.
        var sent: Int?
        /// Number of advertisements that the adapter can accept in addition to the present ones.
        var slots: Int?

        /// True if the adapter can be a peripheral.
        var isComplete: Bool { interfaces.isSuperset(of: RadioInterface.ofAdapter) }
    }

    /// State of a step; the supervisor requests the step until bluetoothd has executed it.
    enum Step: Equatable {
        /// The step has not been requested yet.
        case wanted
        /// The last request of the step failed; the step must be requested again at this time.
        case waiting(until: Instant)
        case asked
        case done
        /// The advertisement is being withdrawn, and is then registered again.
        case renewing

        var isWaiting: Bool {
            if case .waiting = self { true } else { false }
        }
    }

    /// Shortest and longest interval between two attempts of a step, s.
    static let firstRetry = 0.25
    static let lastRetry = 8.0
    /// Interval between attempts to connect to a missing bus, s.
    static let busRetry = 1.0
    /// Time from a disconnection until the advertisements are registered again, s. The new
    /// registration restores advertisements that the adapter has lost. Therefore a returning phone
    /// finds the advertisements.
    static let renewalDelay = 1.0
    /// Longest time from the acceptance of an advertisement to the adapter's report, s.
    static let patience = 2.0
    /// Time from the first list of bluetoothd's objects until a missing adapter, or an adapter that
    /// is off, counts as a problem, s. A new bluetoothd answers before it has read its adapters.
    static let adapterPatience = 2.0

    let plan: Plan
    private(set) var hasBus = false
    private(set) var hasDaemon = false
    /// False until the bus has answered for the first time, or until its absence is known.
    private var isBusKnown = false
    var adapters: [String: Adapter] = [:]
    var application = Step.wanted
    var advertisements: [Step]
    /// Message about the last failure; nil if there was none.
    var lastError: String?
    private(set) var restarts = 0
    var registrations = 0
    private(set) var renewed = 0
    private(set) var lost = 0
    /// Time until which pairing is allowed; nil if pairing is not allowed.
    private(set) var pairingUntil: Instant?

    private var bus: Step
    var listing = Step.wanted
    /// bluetoothd's refusal to list its objects; nil if there was none since bluetoothd's start.
    var listRefusal: RadioFailure?
    /// Time until which bluetoothd can still find its adapter and switch it on; nil if the adapter
    /// has been on since bluetoothd's start, or if this time is over.
    var adapterDue: Instant?
    var agent = Step.wanted
    var naming = Step.wanted
    var pairability = Step.wanted
    var askedPairable = false
    /// Step that switches the adapter on. The supervisor repeats the step until the step succeeds.
    /// If a user later switches the adapter off, the adapter remains off.
    var powering = Step.wanted
    /// State of the adapter's power cycle. A link to a phone can remain after bluetoothd has
    /// exited. While this link exists, the phone cannot connect again. The power cycle ends the
    /// link.
    var cutting = Step.done
    private var deadLinks: Set<String> = []
    private(set) var chosen: String?
    var asksForHandles = true
    /// Time at which the advertisements are registered again; nil if the adapter sends all
    /// advertisements that it has accepted. The supervisor waits, because the adapter's report can
    /// be late.
    private var suspicion: Instant?
    /// Time at which the advertisements are registered again after a disconnection; nil if no
    /// registration is planned. At a disconnection, the adapter can lose an advertisement without
    /// reporting the loss. A new connection shows that no advertisement was lost.
    private var renewal: Instant?
    /// True if all advertisements were registered and are now being registered again.
    private var isRenewing = false
    private var retry = Self.firstRetry

    /// Creates the supervisor in its initial state.
    init(_ plan: Plan) {
        self.plan = plan
        bus = .wanted
        advertisements = Array(repeating: .wanted, count: plan.advertisements)
    }

    /// True until the bus has reported whether bluetoothd runs, until bluetoothd has listed its
    /// objects, and until its adapter is on or too late; nothing is known to be missing yet.
    var isStarting: Bool {
        guard isBusKnown else { return true }
        return hasDaemon && (listing == .done ? adapterDue != nil : listRefusal == nil)
    }
    /// D-Bus object path of the adapter in use; nil if there is none.
    var adapterPath: String? { chosen }
    /// Reported state of the adapter in use; nil if there is none.
    var adapter: Adapter? { chosen.flatMap { adapters[$0] } }
    /// True if phones can find the peripheral: the services and all advertisements are registered
    /// or being registered again.
    var isOnAir: Bool {
        application == .done && adapter?.isPowered == true && (isRenewing || isAdvertising)
    }

    private var isAdvertising: Bool { advertisements.allSatisfy { $0 == .done } }

    /// Time at which `handle(.time)` must be called if no other event occurs.
    var deadline: Instant? {
        let steps =
            [bus, listing, agent, naming, pairability, powering, application] + advertisements
        let waits = steps.compactMap { step -> Instant? in
            if case .waiting(let until) = step { until } else { nil }
        }
        let times = [pairingUntil, suspicion, renewal, adapterDue]
        return (waits + times.compactMap(\.self)).min()
    }

    /// Updates the supervisor's state after an event.
    ///
    /// - Returns: Requests that must be executed, in this order.
    mutating func handle(_ event: RadioEvent, now: Instant) -> [RadioAction] {
        var actions: [RadioAction] = []
        switch event {
        case .time: break
        case .busOpened: bus = .done
        case .busLost(let error): loseBus(error, now: now)
        case .daemon(let isPresent): setDaemon(isPresent)
        case .interface(let interface, let path, let isPresent):
            setInterface(interface, of: path, isPresent)
        case .powered(let path, let isOn): setPowered(path, isOn)
        case .alias(let path, let name):
            adapters[path]?.alias = name
            if path == chosen, name != plan.alias { naming = .wanted }
        case .slots(let path, let count): adapters[path]?.slots = count
        case .pairable(let path, let isOn): adapters[path]?.isPairable = isOn
        case .done(let call, let failure): actions += finish(call, failure, now: now)
        case .deadLink(let device): deadLinks.insert(device)
        case .released(let index): lose(index, now: now)
        case .active(let path, let count): adapters[path]?.sent = count
        case .agentReleased: agent = .wanted
        case .centralCame: renewal = nil
        case .centralLeft: renewal = now.advanced(bySeconds: Self.renewalDelay)
        case .renamed: renewal = now
        case .allowPairing(let until): pairingUntil = until
        }
        if let until = pairingUntil, now >= until { pairingUntil = nil }
        if let due = renewal, now >= due {
            renewal = nil
            if isOnAir { actions += renew() }
        }
        actions += proceed(now: now)
        if let due = adapterDue, now >= due || adapter?.isPowered == true { adapterDue = nil }
        if isAdvertising || advertisements.contains(where: \.isWaiting) { isRenewing = false }
        if isOnAir, !isRenewing, suspicion == nil { retry = Self.firstRetry }
        return actions
    }
}

extension RadioSupervisor {
    /// Requests every step that is possible now and has not been executed yet.
    private mutating func proceed(now: Instant) -> [RadioAction] {
        if isDue(&bus, now) { return [.openBus] }
        guard hasDaemon else { return [] }
        if isDue(&listing, now) { return [.list] }
        guard listing == .done else { return [] }
        choose()
        guard let path = chosen, let adapter else { return [] }
        if isCutting(path, adapter) { return isDue(&cutting, now) ? [.powerOff(path)] : [] }
        guard adapter.isPowered == true else {
            return adapter.isPowered == false && isDue(&powering, now) ? [.powerOn(path)] : []
        }
        powering = .done
        var actions: [RadioAction] = []
        if let alias = adapter.alias, alias == plan.alias { naming = .done }
        if isDue(&naming, now) { actions.append(.setAlias(path, plan.alias)) }
        if plan.isEncrypted {
            if isDue(&agent, now) { actions.append(.registerAgent) }
            let isWanted = pairingUntil != nil
            if let isPairable = adapter.isPairable, isPairable != isWanted {
                if pairability == .done { pairability = .wanted }
                if isDue(&pairability, now) {
                    askedPairable = isWanted
                    actions.append(.setPairable(path, isWanted))
                }
            }
        }
        if isDue(&application, now) {
            actions.append(.registerApplication(path, asksForHandles: asksForHandles))
        }
        // The services must be registered before the advertisements, because a phone that finds an
        // advertisement connects immediately.
        guard application == .done else { return actions }
        for index in advertisements.indices where isDue(&advertisements[index], now) {
            actions.append(.registerAdvertisement(path, index))
        }
        return actions + renewLost(now)
    }

    /// True if the adapter must be switched off and on to end a link that no longer works. A power
    /// cycle of the adapter ends the link immediately. Without a power cycle, bluetoothd would end
    /// the link after two seconds, and the kernel after four seconds. The power cycle does not
    /// disturb other programs, because no program uses the adapter immediately after bluetoothd's
    /// start.
    private mutating func isCutting(_ path: String, _ adapter: Adapter) -> Bool {
        if deadLinks.contains(where: { $0.hasPrefix("\(path)/") }) {
            cutting = .wanted
            powering = .wanted
        }
        deadLinks = []
        if adapter.isPowered != true { cutting = .done }
        return cutting != .done
    }

    /// Registers the advertisements again if the adapter does not send all of them.
    private mutating func renewLost(_ now: Instant) -> [RadioAction] {
        guard isAdvertising, let sent = adapter?.sent,
            sent < advertisements.count
        else {
            suspicion = nil
            return []
        }
        // The supervisor waits, because the adapter can report its advertisements late.
        let until = suspicion ?? later(now).advanced(bySeconds: Self.patience)
        suspicion = now < until ? until : nil
        if now < until { return [] }
        lost += 1
        lastError = "The adapter sends only \(sent) of \(advertisements.count) advertisements."
        return renew()
    }

    /// True if a step must be requested now; the function then marks the step as requested.
    private func isDue(_ step: inout Step, _ now: Instant) -> Bool {
        switch step {
        case .wanted: break
        case .waiting(let until) where now >= until: break
        default: return false
        }
        step = .asked
        return true
    }

    /// Selects the first suitable adapter. The selected adapter stays selected while it exists.
    private mutating func choose() {
        if let chosen, adapters[chosen]?.isComplete == true { return }
        let fitting = adapters.filter { $0.value.isComplete }.keys
            .filter { plan.adapter.isEmpty || $0.hasSuffix("/\(plan.adapter)") }
        let next = fitting.min()
        if next != chosen { forgetRegistrations() }
        chosen = next
    }

    private mutating func loseBus(_ error: String, now: Instant) {
        if hasBus || hasDaemon { restarts += 1 }
        lastError = error
        hasBus = false
        isBusKnown = true
        loseDaemon()
        bus = .waiting(until: now.advanced(bySeconds: Self.busRetry))
    }

    private mutating func setDaemon(_ isPresent: Bool) {
        hasBus = true
        isBusKnown = true
        bus = .done
        if hasDaemon {
            restarts += 1
            lastError = "bluetoothd has stopped."
        }
        loseDaemon()
        hasDaemon = isPresent
        if isPresent { retry = Self.firstRetry }
    }

    private mutating func loseDaemon() {
        hasDaemon = false
        listing = .wanted
        listRefusal = nil
        adapterDue = nil
        adapters = [:]
        chosen = nil
        cutting = .done
        deadLinks = []
        agent = .wanted
        asksForHandles = true
        forgetRegistrations()
    }

    private mutating func forgetRegistrations() {
        isRenewing = false
        renewal = nil
        application = .wanted
        naming = .wanted
        pairability = .wanted
        powering = .wanted
        for index in advertisements.indices { advertisements[index] = .wanted }
    }

    private mutating func setInterface(
        _ interface: RadioInterface, of path: String, _ isPresent: Bool
    ) {
        if isPresent {
            adapters[path, default: Adapter()].interfaces.insert(interface)
            return
        }
        adapters[path]?.interfaces.remove(interface)
        if adapters[path]?.interfaces.isEmpty == true { adapters[path] = nil }
        if path == chosen {
            lastError = "The adapter was removed."
            chosen = nil
            forgetRegistrations()
        }
    }

    private mutating func setPowered(_ path: String, _ isOn: Bool) {
        let was = adapters[path]?.isPowered
        adapters[path, default: Adapter()].isPowered = isOn
        guard path == chosen, was == true, !isOn else { return }
        lastError =
            cutting == .asked
            ? "The adapter was switched off to end a connection from before the restart of bluetoothd."
            : "The adapter was switched off."
        isRenewing = false
        // After the adapter has been off, some versions of bluetoothd keep the registered
        // advertisements; other versions drop them. A new registration of each advertisement
        // reveals the advertisements that bluetoothd has kept.
        for index in advertisements.indices { advertisements[index] = .wanted }
    }

    private mutating func lose(_ index: Int, now: Instant) {
        guard advertisements.indices.contains(index) else { return }
        lost += 1
        lastError = "bluetoothd released an advertisement."
        advertisements[index] = .waiting(until: later(now))
    }

    private mutating func renew() -> [RadioAction] {
        guard let path = chosen else { return [] }
        isRenewing = true
        return advertisements.indices.filter { advertisements[$0] == .done }.map { index in
            advertisements[index] = .renewing
            renewed += 1
            return .unregisterAdvertisement(path, index)
        }
    }

    /// Time of the next attempt at a failed step; the intervals between attempts grow.
    mutating func later(_ now: Instant) -> Instant {
        defer { retry = min(2 * retry, Self.lastRetry) }
        return now.advanced(bySeconds: retry)
    }
}
