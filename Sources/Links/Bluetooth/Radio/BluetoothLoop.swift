import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage
import Threads
import Wire

/// Body of the thread `airframed-ble`. The thread waits with poll(2), and handles messages of the
/// bus, requests of other threads and the services' output.
///
/// bluetoothd controls the radio, and airframed registers a table of services with bluetoothd. The
/// thread handles all requests of phones, one at a time, and no request blocks the thread. A phone
/// that writes at full speed delays only other phones, never the control loop.
final class BluetoothLoop {
    /// Largest number of bus messages that are handled before the services are called.
    private static let messagesPerTurn = 32
    /// Duration for which a passkey is displayed, s.
    private static let passkeySeconds = 60.0
    /// Shortest interval between two updates of the status, s.
    private static let statusSeconds = 0.2
    /// Longest time until the services notice a setting that another link has changed, s.
    private static let settingsSeconds = 1.0

    let services: [any GATTService]
    let configuration: BluetoothConfiguration
    let mailbox: BluetoothMailbox
    let logger: Logger
    let bus: BlueZBus
    var supervisor: RadioSupervisor
    var centrals: CentralRegistry
    var counters = BluetoothCounters()
    /// Bluetooth addresses of the adapters, by D-Bus object path.
    var addresses: [String: String] = [:]
    /// Passkey that the user must type on the phone; nil if no phone is pairing.
    var passkey: (device: String, number: UInt32, until: Instant)?

    private let wake: FileDescriptor
    let clock: @Sendable () -> Instant
    let table: CharacteristicTable
    var notifier: RadioNotifier
    /// Phones that were connected when bluetoothd exited. After bluetoothd has exited, the kernel
    /// keeps the phones' links for some seconds, but a new bluetoothd does not answer on these
    /// links. A phone whose link began before the restart receives no answers, and cannot connect
    /// again until the kernel ends the link.
    private var orphans: Set<String> = []
    /// Devices that were connected before the supervisor chose an adapter.
    private var early: Set<String> = []
    private var hasNewCentral = false
    private var hasMore = false
    /// Time at which poll(2) returned. This time is the receipt time of all requests until the next
    /// wait.
    private var wokenAt: Instant
    /// Time at which the services must be called next.
    private var due: Instant?
    /// Advertised names of the services.
    private var names: [String]
    private var lastState = ""
    /// Problem in the last log line about the state.
    private var lastSentence: String?
    /// True if an event has occurred since the last update of the status.
    private var isStatusStale = false
    var statusDue = Instant(nanoseconds: .min)

    /// Creates the loop of the Bluetooth thread; its `run` returns when `wake` becomes readable.
    init(
        services: [any GATTService], configuration: BluetoothConfiguration,
        mailbox: BluetoothMailbox, wake: FileDescriptor, logger: Logger,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.services = services
        self.configuration = configuration
        self.mailbox = mailbox
        self.wake = wake
        self.logger = logger
        self.clock = clock
        let isEncrypted = configuration.security == .encrypted
        bus = BlueZBus(services, isEncrypted: isEncrypted)
        table = CharacteristicTable(services)
        notifier = RadioNotifier(bus: bus, mailbox: mailbox, table: table)
        names = services.filter(\.isAdvertised).map(\.advertisedName)
        wokenAt = clock()
        supervisor = RadioSupervisor(
            RadioSupervisor.Plan(
                adapter: configuration.adapter, alias: configuration.name,
                advertisements: names.count, isEncrypted: isEncrypted))
        centrals = CentralRegistry(
            limit: configuration.maximumCentrals,
            writesPerSecond: configuration.writesPerSecond, prefersPaired: isEncrypted)
        bus.responder = self
    }

    /// Serves phones until `wake` is readable, then disconnects from the bus. bluetoothd then
    /// removes the services and the advertisements.
    func run() {
        handle(.time)
        PollLoop(wake: wake, clock: clock, logger: logger).run {
            prepare(&$0)
        } turn: {
            turn($0)
        }
        // The phones are disconnected; otherwise bluetoothd would keep them connected after the
        // removal of the services.
        for device in centrals.entries.keys { bus.disconnect(device: device) }
        endConnections()
        bus.close()
    }

    /// Adds the descriptors of the mailbox, the services and the bus to the set for poll(2).
    private func prepare(_ set: inout PollSet) {
        set.add(mailbox.bell.descriptor)
        for service in services { set.add(service.entry) }
        if let (entry, deadline) = bus.pollEntry() {
            set.add(entry)
            set.end(by: deadline)
        }
        if hasMore { set.end(by: Instant(nanoseconds: .min)) }
        set.end(by: supervisor.deadline)
        set.end(by: due)
        set.end(by: wokenAt.advanced(bySeconds: Self.settingsSeconds))
        // During pairing, the status contains the remaining time and is updated regularly;
        // otherwise it is updated after events.
        let isPairing = supervisor.pairingUntil != nil || passkey != nil
        if isStatusStale || isPairing { set.end(by: statusDue) }
    }

    private func turn(_ set: PollSet) {
        wokenAt = clock()
        if set[1] != 0 { mailbox.take().forEach(carryOut) }
        for (index, service) in services.enumerated() where set[2 + index] != 0 {
            service.ready(now: wokenAt)
        }
        processBus()
        // Phones are not disconnected while a request is handled, because bluetoothd then still
        // waits for the answer.
        if hasNewCentral {
            hasNewCentral = false
            handle(.centralCame)
        }
        handle(.time)
        advanceServices()
        publishStatus()
    }

    private func processBus() {
        hasMore = false
        for _ in 0..<Self.messagesPerTurn {
            guard bus.isOpen else { return }
            let result = bus.process()
            for event in bus.takeEvents() { take(event) }
            switch result {
            case .success(true): continue
            case .success(false): return
            case .failure(let error): return loseBus(error.errno)
            }
        }
        // The input buffer of the D-Bus connection can contain more messages, which poll(2) does
        // not report.
        hasMore = true
    }

    private func loseBus(_ errno: Int32) {
        endConnections()
        centrals.forgetDevices()
        bus.close()
        handle(.busLost("No connection to D-Bus: \(Errno(rawValue: errno))."))
    }

    private func take(_ event: BlueZBus.Event) {
        switch event {
        case .radio(let event):
            if case .daemon(false) = event {
                orphans = Set(centrals.entries.keys)
                endConnections()
                centrals.forgetDevices()
            }
            if case .interface(_, let path, false) = event, path == supervisor.adapterPath {
                endConnections()
            }
            handle(event)
        case .device(let event): take(event)
        }
    }

    func handle(_ event: RadioEvent) {
        for action in supervisor.handle(event, now: clock()) {
            guard action == .openBus else {
                bus.ask(action)
                continue
            }
            let error = bus.open(address: configuration.busAddress)
            if error == 0 { handle(.busOpened) } else { loseBus(error) }
        }
        if supervisor.adapterPath != nil {
            let devices = early.sorted()
            early = []
            devices.forEach(connectPhone)
        }
        reportState()
    }

    /// Logs a change of Bluetooth's state, and a new problem in the same state.
    private func reportState() {
        let (state, sentence) = radioState
        let isNew = state != lastState || (sentence != nil && sentence != lastSentence)
        guard isNew, !supervisor.isStarting else { return }
        (lastState, lastSentence) = (state, sentence)
        statusDue = Instant(nanoseconds: .min)
        if let sentence {
            logger.warning("Bluetooth: \(state). \(sentence)")
        } else {
            logger.notice("Bluetooth: \(state).")
        }
    }

    private func advanceServices() {
        let now = clock()
        if let passkey, now >= passkey.until { self.passkey = nil }
        due = nil
        for service in services {
            let next = service.advance(now: now, mtu: centrals.mtu, notifier)
            due = [due, next].compactMap(\.self).min()
        }
        let names = services.filter(\.isAdvertised).map(\.advertisedName)
        guard names != self.names else { return }
        self.names = names
        for (index, name) in names.enumerated() { bus.rename(advertisement: index, name) }
        handle(.renamed)
    }

    private func publishStatus() {
        let now = clock()
        isStatusStale = now < statusDue
        guard !isStatusStale else { return }
        statusDue = now.advanced(bySeconds: Self.statusSeconds)
        mailbox.publish(status(now: now, notifier))
    }
}

extension BluetoothLoop: BlueZResponder {
    /// Finds the central that sent a request; nil if requests of this central are refused.
    private func central(of request: BlueZBus.Request, _ now: Instant) -> Central? {
        centrals.setUsesServices(request.device)
        connect(request.device, now)
        centrals.learn(mtu: request.mtu, of: request.device)
        guard let entry = centrals.entries[request.device], !entry.isRefused else { return nil }
        return entry.central
    }

    func read(_ request: BlueZBus.Request) -> Result<[UInt8], ATTError> {
        let now = clock()
        guard let central = central(of: request, now) else { return .failure(.notAuthorized) }
        let (service, uuid) = table[request.characteristic]
        return Result { () throws(ATTError) in
            try services[service].read(uuid, by: central, now: now)
        }
    }

    func write(
        _ request: BlueZBus.Request, _ bytes: UnsafeRawBufferPointer
    ) -> BlueZBus.WriteResult {
        let now = wokenAt
        guard let central = central(of: request, now) else { return .refused(.notAuthorized) }
        let (service, uuid) = table[request.characteristic]
        // The limit does not apply to an emergency stop.
        guard
            centrals.admitsWrite(of: request.device, now: now)
                || services[service].isEmergencyStop(uuid, Array(bytes))
        else {
            counters.refusedWrites += 1
            if counters.refusedWrites.isPowerOfTwo {
                logger.warning(
                    "\(central) writes more than \(configuration.writesPerSecond) times per second; \(counters.refusedWrites) writes refused so far."
                )
            }
            return .refused(.tooManyWrites)
        }
        counters.writes += 1
        notifier.write.token = request.token
        notifier.write.isLeftForLater = false
        do throws(ATTError) {
            try services[service].write(uuid, Array(bytes), by: central, now: now, notifier)
            return notifier.write.isLeftForLater ? .later : .done
        } catch {
            counters.invalidWrites += 1
            return .refused(error)
        }
    }

    /// Records a connection that bluetoothd has reported, if the device is a phone at the adapter
    /// in use. A device of any kind counts as a phone from its first request.
    private func connectPhone(_ device: String) {
        guard let adapter = supervisor.adapterPath else {
            early.insert(device)
            return
        }
        guard device.hasPrefix("\(adapter)/"), centrals.isPhone(device) else { return }
        connect(device, clock())
    }

    /// Records a phone's connection; has no effect if the connection is already recorded.
    private func connect(_ device: String, _ now: Instant) {
        makePlace(for: device, now)
        guard let entry = centrals.connect(device) else { return }
        statusDue = now
        guard !entry.isRefused else {
            counters.refusedConnections += 1
            logger.warning(
                "\(entry.central) refused: \(configuration.maximumCentrals) phones are connected already, the limit of bluetooth.max_centrals."
            )
            return bus.disconnect(device: device)
        }
        counters.connections += 1
        logger.notice("\(entry.central) connected.")
        hasNewCentral = true
        // bluetoothd keeps the subscriptions of a paired phone, and restores them when the phone
        // connects.
        inform(notifier.subscriptions.resume(), isOn: true, now)
    }

    private func disconnect(_ device: String) {
        early.remove(device)
        let now = wokenAt
        let entry = centrals.disconnect(device)
        // The device can have a subscription without being registered as a phone.
        if centrals.connected.isEmpty { inform(notifier.subscriptions.pause(), isOn: false, now) }
        guard let entry, !entry.isRefused else { return }
        logger.notice("\(entry.central) disconnected.")
        for service in services { service.disconnected(entry.central, now: now) }
        statusDue = now
        // A connection in the same turn came before this disconnection, so that it does not prove
        // that the adapter still sends the advertisements.
        hasNewCentral = false
        handle(.centralLeft)
    }

    /// Handles the loss of bluetoothd or of the adapter: all connections have ended.
    private func endConnections() {
        let now = clock()
        let gone = centrals.disconnectAll()
        early = []
        passkey = nil
        inform(notifier.subscriptions.pause(), isOn: false, now)
        notifier.subscriptions.forget()
        for entry in gone {
            logger.notice("\(entry.central) was lost, because Bluetooth stopped.")
            for service in services { service.disconnected(entry.central, now: now) }
        }
    }

    private func take(_ event: BlueZBus.DeviceEvent) {
        switch event {
        case .connected(let device, true):
            // After a restart, bluetoothd lists devices that are still connected, before the
            // services are registered.
            if orphans.remove(device) != nil, supervisor.application != .done {
                logger.notice(
                    "\(CentralRegistry.address(of: device)) has a connection from before the restart of bluetoothd: airframed switches the adapter off and on to end this connection."
                )
                return handle(.deadLink(device))
            }
            connectPhone(device)
        case .connected(let device, false): disconnect(device)
        case .removed(let device):
            disconnect(device)
            centrals.remove(device)
        case .paired(let device, let isPaired):
            centrals.setPaired(device, isPaired)
            if isPaired, passkey?.device == device { endPairing(device) }
        case .name(let device, let name): centrals.setName(device, name)
        case .icon(let device, let icon):
            centrals.setIcon(device, icon)
            // bluetoothd can report the icon after the connection.
            if !centrals.isPhone(device) { disconnect(device) }
        case .address(let adapter, let address): addresses[adapter] = address
        case .passkey(let device, let number):
            let until = clock().advanced(bySeconds: Self.passkeySeconds)
            passkey = (device, number, until)
            logger.notice(
                "The phone \(CentralRegistry.address(of: device)) wants to pair: `airframectl pair allow` shows the passkey."
            )
        case .passkeyOver: passkey = nil
        }
        statusDue = Instant(nanoseconds: .min)
    }

    private func endPairing(_ device: String) {
        passkey = nil
        logger.notice("The phone \(CentralRegistry.address(of: device)) is paired.")
        handle(.allowPairing(until: nil))
    }
}

extension Int {
    /// True if the number is a power of two. If an event recurs, only the occurrences 1, 2, 4, 8, …
    /// are logged.
    fileprivate var isPowerOfTwo: Bool { self > 0 && self & (self - 1) == 0 }
}
