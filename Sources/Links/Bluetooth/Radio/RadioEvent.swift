import GimbalCore

/// What the radio supervisor learns.
enum RadioEvent: Equatable {
    /// Nothing but that time has passed.
    case time
    /// The bus took the connection.
    case busOpened
    /// There is no bus, or it ended; why.
    case busLost(String)
    /// Whether bluetoothd is on the bus; a restart is both, one after the other.
    case daemon(isPresent: Bool)
    /// What an object can do, or no longer can.
    case interface(RadioInterface, of: String, isPresent: Bool)
    case powered(String, Bool)
    case pairable(String, Bool)
    case alias(String, String)
    /// How many advertisements an adapter sends.
    case active(String, Int)
    /// How many more it could take.
    case slots(String, Int)
    /// The answer to an action; nil: done.
    case done(RadioCall, RadioFailure?)
    /// A bluetoothd that has just come lists a link of the one before it, on which it does not answer: the device.
    case deadLink(String)
    /// bluetoothd gave up an advertisement.
    case released(Int)
    /// A service has another name.
    case renamed
    /// bluetoothd no longer asks the agent.
    case agentReleased
    /// A central connected: the advertisements are on the air.
    case centralCame
    /// A central disconnected.
    case centralLeft
    /// New keys may be made until then; nil: no longer.
    case allowPairing(until: Instant?)
}

/// What the radio supervisor wants done. Paths are bluetoothd's names of adapters.
enum RadioAction: Equatable {
    /// Answered by `.busOpened` or `.busLost`; any other bus is closed before.
    case openBus
    /// The others are answered by `.done`.
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

/// What bluetoothd was asked to do.
enum RadioCall: Equatable {
    case list, powerOn, powerOff, setAlias, setPairable, registerAgent, registerApplication
    case registerAdvertisement(Int)
    case unregisterAdvertisement(Int)
    /// Nothing that the supervisor waits for.
    case other
}

/// What an object of bluetoothd can do.
enum RadioInterface: Hashable {
    case adapter, device, gattManager, advertisingManager

    /// What an adapter has to have.
    static let ofAdapter: Set<Self> = [.adapter, .gattManager, .advertisingManager]
}

/// Why bluetoothd refused.
struct RadioFailure: Error, Equatable {
    /// "org.bluez.Error.NotPermitted".
    var name: String
    /// What it said.
    var message: String

    /// What was asked for exists already.
    var isAlreadyThere: Bool { name == "org.bluez.Error.AlreadyExists" }
    /// rfkill holds the radio down.
    var isBlocked: Bool {
        name.hasSuffix(".Blocked") || message.contains("rfkill") || message.contains("Blocked")
    }

    /// "bluetoothd refused to register an advertisement: Maximum advertisements reached (…)."
    func sentence(_ call: RadioCall) -> String {
        let what =
            switch call {
            case .list: "list its objects"
            case .powerOn: "switch the adapter on"
            case .powerOff: "switch the adapter off"
            case .setAlias: "name the adapter"
            case .setPairable: "allow or end pairing"
            case .registerAgent: "register the pairing agent"
            case .registerApplication: "register the services"
            case .registerAdvertisement: "register an advertisement"
            case .unregisterAdvertisement: "withdraw an advertisement"
            case .other: "carry out a request"
            }
        return "bluetoothd refused to \(what): \(message) (\(name))."
    }
}
