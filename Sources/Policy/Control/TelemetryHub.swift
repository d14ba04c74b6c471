public import GimbalCore
public import Realtime
import Synchronization

/// Collector of the loop's records. The hub keeps the newest record for `status`, and passes all
/// records to the thread that calls `drain`.
///
/// One ordinary thread drains the ring; any thread can read the newest record. Only ordinary
/// threads use the lock; the loop writes to a ring.
public final class TelemetryHub: Sendable {
    /// The newest record, and the rates of ticks and samples.
    public struct View: Sendable {
        /// The newest record.
        public var record: TelemetryRecord
        /// Ticks per second, over the last full second; nil in the first second.
        public var tickRate: Double?
        /// Accepted samples per second, over the last full second; nil in the first second.
        public var sampleRate: Double?
    }

    private struct State: ~Copyable {
        var ring: RingReader<TelemetryRecord>
        var newest: TelemetryRecord?
        /// First record of the present second.
        var mark: TelemetryRecord?
        var tickRate: Double?
        var sampleRate: Double?
        var history = AttitudeHistory()
    }

    private let state: Mutex<State>

    /// Creates an empty hub.
    ///
    /// - Parameter ring: Consumer's end of the telemetry ring; only the hub reads this ring.
    public init(ring: consuming RingReader<TelemetryRecord>) {
        state = Mutex(State(ring: ring))
    }

    /// The newest record and the rates; nil before the first record.
    public var view: View? {
        state.withLock { state in
            state.newest.map {
                View(record: $0, tickRate: state.tickRate, sampleRate: state.sampleRate)
            }
        }
    }

    /// Camera's attitude at the given time, which must be within the last second; body to earth.
    ///
    /// - Parameter time: Time on the loop's clock.
    /// - Returns: The attitude.
    /// - Throws: The reason why the attitude is not known.
    public func attitude(at time: Instant) throws(AttitudeHistory.Gap) -> Quaternion {
        try state.withLock { (state) throws(AttitudeHistory.Gap) in
            try state.history.attitude(at: time)
        }
    }

    /// Drains the ring. Call this method often enough to keep the ring from filling up; the ring
    /// holds the records of a quarter of a second.
    ///
    /// - Parameter visit: Function that receives every record, oldest first. The function runs
    ///   without the hub's lock: it may take long, and must not delay a stop, which reads the hub.
    public func drain(_ visit: (TelemetryRecord) -> Void) {
        while let record = next() { visit(record) }
    }

    private func next() -> TelemetryRecord? {
        state.withLock { state in
            guard let record = state.ring.pop() else { return nil }
            Self.count(record, &state)
            state.newest = record
            let snapshot = record.snapshot
            state.history.note(snapshot.attitude, rate: snapshot.rate, time: record.now)
            return record
        }
    }

    /// Resets the rates, because the next record is the first of a new run.
    public func restart() {
        state.withLock { state in
            state.mark = nil
            state.tickRate = nil
            state.sampleRate = nil
        }
    }

    private static func count(_ record: TelemetryRecord, _ state: inout State) {
        guard let mark = state.mark else {
            state.mark = record
            return
        }
        let span = record.now.seconds(since: mark.now)
        guard span >= 1 else { return }
        state.tickRate = Double(record.tick &- mark.tick) / span
        let samples = record.snapshot.samples.accepted &- mark.snapshot.samples.accepted
        state.sampleRate = Double(samples) / span
        state.mark = record
    }
}
