import Configuration
public import GimbalCore
public import Logging
import Port
import Wire

/// AirOS service; AirLink and similar apps use the gimbal through this service.
///
/// The service converts bytes from an app to requests and changes of settings, and converts the
/// gimbal's state to bytes. The service sends the newest values to all subscribers at the rate
/// `airos.notify_hz`. The service skips every period in which sending was not possible. Therefore
/// no queue of notifications builds up. Only the thread airframed-ble uses the service.
public final class AirOSService: GATTService {
    /// Counters of the service since the start of airframed.
    public struct Counters: Sendable, Equatable {
        /// Number of notifications that were passed to the radio.
        public var notifications: UInt64 = 0
        /// Number of executed writes.
        public var writes: UInt64 = 0
        /// Number of refused reads and writes.
        public var refusals: UInt64 = 0
    }

    /// Counters of the service since the start of airframed.
    public private(set) var counters = Counters()

    /// The service's UUID.
    public let uuid = GATTUUID(AirOSCharacteristic.service)
    /// Advertised name. The AirLink app connects only to devices with this name.
    public let advertisedName = AirOSCharacteristic.advertisedName
    /// All ten characteristics of the service, in the order of the original firmware's table.
    public let characteristics = AirOSCharacteristic.allCases.map {
        GATTCharacteristic(uuid: $0.uuid, properties: $0.properties, name: $0.name)
    }

    /// The counters of the service, by name.
    public var counts: [String: Int] {
        [
            "notifications": Int(counters.notifications), "writes": Int(counters.writes),
            "refusals": Int(counters.refusals),
        ]
    }

    /// Duration for which the status reports a failed calibration that a phone requested, s. At the
    /// default rate, 20 notifications contain the failure.
    private static let failureSeconds = 2.0

    let port: any GimbalPort
    let log: Logger
    /// Zero point of the reported heading.
    var zero = HeadingZero()
    /// Centrals for which a log message already states that the present mode ignores tracking
    /// speeds.
    var toldThatNothingTurns: Set<Central> = []
    private var subscribed: Set<AirOSCharacteristic> = []
    /// Time of the next notifications; nil if no central has subscribed.
    private var due: Instant?

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - port: Port through which the service accesses the gimbal.
    ///   - logger: Log for actions and refusals.
    public init(port: any GimbalPort, logger: Logger) {
        self.port = port
        log = logger
    }

    /// Returns the present value of a characteristic.
    public func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] {
        do {
            return try value(of: AirOSCharacteristic(characteristic), now)
        } catch {
            throw refused(error, "\(central) read", characteristic)
        }
    }

    private func value(
        of characteristic: AirOSCharacteristic?, _ now: Instant
    ) throws(Refusal) -> [UInt8] {
        switch characteristic {
        case .pitch, .roll, .yaw:
            guard let angle = characteristic.flatMap({ angle($0, angles) }) else {
                throw Refusal(.noValue, "the sensor has not delivered a sample yet")
            }
            return AirOSAngles.bytes(angle)
        case .status: return status(now).bytes
        case .mode: return AirOSMode(port.control.mode).bytes
        case .pitchPID: return port.settings.airos.pid.pitch.bytes
        case .rollPID: return port.settings.airos.pid.roll.bytes
        case .yawPID: return port.settings.airos.pid.yaw.bytes
        case .kalman: return KalmanTriple(port.settings.estimator).bytes
        case .control, nil: throw .notOffered
        }
    }

    private func angle(_ characteristic: AirOSCharacteristic, _ angles: AirOSAngles?) -> Float? {
        switch characteristic {
        case .pitch: angles?.pitch
        case .roll: angles?.roll
        case .yaw: angles?.yaw
        default: nil
        }
    }

    /// Camera angles in the format of the apps; nil before the sensor's first sample.
    private var angles: AirOSAngles? {
        port.snapshot.map { snapshot in
            var angles = EulerZXY.angles(snapshot.attitude)
            angles.yaw = zero.heading(snapshot)
            return AirOSAngles(angles, sign: port.settings.airos.sign.factors)
        }
    }

    private func status(_ now: Instant) -> AirOSStatus {
        let calibration = port.calibration
        if calibration.isRunning { return .calibrating }
        if let failed = calibration.failed, now.seconds(since: failed) <= Self.failureSeconds {
            return .calibrationFailed
        }
        return AirOSStatus(AirOSMode(port.control.mode))
    }

    /// Checks the value of a write from a central, and passes the value to the gimbal.
    public func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) {
        do throws(Refusal) {
            var updates: [SettingUpdate] = []
            switch AirOSCharacteristic(characteristic) {
            case .mode: try enter(try AirOSMode(bytes: value), central, now)
            case .control:
                try carryOut(
                    try AirOSCommand(bytes: value), central, now,
                    later: notifier.later("\(central) wrote control", log))
            case .pitchPID:
                updates = [SettingUpdate(\.airos.pid.pitch, try PIDTriple(bytes: value))]
            case .rollPID:
                updates = [SettingUpdate(\.airos.pid.roll, try PIDTriple(bytes: value))]
            case .yawPID:
                updates = [SettingUpdate(\.airos.pid.yaw, try PIDTriple(bytes: value))]
            case .kalman: updates = try KalmanTriple(bytes: value).updates
            case .pitch, .roll, .yaw, .status, nil: throw Refusal.notOffered
            }
            if !updates.isEmpty {
                try port.tuning.change(
                    updates, from: CommandSource(central), by: central.description)
            }
            counters.writes &+= 1
        } catch {
            throw refused(error, "\(central) wrote", characteristic)
        }
    }

    /// True if an app writes the emergency stop.
    public func isEmergencyStop(_ characteristic: GATTUUID, _ value: [UInt8]) -> Bool {
        guard AirOSCharacteristic(characteristic) == .control,
            case .emergencyStop? = try? AirOSCommand(bytes: value)
        else { return false }
        return true
    }

    private func refused(
        _ refusal: Refusal, _ what: String, _ characteristic: GATTUUID
    ) -> ATTError {
        counters.refusals &+= 1
        let name = AirOSCharacteristic(characteristic)?.name ?? characteristic.description
        log.warning("\(what) \(name), refused: \(refusal.message).")
        return ATTError(refusal)
    }

    /// Records that a central has subscribed to a characteristic; the first notifications are sent
    /// immediately.
    public func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {
        guard let known = AirOSCharacteristic(characteristic),
            known.properties.contains(.notify)
        else { return }
        if isOn { subscribed.insert(known) } else { subscribed.remove(known) }
        if subscribed.isEmpty { due = nil } else if due == nil { due = now }
    }

    /// Stops the motion that the central has requested.
    public func disconnected(_ central: Central, now: Instant) {
        port.left(CommandSource(central), now: now)
        toldThatNothingTurns.remove(central)
    }

    /// Sends the newest values of all characteristics with subscribers, once per period.
    public func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? {
        guard let moment = due, now >= moment else { return due }
        let angles = angles
        for characteristic in AirOSCharacteristic.allCases where subscribed.contains(characteristic)
        {
            let value: [UInt8]? =
                characteristic == .status
                ? status(now).bytes : angle(characteristic, angles).map(AirOSAngles.bytes)
            guard let value else { continue }
            notifier.notify(characteristic.uuid, value)
            counters.notifications &+= 1
        }
        let period = 1 / port.settings.airos.notifyHz
        let next = moment.advanced(bySeconds: period)
        due = next > now ? next : now.advanced(bySeconds: period)
        return due
    }
}

extension AirOSCharacteristic {
    /// Finds the characteristic with the given UUID; nil if the service does not have it.
    init?(_ uuid: GATTUUID) { self.init(rawValue: uuid.description) }

    /// UUID of one characteristic of the service.
    var uuid: GATTUUID { GATTUUID(rawValue) }

    /// Properties of the characteristic in the original firmware's table. In addition, apps can
    /// read the notified values without a subscription.
    var properties: Set<GATTCharacteristic.Property> {
        switch self {
        case .pitch, .roll, .yaw, .status: [.read, .notify]
        case .mode, .pitchPID, .rollPID, .yawPID, .kalman: [.read, .write]
        case .control: [.write]
        }
    }

    /// User description of the characteristic.
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
