import GimbalCore
import Logging
import Policy
import Realtime

@testable import Realtime

extension TelemetryRecord {
    /// A record of the loop at this second, with nothing else said.
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
    /// A door behind which nobody listens.
    static func idle() -> Commander {
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        return Commander(ring: ends.writer, bootMode: .locked, rules: Rules())
    }
}

extension Logger {
    /// Writes nowhere.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
