import GimbalCore

extension RadioSupervisor {
    /// Updates the supervisor's state after bluetoothd's answer to a request.
    mutating func finish(
        _ call: RadioCall, _ failure: RadioFailure?, now: Instant
    ) -> [RadioAction] {
        if let failure, !failure.isAlreadyThere { lastError = failure.sentence(call) }
        switch call {
        case .list:
            if listing == .asked {
                listRefusal = failure
                if failure == nil {
                    adapterDue = now.advanced(bySeconds: Self.adapterPatience)
                }
            }
            listing = settled(listing, failure, now)
        case .powerOn: powering = settled(powering, failure, now)
        // bluetoothd's answer does not mean that the adapter is off; the adapter reports its state
        // separately. If bluetoothd cannot switch the adapter off, there is no power cycle, and the
        // phone's old link ends a few seconds later.
        case .powerOff: if failure != nil { cutting = .done }
        case .setAlias: naming = settled(naming, failure, now)
        case .setPairable:
            pairability = settled(pairability, failure, now)
            // The adapter's report that it is pairable can arrive before or after bluetoothd's
            // answer.
            if pairability == .done, let path = chosen {
                adapters[path]?.isPairable = askedPairable
            }
        case .registerAgent:
            agent = settled(agent, failure?.isAlreadyThere == true ? nil : failure, now)
        case .registerApplication:
            if application == .asked, asksForHandles, failure?.name == "org.bluez.Error.Failed" {
                // Another program uses the requested attribute handles, or this version of
                // bluetoothd ignores requested handles.
                asksForHandles = false
                application = .wanted
            } else {
                application = settled(
                    application, failure?.isAlreadyThere == true ? nil : failure, now)
                if application == .done { registrations += 1 }
            }
        case .registerAdvertisement(let index):
            guard advertisements.indices.contains(index), let path = chosen else { return [] }
            if failure?.isAlreadyThere == true, advertisements[index] == .asked {
                advertisements[index] = .renewing
                return [.unregisterAdvertisement(path, index)]
            }
            advertisements[index] = settled(advertisements[index], failure, now)
        case .unregisterAdvertisement(let index):
            // If the withdrawal of an advertisement fails, bluetoothd did not have the
            // advertisement. Therefore the advertisement is treated as withdrawn even after a
            // failure.
            if advertisements.indices.contains(index), advertisements[index] == .renewing {
                advertisements[index] = .wanted
            }
        case .other: break
        }
        return []
    }

    /// Updates the state of a step after bluetoothd's answer. The answer is ignored if the
    /// supervisor no longer needs the request.
    private mutating func settled(
        _ step: Step, _ failure: RadioFailure?, _ now: Instant
    ) -> Step {
        guard step == .asked else { return step }
        return failure == nil ? .done : .waiting(until: later(now))
    }
}
