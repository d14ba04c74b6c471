public import GimbalCore

/// Time series of a recording: one value for each tick, and events.
public struct FlightSeries: Sendable {
    /// An event in the recording.
    public struct Event: Sendable, Equatable {
        /// Time from the first tick, s.
        public var time: Double
        /// Name of the event: a condition such as `imu_stale`, `mode`, `outputs`, `gap`, or the
        /// name of a request.
        public var name: String
        /// Change that the event reports, such as `begins`, `ends`, `locked` or `on`; empty for
        /// requests.
        public var what: String
        /// True if the recorder treated the event as a fault.
        public var isFault: Bool
    }

    /// Times of the ticks, relative to the first tick, s.
    public private(set) var times: [Double] = []
    /// Camera's angles, Z-X-Y, degrees.
    public private(set) var attitude: [AxisVector] = []
    /// Commanded angles, degrees.
    public private(set) var setpoint: [AxisVector] = []
    /// Joint angles, degrees.
    public private(set) var joint: [AxisVector] = []
    /// Attitude error about the camera's axes, degrees: rotation from the attitude to the
    /// set-point.
    public private(set) var error: [AxisVector] = []
    /// Motor torque, N·m.
    public private(set) var torque: [AxisVector] = []
    /// Time between consecutive ticks, µs.
    public private(set) var period: [Double] = []
    /// Duration of estimation and control, µs.
    public private(set) var thinking: [Double] = []
    /// True if the outputs were on.
    public private(set) var isEnabled: [Bool] = []
    /// Events, in order of time.
    public private(set) var events: [Event] = []
    /// Number of messages by topic.
    public private(set) var counts: [String: Int] = [:]
    /// Time of the first tick in the file, ns.
    public private(set) var start: Int64?
    /// Readable part of the file.
    public private(set) var outcome = MCAPReader.Outcome()

    /// Reads a recording.
    public init(_ file: FlightFile) {
        var early: [(Int64, Event)] = []
        outcome = file.read { record, time in
            take(record, time, &early)
            return true
        }
        let start = start ?? 0
        events = early.map { time, event in
            var event = event
            event.time = FlightFile.seconds(from: start, to: time)
            return event
        }
    }

    /// Time from the first to the last tick, s.
    public var seconds: Double { times.last ?? 0 }

    private mutating func take(
        _ record: FlightFile.Record, _ time: Int64, _ early: inout [(Int64, Event)]
    ) {
        counts[record.topic, default: 0] += 1
        switch record {
        case .tick(let tick):
            let first = start ?? time
            start = first
            times.append(FlightFile.seconds(from: first, to: time))
            attitude.append(tick.degrees("attitude"))
            setpoint.append(tick.degrees("setpoint"))
            joint.append(tick.degrees("joint"))
            error.append(tick.degrees("error"))
            torque.append(tick.torque)
            period.append(Double(tick.dt) * 1e-3)
            thinking.append(tick.shown("estimate_us") + tick.shown("control_us"))
            isEnabled.append(tick.isEnabled)
        case .event(let event):
            early.append(
                (
                    time,
                    Event(time: 0, name: event.word, what: event.what, isFault: event.isFault)
                ))
        case .command(let command):
            early.append((time, Event(time: 0, name: command.word, what: "", isFault: false)))
        case .state, .parameters, .sample: break
        }
    }
}

extension FlightFile.Record {
    /// Topic of the channel.
    var topic: String {
        switch self {
        case .state: StateMessage.topic
        case .parameters: ParametersMessage.topic
        case .command: CommandMessage.topic
        case .sample: SampleMessage.topic
        case .tick: TickMessage.topic
        case .event: EventMessage.topic
        }
    }
}
