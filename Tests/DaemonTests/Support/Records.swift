import GimbalCore
import Logging
import Policy
import Realtime

@testable import Realtime

extension TelemetryRecord {
    /// Record of the loop at this time, s; all other values are defaults unless `change` sets them.
    static func at(
        _ seconds: Double, _ conditions: Conditions = .none, enabled: Bool = false,
        change: (inout StabilizerSnapshot) -> Void = { _ in }
    ) -> TelemetryRecord {
        var snapshot = StabilizerSnapshot()
        snapshot.conditions = conditions
        snapshot.output.enabled = enabled
        change(&snapshot)
        return TelemetryRecord(
            tick: UInt64(seconds * 1000), now: Instant(seconds: seconds), snapshot: snapshot,
            timing: TickTiming(), counters: RuntimeCounters())
    }
}

extension Commander {
    /// Commander whose commands reach no loop.
    static func idle() -> Commander {
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        return Commander(ring: ends.writer, bootMode: .locked, rules: Rules())
    }
}

extension Logger {
    /// Discards every message.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
