public import GimbalCore
public import Logging
import Port
import Wire

/// The AirOS service: what AirLink and its like see of the gimbal.
///
/// Maps bytes to the backend and back, and paces notifications: the newest values at `airos.notify_hz` to whoever has
/// subscribed. A period that nobody could send in is left out, so that nothing ever queues. Thread airframed-ble.
public final class AirOSService: GATTService {
    /// What has been counted since the start.
    public struct Counters: Sendable, Equatable {
        /// Notifications handed to the radio.
        public var notifications: UInt64 = 0
        /// Writes carried out.
        public var writes: UInt64 = 0
        /// Reads and writes refused.
        public var refusals: UInt64 = 0
    }

    /// Counted since the start.
    public private(set) var counters = Counters()

    /// The service's UUID.
    public let uuid = GATTUUID(AirOSCharacteristic.service)
    /// The only name that the app connects to.
    public let advertisedName = AirOSCharacteristic.advertisedName
    /// All ten, in the order of the original table.
    public let characteristics = AirOSCharacteristic.allCases.map {
        GATTCharacteristic(uuid: $0.uuid, properties: $0.properties, name: $0.name)
    }

    /// The counters by name.
    public var counts: [String: Int] {
        [
            "notifications": Int(counters.notifications), "writes": Int(counters.writes),
            "refusals": Int(counters.refusals),
        ]
    }

    private let backend: any AirOSBackend
    private let log: Logger
    private var subscribed: Set<AirOSCharacteristic> = []
    /// When the next notifications go out; nil while nobody has subscribed.
    private var due: Instant?

    /// - Parameters:
    ///   - backend: The gimbal.
    ///   - logger: What was refused, and why.
    public init(backend: any AirOSBackend, logger: Logger) {
        self.backend = backend
        log = logger
    }

    /// The present value.
    public func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] {
        do {
            return try value(of: AirOSCharacteristic(characteristic))
        } catch {
            throw refused(error, "\(central) read", characteristic, now)
        }
    }

    private func value(of characteristic: AirOSCharacteristic?) throws(Refusal) -> [UInt8] {
        switch characteristic {
        case .pitch, .roll, .yaw:
            guard let angle = characteristic.flatMap(angle) else {
                throw Refusal(.noValue, "the sensor has not said anything yet")
            }
            return AirOSAngles.bytes(angle)
        case .status: return backend.status.bytes
        case .mode: return backend.mode.bytes
        case .pitchPID: return backend.pid(.pitch).bytes
        case .rollPID: return backend.pid(.roll).bytes
        case .yawPID: return backend.pid(.yaw).bytes
        case .kalman: return backend.kalman.bytes
        case .control, nil: throw .notOffered
        }
    }

    private func angle(_ characteristic: AirOSCharacteristic) -> Float? {
        switch characteristic {
        case .pitch: backend.angles?.pitch
        case .roll: backend.angles?.roll
        case .yaw: backend.angles?.yaw
        default: nil
        }
    }

    /// Checks a value, and hands it to the gimbal whole.
    public func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) {
        do {
            try carryOut(
                AirOSCharacteristic(characteristic), value, central, now,
                later: notifier.later("\(central) wrote control", log))
            counters.writes &+= 1
        } catch {
            throw refused(error, "\(central) wrote", characteristic, now)
        }
    }

    private func carryOut(
        _ characteristic: AirOSCharacteristic?, _ value: [UInt8], _ central: Central,
        _ now: Instant, later: GATTLater
    ) throws(Refusal) {
        switch characteristic {
        case .mode:
            try backend.setMode(try AirOSMode(bytes: value), by: central, now: now)
        case .control:
            try backend.carryOut(
                try AirOSCommand(bytes: value), by: central, now: now, later: later)
        case .pitchPID: try setPID(value, of: .pitch, central, now)
        case .rollPID: try setPID(value, of: .roll, central, now)
        case .yawPID: try setPID(value, of: .yaw, central, now)
        case .kalman:
            try backend.setKalman(try KalmanTriple(bytes: value), by: central, now: now)
        case .pitch, .roll, .yaw, .status, nil: throw .notOffered
        }
    }

    private func setPID(
        _ value: [UInt8], of axis: GimbalAxis, _ central: Central, _ now: Instant
    ) throws(Refusal) {
        try backend.setPID(try PIDTriple(bytes: value), of: axis, by: central, now: now)
    }

    private func refused(
        _ refusal: Refusal, _ what: String, _ characteristic: GATTUUID, _ now: Instant
    ) -> ATTError {
        counters.refusals &+= 1
        let name = AirOSCharacteristic(characteristic)?.name ?? characteristic.description
        log.warning("\(what) \(name), refused: \(refusal.message).")
        return ATTError(refusal)
    }

    /// The first notifications go out at once.
    public func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {
        guard let known = AirOSCharacteristic(characteristic),
            known.properties.contains(.notify)
        else { return }
        if isOn { subscribed.insert(known) } else { subscribed.remove(known) }
        if subscribed.isEmpty { due = nil } else if due == nil { due = now }
    }

    /// What the central turns stands still at once.
    public func disconnected(_ central: Central, now: Instant) {
        backend.disconnected(central, now: now)
    }

    /// Sends the newest values once per period.
    public func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? {
        guard let moment = due, now >= moment else { return due }
        let angles = backend.angles
        for characteristic in AirOSCharacteristic.allCases where subscribed.contains(characteristic)
        {
            let value: [UInt8]? =
                switch characteristic {
                case .pitch: (angles?.pitch).map(AirOSAngles.bytes)
                case .roll: (angles?.roll).map(AirOSAngles.bytes)
                case .yaw: (angles?.yaw).map(AirOSAngles.bytes)
                case .status: backend.status.bytes
                default: nil
                }
            guard let value else { continue }
            notifier.notify(characteristic.uuid, value)
            counters.notifications &+= 1
        }
        let period = 1 / backend.notifyHz
        let next = moment.advanced(bySeconds: period)
        due = next > now ? next : now.advanced(bySeconds: period)
        return due
    }
}

extension AirOSCharacteristic {
    /// The characteristic with this UUID.
    init?(_ uuid: GATTUUID) { self.init(rawValue: uuid.description) }

    /// Its UUID.
    var uuid: GATTUUID { GATTUUID(rawValue) }

    /// As in the original table, and readable where the app could read.
    var properties: Set<GATTCharacteristic.Property> {
        switch self {
        case .pitch, .roll, .yaw, .status: [.read, .notify]
        case .mode, .pitchPID, .rollPID, .yawPID, .kalman: [.read, .write]
        case .control: [.write]
        }
    }

    /// For people.
    var name: String {
        switch self {
        case .pitch: "pitch, degrees"
        case .roll: "roll, degrees"
        case .yaw: "yaw, degrees"
        case .status: "status"
        case .mode: "mode"
        case .control: "control"
        case .pitchPID: "PID of pitch"
        case .rollPID: "PID of roll"
        case .yawPID: "PID of yaw"
        case .kalman: "Kalman"
        }
    }
}
