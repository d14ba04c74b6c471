public import GimbalCore
public import Realtime
import Wire

/// Turns the frames of the loop's tape into chunks of an MCAP file: one encoding for the ring in
/// memory, for the file of a fault and for continuous recording. One thread at a time.
public struct FlightEncoder: ~Copyable {
    /// What came of a frame.
    public struct Result: Sendable {
        /// A chunk that is complete now.
        public var chunk: MCAPChunk?
        /// Faults that have begun.
        public var faults: Conditions = .none
        /// Whether tuning came into force.
        public var hasParameters = false
    }

    /// A chunk is closed when it is this old, s: what a sudden death costs at most, beside the time
    /// to write it.
    public static let chunkSeconds = 0.5
    /// A chunk is closed when it is this large, bytes: at 4 kHz buffers of half a second would be
    /// the process's largest.
    private static let chunkBytes = 300_000
    /// A state closes a chunk that is at least this old, so that most files begin with one.
    private static let earliestSeconds = 0.25

    private var builder = MCAPChunkBuilder()
    private var last: (now: Instant, result: TapeTick)?
    /// What is added to the loop's time to make it the time of the file, ns.
    private let timeOffset: Int64

    /// An encoder that has seen nothing.
    ///
    /// - Parameter timeOffset: From the loop's clock to that of the wall, ns; 0 where the loop's
    ///   time is somebody else's.
    public init(timeOffset: Int64) { self.timeOffset = timeOffset }

    /// Takes the next frame.
    ///
    /// - Parameter frame: In the order of the tape.
    /// - Returns: What has become complete.
    public mutating func take(_ frame: TapeFrame) -> Result {
        var result = Result()
        switch frame.kind {
        case .filler: break
        case .state:
            if age(at: frame.now) >= Self.earliestSeconds { result.chunk = builder.seal() }
            var message = StateMessage()
            message.tick = frame.tick
            message.memory = Array(frame.bytes)
            add(message, FlightChannels.state, frame)
        case .parameters:
            var message = ParametersMessage()
            message.tick = frame.tick
            message.memory = Array(frame.bytes)
            add(message, FlightChannels.parameters, frame)
            result.hasParameters = true
        case .command:
            let message = CommandMessage(tick: frame.tick, frame.value(as: Command.self))
            add(message, FlightChannels.command, frame)
        case .sample:
            let sample = frame.value(as: IMUSample.self)
            // A sensor whose time is wrong must not scatter its samples over the file.
            let age = frame.now.nanoseconds &- sample.time.nanoseconds
            add(
                SampleMessage(tick: frame.tick, sample), FlightChannels.sample, frame,
                at: (0..<1_000_000_000).contains(age) ? sample.time : frame.now)
        case .tick:
            let end = frame.value(as: TapeTick.self)
            let dt = last.map { frame.now.nanoseconds &- $0.now.nanoseconds } ?? 0
            add(TickMessage(frame, end, dt: dt), FlightChannels.tick, frame)
            result.faults = tell(frame, end)
            last = (frame.now, end)
            if age(at: frame.now) >= Self.chunkSeconds || builder.size >= Self.chunkBytes {
                result.chunk = builder.seal()
            }
        }
        return result
    }

    /// Ticks whose frames found the tape full, since the start.
    public var lostTicks: UInt32 { last?.result.lostTicks ?? 0 }

    /// What is not in a chunk yet, as one; nil when there is nothing.
    public mutating func flush() -> MCAPChunk? { builder.isEmpty ? nil : builder.seal() }

    private func age(at now: Instant) -> Double {
        guard let first = builder.firstTime else { return 0 }
        return Double(now.nanoseconds &+ timeOffset &- first) * 1e-9
    }

    private mutating func add(
        _ message: some RecordedMessage, _ channel: UInt16, _ frame: TapeFrame,
        at time: Instant? = nil
    ) {
        builder.add(
            channel: channel, sequence: UInt32(truncatingIfNeeded: frame.tick),
            time: (time ?? frame.now).nanoseconds &+ timeOffset
        ) { message.write(to: &$0) }
    }

    /// Says what is new in this tick.
    private mutating func tell(_ frame: TapeFrame, _ end: TapeTick) -> Conditions {
        let before = last?.result ?? end
        if let last, end.lostTicks != last.result.lostTicks {
            tell(frame, "gap", "\(end.lostTicks &- last.result.lostTicks) ticks are missing")
        }
        if end.mode != before.mode { tell(frame, "mode", end.mode.name) }
        if end.output.enabled != before.output.enabled {
            tell(frame, "outputs", end.output.enabled ? "on" : "off")
        }
        let begun = end.conditions.subtracting(before.conditions)
        let ended = before.conditions.subtracting(end.conditions)
        guard !begun.isEmpty || !ended.isEmpty else { return .none }
        let faults = Conditions(rawValue: begun.rawValue & FlightFaults.conditions.rawValue)
        for words in Conditions.catalogue {
            if begun.intersects(words.condition) {
                tell(frame, words.name, "begins", faults.intersects(words.condition))
            }
            if ended.intersects(words.condition) { tell(frame, words.name, "ends") }
        }
        return faults
    }

    private mutating func tell(
        _ frame: TapeFrame, _ word: String, _ what: String, _ isFault: Bool = false
    ) {
        var message = EventMessage()
        message.tick = frame.tick
        message.word = word
        message.what = what
        message.isFault = isFault
        add(message, FlightChannels.event, frame)
    }
}
