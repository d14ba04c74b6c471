import GimbalCore
import Logging
import Wire

extension BluetoothLoop {
    /// Executes a request of another thread.
    func carryOut(_ request: RadioRequest) {
        switch request {
        case .allowPairing(let seconds):
            let until = seconds > 0 ? clock().advanced(bySeconds: seconds) : nil
            handle(.allowPairing(until: until))
        case .forget(let address):
            guard let adapter = supervisor.adapterPath,
                let bond = centrals.bonds.first(where: { $0.address == address })
            else { return }
            logger.notice("The keys of \(address) are removed.")
            bus.remove(device: bond.device, adapter: adapter)
        case .answer(let token, let error):
            if error != nil { counters.invalidWrites += 1 }
            bus.answer(token, error)
        }
        statusDue = Instant(nanoseconds: .min)
    }
}
