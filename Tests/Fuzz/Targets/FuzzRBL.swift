internal import Configuration
internal import GimbalCore
internal import Links
import Logging
internal import Port
import Synchronization
import Wire

extension FuzzTargets {
    /// Writes of a client of the serial service. Each write consists of characteristic, length and
    /// bytes.
    public static func rbl(_ bytes: [UInt8]) {
        let service = RBLService(
            port: FuzzPort(),
            role: AutoRole(mavlink: LoopbackRole(), robot: LoopbackRole()),
            logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
        let central = Central(address: "C0:1A:B0:00:00:02", connection: 1)
        let kinds = RBLCharacteristic.allCases
        var rest = bytes[...]
        var now = Instant(nanoseconds: 0)
        service.subscription(GATTUUID(kinds[0].rawValue), isOn: true, now: now)
        while rest.count >= 2 {
            let kind = GATTUUID(kinds[Int(rest.removeFirst()) % kinds.count].rawValue)
            let count = min(Int(rest.removeFirst()), rest.count)
            let value = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            now = now.advanced(bySeconds: 0.01)
            try? service.write(kind, value, by: central, now: now, SilentNotifier())
            let read = try? service.read(kind, by: central, now: now)
            precondition((read?.count ?? 0) <= 512, "a value is longer than an attribute")
            _ = service.advance(now: now, mtu: 23, SilentNotifier())
        }
        service.disconnected(central, now: now)
    }
}

/// Notifier that sends nothing.
private struct SilentNotifier: GATTNotifier {
    func notify(_ characteristic: GATTUUID, _ value: [UInt8]) {
        precondition(value.count <= 20, "a message exceeds a packet of the smallest MTU")
    }
}
