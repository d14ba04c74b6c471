import GimbalCore

extension RadioSupervisor {
    /// Takes the answer to something that was asked for.
    mutating func finish(
        _ call: RadioCall, _ failure: RadioFailure?, now: Instant
    ) -> [RadioAction] {
        if let failure, !failure.isAlreadyThere { lastError = failure.sentence(call) }
        switch call {
        case .list: listing = settled(listing, failure, now)
        case .powerOn: powering = settled(powering, failure, now)
        // Done when the adapter says that it is off. One that stays on loses the link a few seconds later.
        case .powerOff: if failure != nil { cutting = .done }
        case .setAlias: naming = settled(naming, failure, now)
        case .setPairable:
            pairability = settled(pairability, failure, now)
            // Its own word for it may come before or after this answer.
            if pairability == .done, let path = chosen {
                adapters[path]?.isPairable = askedPairable
            }
        case .registerAgent:
            agent = settled(agent, failure?.isAlreadyThere == true ? nil : failure, now)
        case .registerApplication:
            if failure != nil, asksForHandles, failure?.isAlreadyThere == false {
                // Somebody else has the handles, or this bluetoothd does not give any.
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
            // Also when it failed: then there was nothing to take back.
            if advertisements.indices.contains(index), advertisements[index] == .renewing {
                advertisements[index] = .wanted
            }
        case .other: break
        }
        return []
    }

    /// An answer to something that is no longer asked for, because things have changed since, says nothing.
    private mutating func settled(
        _ step: Step, _ failure: RadioFailure?, _ now: Instant
    ) -> Step {
        guard step == .asked else { return step }
        return failure == nil ? .done : .waiting(until: later(now))
    }
}
