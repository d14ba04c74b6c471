import GimbalCore

/// Event for the radio supervisor.
enum RadioEvent: Equatable {
    /// No event has occurred; only the time has advanced.
    case time
    /// The connection to the system bus is open.
    case busOpened
    /// The system bus is missing, or has closed the connection; the value is the reason.
    case busLost(String)
    /// bluetoothd has started or exited; a restart of bluetoothd causes two events.
    case daemon(isPresent: Bool)
    /// bluetoothd has added an interface to a D-Bus object, or removed one.
    case interface(RadioInterface, of: String, isPresent: Bool)
    case powered(String, Bool)
    case pairable(String, Bool)
    case alias(String, String)
    /// Number of advertisements that an adapter sends.
    case active(String, Int)
    /// Number of advertisements that an adapter can accept in addition to the present ones.
    case slots(String, Int)
    /// The answer to an action of the supervisor; an error of `nil` means success.
    case done(RadioCall, RadioFailure?)
    /// A restarted bluetoothd also lists links from before its restart, but does not answer on
    /// these links. The value is the D-Bus object path of the connected device.
    case deadLink(String)
    /// bluetoothd has released the advertisement with this index.
    case released(Int)
    /// The advertised name of a service has changed.
    case renamed
    /// bluetoothd has released the pairing agent.
    case agentReleased
    /// A central has connected, which shows that the advertisements were sent.
    case centralCame
    /// A central has disconnected.
    case centralLeft
    /// Pairing is allowed until the given time; nil means that pairing is not allowed.
    case allowPairing(until: Instant?)
}

/// Action that the radio supervisor requests. The `path` in an action is the D-Bus object path of
/// an adapter.
enum RadioAction: Equatable {
    /// Close the connection to the bus if one exists, and open a new connection. The event
    /// `.busOpened` or `.busLost` answers this action.
    case openBus
    /// List the objects of bluetoothd. The event `.done` answers this action and all actions
    /// declared below it.
    case list
    case powerOn(String)
    case powerOff(String)
    case setAlias(String, String)
    case setPairable(String, Bool)
    case registerAgent
    case registerApplication(String, asksForHandles: Bool)
    case registerAdvertisement(String, Int)
    case unregisterAdvertisement(String, Int)
}

/// Request of the supervisor to bluetoothd, as a D-Bus call.
enum RadioCall: Equatable {
    case list, powerOn, powerOff, setAlias, setPairable, registerAgent, registerApplication
    case registerAdvertisement(Int)
    case unregisterAdvertisement(Int)
    /// Request to bluetoothd; the supervisor ignores the answer.
    case other
}

/// D-Bus interfaces of bluetoothd's objects.
enum RadioInterface: Hashable {
    case adapter, device, gattManager, advertisingManager

    /// D-Bus interfaces that an adapter needs to act as a peripheral.
    static let ofAdapter: Set<Self> = [.adapter, .gattManager, .advertisingManager]
}

/// A refusal by bluetoothd.
struct RadioFailure: Error, Equatable {
    /// Name of the D-Bus error, such as "org.bluez.Error.NotPermitted".
    var name: String
    /// Error message of bluetoothd.
    var message: String

    /// True if bluetoothd refused the request because the object already exists.
    var isAlreadyThere: Bool { name == "org.bluez.Error.AlreadyExists" }

    /// Message about a failed call, such as "bluetoothd refused to register an advertisement:
    /// Maximum advertisements reached (…).", with a remedy if the kernel has refused it.
    func sentence(_ call: RadioCall) -> String {
        let what =
            switch call {
            case .list: "list its objects"
            case .powerOn: "switch the adapter on"
            case .powerOff: "switch the adapter off"
            case .setAlias: "set the name of the adapter"
            case .setPairable: "allow or end pairing"
            case .registerAgent: "register the pairing agent"
            case .registerApplication: "register the services"
            case .registerAdvertisement: "register an advertisement"
            case .unregisterAdvertisement: "withdraw an advertisement"
            case .other: "carry out a request"
            }
        let refusal = "bluetoothd refused to \(what): \(message) (\(name))."
        guard case .registerAdvertisement = call, name == "org.bluez.Error.Failed" else {
            return refusal
        }
        // bluetoothd passes a refusal of the kernel on without the kernel's reason.
        return
            "\(refusal) `journalctl -u bluetooth` shows the reason. After \"Invalid Parameters\", install another version of Linux: 6.12.93 and 6.18.34 refuse every advertisement, 6.18.36 does not."
    }
}
