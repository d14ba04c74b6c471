public import GimbalCore
public import Logging
public import ServiceLifecycle
import Synchronization
public import Wire

/// The Bluetooth peripheral as a service, on one ordinary thread, `airframed-ble`. The service
/// starts even if the bus, bluetoothd or the adapter is missing. The service uses each missing
/// component as soon as the component becomes available.
public final class BluetoothServer: Service {
    /// Stack size of the thread, bytes; the stack is locked into memory.
    private static let stackSize = 512 * 1024

    private let configuration: BluetoothConfiguration
    private let services: Mutex<[any GATTService]?>
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let thread: ServiceThread
    private let mailbox: BluetoothMailbox

    /// Creates a peripheral that does not advertise yet.
    ///
    /// - Parameters:
    ///   - configuration: Adapter, security and limits.
    ///   - services: Services of the peripheral, each with an advertisement; after this call only
    ///     the Bluetooth thread uses them.
    ///   - logger: Log for connections and changes of state, at level notice.
    ///   - clock: Monotonic clock.
    /// - Throws: `Errno` if the process has no free descriptors.
    public init(
        configuration: BluetoothConfiguration, services: sending [any GATTService], logger: Logger,
        clock: @escaping @Sendable () -> Instant = LinkClock.now
    ) throws {
        self.configuration = configuration
        self.services = Mutex(services)
        self.logger = logger
        self.clock = clock
        thread = try ServiceThread(name: "airframed-ble", stackSize: Self.stackSize)
        mailbox = try BluetoothMailbox()
    }

    /// Serves phones until airframed shuts down, and returns within milliseconds after the shutdown
    /// begins.
    ///
    /// - Throws: `SocketError` when the thread cannot be started.
    public func run() async throws {
        if configuration.security == .open {
            logger.warning(
                "Bluetooth is open: anyone in range can connect and move the camera. Set bluetooth.security = \"encrypted\" to prevent this."
            )
        }
        try await thread.run { self.serve() }
    }

    /// The newest status of Bluetooth, at most 0.2 s old, without the passkey of a pairing, because
    /// clients without write access also receive this status. Any thread can read this property.
    public var status: BluetoothStatus { mailbox.status.withoutPasskey }

    /// The newest status of Bluetooth with the passkey of a pairing, for clients that can pair
    /// phones. Any thread can read this property.
    public var pairingStatus: BluetoothStatus { mailbox.status }

    /// Allows phones to pair for the given time, s; 0 ends the permission. Any thread can call this
    /// method.
    public func allowPairing(seconds: Double) {
        mailbox.post(.allowPairing(seconds: seconds))
    }

    /// Removes the keys of a phone that `status` lists. Any thread can call this method.
    public func forget(address: String) { mailbox.post(.forget(address: address)) }

    /// The body of the thread `airframed-ble`.
    private func serve() {
        guard let services = services.withLock({ $0.take() }) else { return }
        let loop = BluetoothLoop(
            services: services, configuration: configuration, mailbox: mailbox,
            wake: thread.wake, logger: logger, clock: clock)
        loop.run()
    }
}
