import Configuration
public import GimbalCore
public import Glibc
public import Logging
import Port
import Wire

/// RedBearLab's serial service, compatible with the firmware "Biscuit" of the BLE Mini. The BLE
/// Mini passes the bytes of its clients to a UART. This service instead passes the bytes to a
/// `SerialRole`, such as the role for a robot's remote control.
///
/// Characteristic 0004 also accepts writes without response, because a flight display sends them.
/// BlueZ cannot report errors for writes without response. Therefore the service ignores and counts
/// invalid speeds. Characteristic 0003 accepts as many bytes as the MTU allows, not only 20.
///
/// The service divides the role's output into notifications that fit the client's MTU (at least 20
/// bytes). The service sends at most `piecesPerSecond` notifications per second. The rate limit is
/// necessary, because the radio does not report congestion. Output waits in a queue; a full queue
/// drops its oldest messages.
///
/// Only the thread airframed-ble uses the service.
public final class RBLService: GATTService {
    /// Counters of the service since the start of airframed.
    public struct Counters: Sendable, Equatable {
        /// Number of bytes from clients.
        public var receivedBytes: UInt64 = 0
        /// Number of notifications passed to the radio.
        public var notifications: UInt64 = 0
        /// Number of invalid speeds that clients have written.
        public var invalidBauds: UInt64 = 0
        /// Number of refused reads and writes.
        public var refusals: UInt64 = 0
        /// Counters of the role's output.
        public var output = SerialOutput.Counters()
    }

    /// Largest number of notifications per second. A phone with a connection interval of 30 ms can
    /// receive this rate.
    public static let piecesPerSecond = 125.0
    /// Largest number of notifications that the service sends at once. A frame of 36 bytes needs
    /// two notifications.
    static let burst = 4.0
    /// Longest value of an attribute, bytes (Bluetooth Core Specification, Vol 3, Part F, 3.2.9).
    static let largestValue = 512

    /// The service's UUID.
    public let uuid = GATTUUID(RBLCharacteristic.service)
    /// Name in the advertisement: the setting `rbl.name`.
    public var advertisedName: String { port.settings.rbl.name }
    /// Characteristics 0002 to 0007, with the firmware's descriptions.
    public let characteristics = RBLCharacteristic.allCases.enumerated().map {
        GATTCharacteristic(
            uuid: GATTUUID($1.rawValue), properties: $1.properties,
            name: "Characteristic \($0 + 2)")
    }

    private let port: any GimbalPort
    private let role: any SerialRole
    private let log: Logger
    private var output = SerialOutput()
    private var tally = Counters()
    private var power = RBLTransmitPower.zero
    /// Present baud rate of the serial port.
    private var baud: RBLBaud
    private var isSubscribed = false
    /// Time at which the role's periodic work is due next.
    private var roleDue: Instant?
    /// Earliest time of the next notification that contains output of the role.
    private var pieceDue: Instant?

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - port: Port through which the service stores name and speed.
    ///   - role: Role that defines the behaviour of the service.
    ///   - logger: Log for refusals.
    public init(port: any GimbalPort, role: any SerialRole, logger: Logger) {
        self.port = port
        self.role = role
        log = logger
        baud = port.settings.rbl.baud
        role.setBaud(baud.bitsPerSecond)
    }

    /// Counters of the service since the start of airframed.
    public var counters: Counters {
        var result = tally
        result.output = output.counters
        return result
    }

    /// The counters of the service, by name.
    public var counts: [String: Int] {
        let all = counters
        return [
            "received_bytes": Int(all.receivedBytes), "notifications": Int(all.notifications),
            "invalid_bauds": Int(all.invalidBauds), "refusals": Int(all.refusals),
            "sent_bytes": Int(all.output.sentBytes),
            "dropped_messages": Int(all.output.droppedMessages),
            "dropped_bytes": Int(all.output.droppedBytes),
        ].merging(role.counts) { $1 }
    }

    /// Returns the present value of a characteristic.
    public func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] {
        switch RBLCharacteristic(rawValue: characteristic.description) {
        case .baud: return port.settings.rbl.baud.bytes
        case .name: return Array(port.settings.rbl.name.utf8)
        case .version: return Array(RBLCharacteristic.firmware.utf8)
        case .transmitPower: return power.bytes
        case .transmit, .receive, nil:
            throw refused(.notOffered, "\(central) read", characteristic)
        }
    }

    /// Passes written bytes to the role. Other writes change the serial port's speed, the
    /// advertised name or the transmit power.
    public func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) {
        let later = notifier.later("\(central) wrote \(name(of: characteristic))", log)
        do throws(Refusal) {
            switch RBLCharacteristic(rawValue: characteristic.description) {
            case .receive:
                tally.receivedBytes &+= UInt64(value.count)
                role.receive(value, from: central, now: now, &output)
                if !isSubscribed { discardOutput() }
            case .baud: try setBaud(value, central, later)
            case .name: try setName(value, central, later)
            case .transmitPower: power = try Self.choice(value, of: RBLTransmitPower.self)
            case .transmit, .version, nil: throw Refusal.notOffered
            }
        } catch {
            throw refused(error, "\(central) wrote", characteristic)
        }
    }

    /// True if a client of the role writes an emergency stop.
    public func isEmergencyStop(_ characteristic: GATTUUID, _ value: [UInt8]) -> Bool {
        characteristic.description == RBLCharacteristic.receive.rawValue
            && role.isEmergencyStop(value)
    }

    private func setBaud(
        _ value: [UInt8], _ central: Central, _ later: GATTLater
    ) throws(Refusal) {
        let baud: RBLBaud
        do {
            baud = try Self.choice(value, of: RBLBaud.self)
        } catch {
            tally.invalidBauds &+= 1
            throw error
        }
        if baud != port.settings.rbl.baud {
            try keep(SettingUpdate(\.rbl.baud, baud), central, later())
        }
    }

    private func setName(
        _ value: [UInt8], _ central: Central, _ later: GATTLater
    ) throws(Refusal) {
        guard (1...RBLCharacteristic.longestName).contains(value.count) else {
            throw Refusal(.invalidLength, "\(value.count) bytes; expected 1 to 20")
        }
        guard let name = String(validating: value, as: UTF8.self) else {
            throw Refusal(.invalidParams, "the new name is not UTF-8")
        }
        if name != port.settings.rbl.name {
            try keep(SettingUpdate(\.rbl.name, name), central, later())
        }
    }

    private func keep(
        _ update: SettingUpdate, _ central: Central, _ done: @escaping Later<Void>
    ) throws(Refusal) {
        try port.tuning.save(
            [update.key], with: [update],
            from: CommandSource(link: .rbl, connection: UInt64(central.connection)),
            (central.description, "set \(update), saved"), done)
    }

    /// Parses a written value: one byte with the raw value of an enumeration case.
    private static func choice<Value: RawRepresentable<UInt8> & CaseIterable>(
        _ value: [UInt8], of type: Value.Type
    ) throws(Refusal) -> Value {
        guard value.count == 1 else {
            throw Refusal(.invalidLength, "\(value.count) bytes; expected 1")
        }
        guard let result = Value(rawValue: value[0]) else {
            throw Refusal(
                .outOfRange, "\(value[0]) is outside 0...\(Value.allCases.count - 1)")
        }
        return result
    }

    private func refused(
        _ refusal: Refusal, _ what: String, _ characteristic: GATTUUID
    ) -> ATTError {
        tally.refusals &+= 1
        log.warning("\(what) \(name(of: characteristic)), refused: \(refusal.message).")
        return ATTError(refusal)
    }

    private func name(of characteristic: GATTUUID) -> String {
        let known = characteristics.first { $0.uuid == characteristic }
        return "\(known?.name ?? characteristic.description) of the serial service"
    }

    /// Drops waiting output if no client is subscribed.
    public func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {
        guard characteristic.description == RBLCharacteristic.transmit.rawValue else { return }
        isSubscribed = isOn
        roleDue = isOn ? now : nil
        discardOutput()
    }

    private func discardOutput() {
        output.clear()
        role.discard()
    }

    /// Ends the motion that the client has requested.
    public func disconnected(_ central: Central, now: Instant) {
        role.disconnected(central, now: now)
    }

    /// Descriptor and events of the service's role for poll(2).
    public var entry: pollfd? { role.entry }

    /// Passes an event of poll(2) on the role's descriptor to the role.
    public func ready(now: Instant) {
        role.ready(now: now, &output)
        // The role's deadline can have changed, so `advance` must call the role in the next
        // iteration.
        if isSubscribed { roleDue = now } else { discardOutput() }
    }

    /// Runs the role's periodic work when due, and sends as many notifications as `piecesPerSecond`
    /// permits.
    public func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? {
        if baud != port.settings.rbl.baud {
            baud = port.settings.rbl.baud
            role.setBaud(baud.bitsPerSecond)
        }
        guard isSubscribed else { return nil }
        if let due = roleDue, now >= due { roleDue = role.advance(now: now, &output) }
        let pace = 1 / Self.piecesPerSecond
        // After a pause, at most one burst is sent immediately.
        let earliest = now.advanced(bySeconds: -(Self.burst - 1) * pace)
        var piece = max(pieceDue ?? earliest, earliest)
        while output.count > 0, piece <= now {
            notifier.notify(
                GATTUUID(RBLCharacteristic.transmit.rawValue),
                output.next(min(max(20, mtu - 3), Self.largestValue)))
            tally.notifications &+= 1
            piece = piece.advanced(bySeconds: pace)
        }
        pieceDue = piece
        return [output.count > 0 ? piece : nil, roleDue].compactMap(\.self).min()
    }
}

extension RBLCharacteristic {
    /// Properties of the characteristic in the original firmware; `baud` also accepts writes
    /// without response.
    fileprivate var properties: Set<GATTCharacteristic.Property> {
        switch self {
        case .transmit: [.notify]
        case .receive: [.writeWithoutResponse]
        case .baud: [.read, .write, .writeWithoutResponse]
        case .name, .transmitPower: [.read, .write]
        case .version: [.read]
        }
    }
}
