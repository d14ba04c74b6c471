import GimbalCore
import Wire

/// Periodic messages to one peer, with their intervals.
struct MessageStreams {
    /// The shortest period, s: 200 a second.
    static let shortest = 0.005

    /// Lateness after which a message is left out, s.
    private static let makeUpSeconds = 0.1

    /// Kinds of messages that can be streamed, with their usual period in seconds; 0: only on request.
    static let usual: [UInt32: Double] = [
        Heartbeat.format.id: 1,
        AttitudeReport.format.id: 0,
        VFRHUD.format.id: 0,
        GimbalManagerInformation.format.id: 0,
        GimbalManagerStatus.format.id: 0.2,
        GimbalDeviceInformation.format.id: 0,
        GimbalDeviceAttitudeStatus.format.id: 0.1,
    ]

    private struct Stream {
        var period: Double
        var due: Instant
    }

    private var streams: [UInt32: Stream] = [:]

    /// The usual ones.
    ///
    /// - Parameters:
    ///   - isManager: Whether the manager's are among them.
    ///   - now: When they begin.
    init(isManager: Bool, now: Instant) {
        for (id, period) in Self.usual where period > 0 {
            if id == GimbalManagerStatus.format.id, !isManager { continue }
            streams[id] = Stream(period: period, due: now)
        }
    }

    /// Those of a flight display.
    ///
    /// - Parameters:
    ///   - attitudeHz: Of the attitude; the head-up display gets a half of that.
    ///   - now: When they begin.
    init(display attitudeHz: Double, now: Instant) {
        streams[Heartbeat.format.id] = Stream(period: 1, due: now)
        streams[AttitudeReport.format.id] = Stream(period: 1 / attitudeHz, due: now)
        streams[VFRHUD.format.id] = Stream(period: 2 / attitudeHz, due: now)
    }

    /// Interval of a message, s; 0: none is sent periodically.
    func period(of id: UInt32) -> Double { streams[id]?.period ?? 0 }

    /// Changes how often a kind is sent.
    ///
    /// - Parameters:
    ///   - id: One of `usual`.
    ///   - microseconds: Interval; 0: default, negative: never.
    ///   - now: The first is due then.
    mutating func set(_ id: UInt32, microseconds: Double, now: Instant) {
        let usual = Self.usual[id] ?? 0
        let period = microseconds == 0 ? usual : microseconds * 1e-6
        // A heartbeat is how others know that this component is there.
        if period <= 0, id == Heartbeat.format.id { return }
        streams[id] =
            period > 0 ? Stream(period: max(period, Self.shortest), due: now) : nil
    }

    /// The kinds that are due, and when the next will be.
    mutating func takeDue(now: Instant) -> (ids: [UInt32], next: Instant?) {
        var ids: [UInt32] = []
        var next: Instant?
        for (id, var stream) in streams {
            if stream.due <= now {
                ids.append(id)
                stream.due = stream.due.advanced(bySeconds: stream.period)
                // A thread that was held up for a moment makes up for it; after a longer sleep it begins anew.
                if now.seconds(since: stream.due) > Self.makeUpSeconds {
                    stream.due = now.advanced(bySeconds: stream.period)
                }
                streams[id] = stream
            }
            next = min(next ?? stream.due, stream.due)
        }
        return (ids.sorted(), next)
    }
}
