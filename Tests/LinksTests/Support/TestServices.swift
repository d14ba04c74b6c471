import GimbalCore
import Glibc

@testable import Links

/// A service with one characteristic of each kind, which records its requests.
final class RecordingService: GATTService {
    static let state = GATTUUID("a1b20001-1f2e-4d3c-8b5a-6f7e8d9c0b1a")
    static let command = GATTUUID("a1b20002-1f2e-4d3c-8b5a-6f7e8d9c0b1a")
    static let stream = GATTUUID("a1b20003-1f2e-4d3c-8b5a-6f7e8d9c0b1a")

    let uuid = GATTUUID("a1b20000-1f2e-4d3c-8b5a-6f7e8d9c0b1a")
    let advertisedName = "Test gimbal"
    let characteristics = [
        GATTCharacteristic(uuid: state, properties: [.read, .notify], name: "state"),
        GATTCharacteristic(uuid: command, properties: [.read, .write], name: "command"),
        GATTCharacteristic(uuid: stream, properties: [.writeWithoutResponse], name: "stream"),
    ]

    var counts: [String: Int] {
        ["writes": writes.count, "subscription changes": subscriptions.count]
    }
    var value: [UInt8] = [1, 2, 3]
    var writes: [[UInt8]] = []
    /// Writes that begin with this byte are refused.
    var refusal: (byte: UInt8, error: ATTError)?
    var subscriptions: [Bool] = []
    var gone: [Central] = []
    var mtu = 0
    /// Time for which each write blocks the Bluetooth thread, µs.
    private let pause: UInt32

    init(pause: UInt32 = 0) { self.pause = pause }

    func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] { value }

    func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) {
        if let refusal, value.first == refusal.byte { throw refusal.error }
        writes.append(value)
        if pause > 0 { usleep(pause) }
    }

    func isEmergencyStop(_ characteristic: GATTUUID, _ value: [UInt8]) -> Bool { value == [0xEE] }

    func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {
        subscriptions.append(isOn)
    }

    func disconnected(_ central: Central, now: Instant) { gone.append(central) }

    func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? {
        self.mtu = mtu
        return nil
    }
}

/// A second service, for the second advertisement.
final class PlainService: GATTService {
    let uuid = GATTUUID("b1b20000-1f2e-4d3c-8b5a-6f7e8d9c0b1a")
    var advertisedName: String { name() }
    private let name: @Sendable () -> String
    let characteristics = [
        GATTCharacteristic(
            uuid: GATTUUID("b1b20001-1f2e-4d3c-8b5a-6f7e8d9c0b1a"), properties: [.read],
            name: "plain")
    ]
    let counts: [String: Int] = [:]

    init(name: @escaping @Sendable () -> String = { "BLE Mini" }) { self.name = name }

    func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] { throw .notAuthorized }

    func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) {}

    func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {}
    func disconnected(_ central: Central, now: Instant) {}
    func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? { nil }
}
