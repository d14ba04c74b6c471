public import GimbalCore
public import Realtime
import Wire

/// Encoder that converts frames of the loop's replay log to chunks of an MCAP file. The same chunks
/// are used for the ring in memory, for the file that is written after a fault, and for a
/// continuous recording. Only one thread at a time uses an encoder.
public struct FlightEncoder: ~Copyable {
    /// Result of encoding one frame.
    public struct Result: Sendable {
        /// The chunk that this frame has completed; nil if the frame has not completed a chunk.
        public var chunk: MCAPChunk?
        /// Faults that have begun in this frame.
        public var faults: Conditions = .none
        /// True if the frame contains new tuning.
        public var hasParameters = false
    }

    /// Longest duration of a chunk, s. If the process ends suddenly, the recording loses at most
    /// the data of `chunkSeconds` plus the duration of one write.
    public static let chunkSeconds = 0.5
    /// Size at which a chunk is closed, bytes. The limit bounds the encoder's buffers, which would
    /// otherwise be the largest buffers of the process at 4 kHz.
    private static let chunkBytes = 300_000
    /// Shortest duration of a chunk, s. A chunk with at least this duration is closed at the next
    /// recorded state of the stabilizer. The next chunk begins with the recorded state; most files
    /// therefore begin with a complete state.
    private static let earliestSeconds = 0.25

    private var builder = MCAPChunkBuilder()
    private var last: (now: Instant, result: ReplayLogTick)?
    /// Offset from the loop's time to the time of the file, ns.
    private let timeOffset: Int64

    /// Creates an encoder that has not received a frame yet.
    ///
    /// - Parameter timeOffset: Offset from the loop's clock to wall-clock time, ns; 0 if an
    ///   external program supplies the loop's time.
    public init(timeOffset: Int64) { self.timeOffset = timeOffset }

    /// Encodes the next frame of the replay log.
    ///
    /// - Parameter frame: The next frame, in the order of the replay log.
    /// - Returns: Completed chunk and new faults.
    public mutating func take(_ frame: ReplayLogFrame) -> Result {
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
            let message = CommandMessage(tick: frame.tick, frame.value(as: TimedCommand.self))
            add(message, FlightChannels.command, frame)
        case .sample:
            let sample = frame.value(as: IMUSample.self)
            // A sample with an implausible time is stored at the time of its tick.
            let age = frame.now.nanoseconds &- sample.time.nanoseconds
            add(
                SampleMessage(tick: frame.tick, sample), FlightChannels.sample, frame,
                at: (0..<1_000_000_000).contains(age) ? sample.time : frame.now)
        case .tick:
            let end = frame.value(as: ReplayLogTick.self)
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

    /// Number of ticks whose frames were lost because the replay log was full, since the start.
    public var lostTicks: UInt32 { last?.result.lostTicks ?? 0 }

    /// Completes a chunk with the remaining messages; nil if no messages remain.
    public mutating func flush() -> MCAPChunk? { builder.isEmpty ? nil : builder.seal() }

    private func age(at now: Instant) -> Double {
        guard let first = builder.firstTime else { return 0 }
        return Double(now.nanoseconds &+ timeOffset &- first) * 1e-9
    }

    private mutating func add(
        _ message: some RecordedMessage, _ channel: UInt16, _ frame: ReplayLogFrame,
        at time: Instant? = nil
    ) {
        builder.add(
            channel: channel, sequence: UInt32(truncatingIfNeeded: frame.tick),
            time: (time ?? frame.now).nanoseconds &+ timeOffset
        ) { message.write(to: &$0) }
    }

    /// Records the changes of the mode, the outputs and the conditions in this tick. The result
    /// contains the new faults.
    private mutating func tell(_ frame: ReplayLogFrame, _ end: ReplayLogTick) -> Conditions {
        if let last, end.lostTicks != last.result.lostTicks {
            tell(frame, "gap", "\(end.lostTicks &- last.result.lostTicks) ticks are missing")
        }
        let before = (last?.result ?? end).record.snapshot
        let end = end.record.snapshot
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
        _ frame: ReplayLogFrame, _ word: String, _ what: String, _ isFault: Bool = false
    ) {
        var message = EventMessage()
        message.tick = frame.tick
        message.word = word
        message.what = what
        message.isFault = isFault
        add(message, FlightChannels.event, frame)
    }
}
