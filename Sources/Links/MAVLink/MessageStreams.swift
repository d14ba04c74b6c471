import GimbalCore
import Wire

/// Periodic messages to one peer, with their intervals.
struct MessageStreams {
    /// Shortest interval of messages of one kind, s: 200 messages a second.
    static let shortest = 0.005

    /// Longest interval of messages of one kind, s. In microseconds, the interval fits into
    /// MESSAGE_INTERVAL.
    private static let longest = 1800.0

    /// Shortest default interval of head-up display messages, s. With this interval, the messages
    /// of a flight display at 50 Hz (50 of 36 bytes, 20 of 28 bytes, and one of 17 bytes per
    /// second) fit into `RBLService.piecesPerSecond` notifications of 20 bytes.
    private static let shortestHeadUp = 0.05

    /// Largest delay of a late message, s; messages with a larger delay are skipped.
    private static let makeUpSeconds = 0.1

    /// Kinds of messages that a peer can receive periodically, with the default interval, s, of a
    /// peer that is not a flight display. The interval 0 means that the message is sent only on
    /// request.
    static let usual: [UInt32: Double] = [
        Heartbeat.format.id: 1,
        AttitudeReport.format.id: 0,
        VFRHUD.format.id: 0,
        BatteryReport.format.id: 2,
        GimbalManagerInformation.format.id: 0,
        GimbalManagerStatus.format.id: 0.2,
        GimbalDeviceInformation.format.id: 0,
        GimbalDeviceAttitudeStatus.format.id: 0.1,
    ]

    private struct Stream {
        var period: Double
        var due: Instant
    }

    /// Default interval of each kind of message that the peer gets without a request, s.
    private let defaults: [UInt32: Double]
    private var streams: [UInt32: Stream]

    /// Creates the streams that every peer gets without a request, each at its default interval.
    ///
    /// - Parameters:
    ///   - isManager: True if the streams include the manager's messages.
    ///   - now: Time at which the streams start.
    init(isManager: Bool, now: Instant) {
        var defaults = Self.usual.filter { $0.value > 0 }
        if !isManager { defaults[GimbalManagerStatus.format.id] = nil }
        self.init(defaults, now: now)
    }

    /// Creates the streams of a flight display.
    ///
    /// - Parameters:
    ///   - attitudeHz: Rate of the attitude messages, Hz; the head-up display messages have half
    ///     this rate, but at most 20 Hz.
    ///   - now: Time at which the streams start.
    init(display attitudeHz: Double, now: Instant) {
        let defaults: [UInt32: Double] = [
            Heartbeat.format.id: 1, AttitudeReport.format.id: 1 / attitudeHz,
            VFRHUD.format.id: max(2 / attitudeHz, Self.shortestHeadUp),
        ]
        self.init(defaults, now: now)
    }

    private init(_ defaults: [UInt32: Double], now: Instant) {
        self.defaults = defaults
        streams = defaults.mapValues { Stream(period: $0, due: now) }
    }

    /// True if a peer can set this interval; µs, as in MAV_CMD_SET_MESSAGE_INTERVAL.
    static func permits(microseconds: Float) -> Bool { Double(microseconds) <= longest * 1e6 }

    /// Interval of messages of one kind, s; 0 if messages of this kind are not sent periodically.
    func period(of id: UInt32) -> Double { streams[id]?.period ?? 0 }

    /// Changes the interval of the messages of one kind.
    ///
    /// - Parameters:
    ///   - id: Message ID, one of the keys of `usual`.
    ///   - microseconds: Interval in µs; 0 means the default interval of this peer, and a negative
    ///     number disables the messages.
    ///   - now: Time of the first message.
    mutating func set(_ id: UInt32, microseconds: Double, now: Instant) {
        let period = microseconds == 0 ? defaults[id] ?? 0 : microseconds * 1e-6
        // The heartbeat cannot be disabled, because the heartbeat announces this component.
        if period <= 0, id == Heartbeat.format.id { return }
        streams[id] =
            period > 0 ? Stream(period: max(period, Self.shortest), due: now) : nil
    }

    /// The kinds of messages that are due, and the time of the next message.
    mutating func takeDue(now: Instant) -> (ids: [UInt32], next: Instant?) {
        var ids: [UInt32] = []
        var next: Instant?
        for (id, var stream) in streams {
            if stream.due <= now {
                ids.append(id)
                stream.due = stream.due.advanced(bySeconds: stream.period)
                // Late messages are still sent after a short delay; they are skipped after a delay
                // of more than `makeUpSeconds`.
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
