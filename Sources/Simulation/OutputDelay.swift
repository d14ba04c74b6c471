internal import GimbalCore

/// Queue of outputs on their way to the power stages, sorted by the time at which each takes
/// effect.
struct OutputDelay: Sendable {
    private var ring: [(output: MotorOutput, time: Instant)] = []
    private var first = 0
    private var current = MotorOutput.off

    /// Adds an output. An output that would overtake an earlier output takes effect at the same
    /// time as the earlier output.
    mutating func push(_ output: MotorOutput, at time: Instant) {
        let last = ring.last?.time ?? time
        ring.append((output, max(time, last)))
    }

    /// Returns the output that is active at `now`, and removes earlier outputs.
    mutating func output(at now: Instant) -> MotorOutput {
        while first < ring.count, ring[first].time <= now {
            current = ring[first].output
            first += 1
        }
        if first == ring.count {
            ring.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256 {
            ring.removeFirst(first)
            first = 0
        }
        return current
    }
}

/// Queue of samples on their way to the host; the host receives the samples in order.
struct PendingSamples: Sendable {
    private var queue: [(sample: IMUSample, time: Instant)] = []
    private var first = 0

    mutating func push(_ sample: IMUSample, deliverAt time: Instant) {
        let last = queue.last?.time ?? time
        queue.append((sample, max(time, last)))
    }

    mutating func popDelivered(by now: Instant) -> IMUSample? {
        guard first < queue.count, queue[first].time <= now else { return nil }
        let sample = queue[first].sample
        first += 1
        if first == queue.count {
            queue.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256 {
            queue.removeFirst(first)
            first = 0
        }
        return sample
    }
}
