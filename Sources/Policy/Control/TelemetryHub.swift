import GimbalCore
public import Realtime
import Synchronization

/// Collector of the loop's records: it keeps the newest record for `status`, and passes all records
/// to the thread that drains it.
///
/// One ordinary thread drains the ring; any thread can read the newest record. Only ordinary
/// threads use the lock; the loop writes to a ring.
public final class TelemetryHub: Sendable {
    /// The newest record, and the rates of ticks and samples over a second.
    public struct View: Sendable {
        /// The newest record.
        public var record: TelemetryRecord
        /// Ticks per second, over the last full second.
        public var tickRate: Double?
        /// Accepted samples per second, over the last full second.
        public var sampleRate: Double?
    }

    private struct State: ~Copyable {
        var ring: RingReader<TelemetryRecord>
        var newest: TelemetryRecord?
        /// Start of the present second.
        var mark: TelemetryRecord?
        var tickRate: Double?
        var sampleRate: Double?
    }

    private let state: Mutex<State>

    /// Creates an empty hub.
    ///
    /// - Parameter ring: The consuming end of the telemetry ring; nothing else reads this ring.
    public init(ring: consuming RingReader<TelemetryRecord>) {
        state = Mutex(State(ring: ring))
    }

    /// The newest record; nil until the loop has sent a record.
    public var view: View? {
        state.withLock { state in
            state.newest.map {
                View(record: $0, tickRate: state.tickRate, sampleRate: state.sampleRate)
            }
        }
    }

    /// Drains the ring. Call often enough that it does not fill: it holds a quarter of a second.
    ///
    /// - Parameter visit: Receiver of every record, oldest first; it must not call back into the
    ///   hub.
    public func drain(_ visit: (TelemetryRecord) -> Void) {
        state.withLock { state in
            while let record = state.ring.pop() {
                Self.count(record, &state)
                state.newest = record
                visit(record)
            }
        }
    }

    /// Resets the rates: the next record is the first of another run.
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
