internal import GimbalCore

/// Threads of a runtime that has been started and not yet stopped.
struct RunningThreads: Sendable {
    var loop: RealtimeThread?
    var bus: RealtimeThread?
    /// Thread of the motors' own bus; nil if the motors have no separate bus.
    var motors: RealtimeThread?
    /// Thread of the power line; nil without a power line.
    var power: RealtimeThread?

    /// Reports of all threads.
    var reports: [ThreadReport] { [loop, bus, motors, power].compactMap { $0?.report } }

    /// Ends the threads. First, all threads that turn off a device at their end are stopped at the
    /// same time. The loop is stopped last.
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

/// Result of stopping a runtime.
public struct StopReport: Sendable, Equatable {
    /// True if the threads of the buses have ended. The value is false if a thread is still running
    /// because a transfer hangs.
    public var busEnded: Bool
    /// True if the loop has ended.
    public var loopEnded: Bool
    /// True if the power line is off, or if every bus has accepted the request to turn its power
    /// stages off.
    public var motorsOff: Bool
}

/// Time limits of `stop()`; their sum is below the documented limit of 1 s of `GimbalRuntime.stop`.
private enum StopLimits {
    static let busSeconds = 0.6
    static let loopSeconds = 0.3
}
