import GimbalCore
import Logging
import Wire

extension BluetoothLoop {
    /// Disconnects a phone that is not paired, if a paired phone connects and would exceed the
    /// maximum number of phones. A neighbour's phones can connect, but cannot use the services, and
    /// must not exclude the paired phones.
    func makePlace(for device: String, _ now: Instant) {
        guard let stranger = centrals.stranger(toReplaceBy: device),
            let entry = centrals.disconnect(stranger)
        else { return }
        counters.refusedConnections += 1
        logger.warning(
            "\(entry.central) disconnected: it is not paired, and a paired phone takes its place (bluetooth.max_centrals)."
        )
        for service in services { service.disconnected(entry.central, now: now) }
        bus.disconnect(device: stranger)
    }
}
