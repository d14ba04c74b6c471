internal import GimbalCore

/// The threads of a runtime between start and stop.
struct RunningThreads: Sendable {
    var loop: RealtimeThread?
    var bus: RealtimeThread?
    /// Of the motors' own bus.
    var motors: RealtimeThread?
    /// Of the power line.
    var power: RealtimeThread?

    /// What the kernel granted them.
    var reports: [ThreadReport] { [loop, bus, motors, power].compactMap { $0?.report } }

    /// Ends them: first those whose last act is to turn something off, all at once, then the loop.
    func stop(_ handles: SharedHandles) -> StopReport {
        let deadline = MonotonicClock.now.advanced(bySeconds: StopLimits.busSeconds)
        handles.busStop.set()
        handles.busBell.ring()
        for lane in [handles.lanes.motors, handles.lanes.power] {
            lane.stop.set()
            lane.bell.ring()
        }
        var busEnded = true
        for thread in [power, motors, bus] {
            if let thread, !thread.join(until: deadline) { busEnded = false }
        }
        handles.loopStop.set()
        handles.loopBell.ring()
        let loopDeadline = MonotonicClock.now.advanced(bySeconds: StopLimits.loopSeconds)
        let loopEnded = loop?.join(until: loopDeadline) ?? true
        let areBusesOff =
            handles.status.isOff && (motors == nil || handles.lanes.motors.status.isOff)
        return StopReport(
            busEnded: busEnded, loopEnded: loopEnded,
            motorsOff: areBusesOff || (power != nil && handles.lanes.power.status.isOff))
    }
}

/// How a runtime ended.
public struct StopReport: Sendable, Equatable {
    /// The threads of the buses have ended. Otherwise a transfer hangs, and the thread was left to
    /// itself.
    public var busEnded: Bool
    /// The loop has ended.
    public var loopEnded: Bool
    /// The power line is off, or every bus accepted the request to turn its power stages off.
    public var motorsOff: Bool
}

/// How long `stop()` waits; together less than the second it promises.
private enum StopLimits {
    static let busSeconds = 0.6
    static let loopSeconds = 0.3
}
