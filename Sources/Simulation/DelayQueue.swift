internal import GimbalCore

/// Queue of values on their way; the values arrive in order.
struct DelayQueue<Value: Sendable>: Sendable {
    private var queue: [(value: Value, time: Instant)] = []
    private var first = 0

    /// Adds a value. A value that would overtake an earlier value arrives at the same time as the
    /// earlier value.
    mutating func push(_ value: Value, at time: Instant) {
        let last = queue.last?.time ?? time
        queue.append((value, max(time, last)))
    }

    /// Removes and returns the first value that has arrived by `now`; nil if there is none.
    mutating func pop(by now: Instant) -> Value? {
        guard first < queue.count, queue[first].time <= now else { return nil }
        let value = queue[first].value
        first += 1
        if first == queue.count {
            queue.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256 {
            queue.removeFirst(first)
            first = 0
        }
        return value
    }
}

/// Outputs on their way to the power stages, with the output that is active.
struct OutputDelay: Sendable {
    private var queue = DelayQueue<MotorOutput>()
    private var current = MotorOutput.off

    /// Adds an output, which takes effect at `time`.
    mutating func push(_ output: MotorOutput, at time: Instant) { queue.push(output, at: time) }

    /// Returns the output that is active at `now`, and removes earlier outputs.
    mutating func output(at now: Instant) -> MotorOutput {
        while let next = queue.pop(by: now) { current = next }
        return current
    }
}
