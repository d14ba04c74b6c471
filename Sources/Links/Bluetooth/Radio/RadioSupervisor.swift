import GimbalCore

/// Brings the peripheral on the air and keeps it there, whatever happens to bus, bluetoothd and adapter.
///
/// A pure state machine: what happened and the time go in, what to ask for comes out. It compares what should be with
/// what is, and asks for the difference; so it does not matter in which order things go away and come back. What
/// fails is asked for again, at longer and longer intervals.
struct RadioSupervisor {
    /// What is to be on the air.
    struct Plan {
        /// "hci0"; empty: the first one.
        var adapter = ""
        /// The adapter's name for phones.
        var alias = ""
        /// How many advertisements there are.
        var advertisements = 0
        /// Whether phones have to pair.
        var isEncrypted = false
    }

    /// What an adapter has said about itself.
    struct Adapter: Equatable {
        var interfaces: Set<RadioInterface> = []
        var isPowered: Bool?
        var isPairable: Bool?
        var alias: String?
        /// Advertisements that it sends.
        var sent: Int?
        /// Advertisements that it could take in addition.
        var slots: Int?

        /// Whether it can be a peripheral.
        var isComplete: Bool { interfaces.isSuperset(of: RadioInterface.ofAdapter) }
    }

    /// Something that is asked for until it is done.
    enum Step: Equatable {
        /// To be asked for.
        case wanted
        /// To be asked for again then.
        case waiting(until: Instant)
        case asked
        case done
        /// An advertisement that is being taken back, to be registered anew.
        case renewing

        var isWaiting: Bool {
            if case .waiting = self { true } else { false }
        }
    }

    /// Waiting times: the first, and the longest.
    static let firstRetry = 0.25
    static let lastRetry = 8.0
    /// How often a bus that is not there is looked for.
    static let busRetry = 1.0
    /// How long after a disconnection advertisements are renewed, so that a phone that comes back at once finds them.
    static let renewalDelay = 1.0
    /// How long an adapter may be silent about an advertisement that it took.
    static let patience = 2.0

    let plan: Plan
    private(set) var hasBus = false
    private(set) var hasDaemon = false
    var adapters: [String: Adapter] = [:]
    var application = Step.wanted
    var advertisements: [Step]
    /// The last thing that went wrong.
    var lastError: String?
    private(set) var restarts = 0
    var registrations = 0
    private(set) var renewed = 0
    private(set) var lost = 0
    /// New keys may be made until then.
    private(set) var pairingUntil: Instant?

    private var bus: Step
    var listing = Step.wanted
    var agent = Step.wanted
    var naming = Step.wanted
    var pairability = Step.wanted
    var askedPairable = false
    /// Powering on is tried until it has worked once; somebody who switches the adapter off afterwards means it.
    var powering = Step.wanted
    /// A phone's link outlived the bluetoothd that had it, and the phone waits on it: the adapter is switched off and on.
    var cutting = Step.done
    private var deadLinks: Set<String> = []
    private(set) var chosen: String?
    var asksForHandles = true
    /// The adapter sends fewer advertisements than it took; renewed then, unless it was only late in saying so.
    private var suspicion: Instant?
    /// When to renew the advertisements, lest one was lost without a word; a phone that connects proves the contrary.
    private var renewal: Instant?
    /// Every advertisement was there, and is on its way back.
    private var isRenewing = false
    private var retry = Self.firstRetry

    /// Nothing is there yet.
    init(_ plan: Plan) {
        self.plan = plan
        bus = .wanted
        advertisements = Array(repeating: .wanted, count: plan.advertisements)
    }

    /// Bluetoothd's name of the adapter in use.
    var adapterPath: String? { chosen }
    /// What the adapter in use has said.
    var adapter: Adapter? { chosen.flatMap { adapters[$0] } }
    /// Everything is registered, or being renewed: phones find the peripheral.
    var isOnAir: Bool {
        application == .done && adapter?.isPowered == true && (isRenewing || isAdvertising)
    }

    private var isAdvertising: Bool { advertisements.allSatisfy { $0 == .done } }

    /// When `handle(.time)` is due although nothing happens.
    var deadline: Instant? {
        let steps =
            [bus, listing, agent, naming, pairability, powering, application] + advertisements
        let waits = steps.compactMap { step -> Instant? in
            if case .waiting(let until) = step { until } else { nil }
        }
        return (waits + [pairingUntil, suspicion, renewal].compactMap(\.self)).min()
    }

    /// Takes one event.
    ///
    /// - Returns: What to ask for, in this order.
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
        if isAdvertising || advertisements.contains(where: \.isWaiting) { isRenewing = false }
        if isOnAir, !isRenewing, suspicion == nil { retry = Self.firstRetry }
        return actions
    }
}

extension RadioSupervisor {
    /// Asks for whatever is missing and can be had now.
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
        // A phone that finds an advertisement connects at once, and has to find the services.
        guard application == .done else { return actions }
        for index in advertisements.indices where isDue(&advertisements[index], now) {
            actions.append(.registerAdvertisement(path, index))
        }
        return actions + renewLost(now)
    }

    /// True while an adapter has to lose a dead link: bluetoothd itself takes two seconds to end one, and the kernel four. An adapter
    /// that is switched off ends it at once, and nothing else depends on an adapter that a bluetoothd has just found.
    private mutating func isCutting(_ path: String, _ adapter: Adapter) -> Bool {
        if deadLinks.contains(where: { $0.hasPrefix("\(path)/") }) {
            cutting = .wanted
            powering = .wanted
        }
        deadLinks = []
        if adapter.isPowered != true { cutting = .done }
        return cutting != .done
    }

    /// Renews what the adapter says that it does not send.
    private mutating func renewLost(_ now: Instant) -> [RadioAction] {
        guard isAdvertising, let sent = adapter?.sent,
            sent < advertisements.count
        else {
            suspicion = nil
            return []
        }
        // It may be late in saying what it sends.
        let until = suspicion ?? later(now).advanced(bySeconds: Self.patience)
        suspicion = now < until ? until : nil
        if now < until { return [] }
        lost += 1
        lastError = "The adapter sent \(sent) of \(advertisements.count) advertisements."
        return renew()
    }

    /// Whether a step has to be asked for; then it counts as asked for.
    private func isDue(_ step: inout Step, _ now: Instant) -> Bool {
        switch step {
        case .wanted: break
        case .waiting(let until) where now >= until: break
        default: return false
        }
        step = .asked
        return true
    }

    /// Takes the first adapter that fits; keeps it while it is there.
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
        loseDaemon()
        bus = .waiting(until: now.advanced(bySeconds: Self.busRetry))
    }

    private mutating func setDaemon(_ isPresent: Bool) {
        hasBus = true
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
        adapters = [:]
        chosen = nil
        cutting = .done
        deadLinks = []
        agent = .wanted
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
            ? "The adapter was switched off to end a dead link." : "The adapter was switched off."
        isRenewing = false
        // What happens to them then differs between versions of bluetoothd: registered again, it says which are left.
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

    /// When to try again; the next time takes longer.
    mutating func later(_ now: Instant) -> Instant {
        defer { retry = min(2 * retry, Self.lastRetry) }
        return now.advanced(bySeconds: retry)
    }
}
