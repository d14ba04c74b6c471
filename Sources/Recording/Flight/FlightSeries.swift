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
        /// Time of the last request from the first tick, s; differs from `time` only for repeated
        /// requests.
        public var end = 0.0
        /// Number of requests; 1 for other events.
        public var count = 1
    }

    /// Longest interval between two requests with the same name that count as one repeated
    /// request, s. Clients repeat requests for motion within this time.
    static let longestRepetition = 1.0

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
    /// Events, in order of time. A repeated request is one event.
    public private(set) var events: [Event] = []
    /// Number of messages by topic.
    public private(set) var counts: [String: Int] = [:]
    /// Time of the first tick in the file, ns.
    public private(set) var start: Int64?
    /// Readable part of the file.
    public private(set) var outcome = MCAPReader.Outcome()

    /// Reads a recording.
    public init(_ file: FlightFile) {
        var timeline = Timeline()
        outcome = file.read { record, time in
            take(record, time, &timeline)
            return true
        }
        events = timeline.events(from: start ?? 0)
    }

    /// Time from the first to the last tick, s.
    public var seconds: Double { times.last ?? 0 }

    private mutating func take(
        _ record: FlightFile.Record, _ time: Int64, _ timeline: inout Timeline
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
            timeline.add(
                Event(time: 0, name: event.word, what: event.what, isFault: event.isFault),
                at: time)
        case .command(let command):
            timeline.add(request: command.word, isRepeated: command.isRepeated, at: time)
        case .state, .parameters, .sample: break
        }
    }
}

/// Events with their times in the file, ns.
private struct Timeline {
    private var entries: [(start: Int64, end: Int64, event: FlightSeries.Event)] = []
    /// Index of the newest request with each name.
    private var requests: [String: Int] = [:]

    mutating func add(_ event: FlightSeries.Event, at time: Int64) {
        entries.append((time, time, event))
    }

    /// Adds a request, or counts the request as a repetition.
    mutating func add(request name: String, isRepeated: Bool, at time: Int64) {
        if isRepeated, let index = requests[name],
            FlightFile.seconds(from: entries[index].end, to: time)
                <= FlightSeries.longestRepetition
        {
            entries[index].end = time
            entries[index].event.count += 1
        } else {
            requests[name] = entries.count
            add(FlightSeries.Event(time: 0, name: name, what: "", isFault: false), at: time)
        }
    }

    /// The events with their times from `start`, s.
    func events(from start: Int64) -> [FlightSeries.Event] {
        entries.map { entry in
            var event = entry.event
            event.time = FlightFile.seconds(from: start, to: entry.start)
            event.end = FlightFile.seconds(from: start, to: entry.end)
            return event
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
