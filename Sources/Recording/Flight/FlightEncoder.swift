public import GimbalCore
public import Realtime
import Wire

/// Turns the frames of the loop's tape into chunks of an MCAP file: one encoding for the ring in memory, for the file of a
/// fault and for continuous recording. One thread at a time.
public struct FlightEncoder: ~Copyable {
    /// What came of a frame.
    public struct Result: Sendable {
        /// A chunk that is complete now.
        public var chunk: MCAPChunk?
        /// Faults that have begun.
        public var faults: Conditions = .none
    }

    /// A chunk is closed when it is this old, s: what a sudden death costs at most, beside the time to write it.
    public static let chunkSeconds = 0.5
    /// A state closes a chunk that is at least this old, so that most files begin with one.
    private static let earliestSeconds = 0.25

    private var builder = MCAPChunkBuilder()
    /// Frames of a tick whose end has not come yet: they get its time.
    private var pending: [TapeRecorderEnd.Frame] = []
    private var last: (tick: UInt64, result: TapeTick)?
    /// What is added to the loop's time to make it the time of the file, ns.
    private let timeOffset: Int64

    /// An encoder that has seen nothing.
    ///
    /// - Parameter timeOffset: From the loop's clock to that of the wall, ns; 0 where the loop's time is somebody else's.
    public init(timeOffset: Int64) { self.timeOffset = timeOffset }

    /// Takes the next frame.
    ///
    /// - Parameters:
    ///   - frame: In the order of the tape.
    ///   - tick: Its tick.
    /// - Returns: What has become complete.
    public mutating func take(_ frame: TapeRecorderEnd.Frame, tick: UInt64) -> Result {
        var result = Result()
        switch frame {
        case .state:
            // What belongs to no tick is the rest of one whose end was lost.
            pending.removeAll(keepingCapacity: true)
            pending.append(frame)
            if age(at: last?.result.now) >= Self.earliestSeconds { result.chunk = builder.seal() }
        case .parameters, .command, .sample:
            pending.append(frame)
        case .tick(let end):
            result.faults = finish(tick, end)
            if age(at: end.now) >= Self.chunkSeconds { result.chunk = builder.seal() }
        }
        return result
    }

    /// What is not in a chunk yet, as one; nil when there is nothing.
    public mutating func flush() -> MCAPChunk? { builder.isEmpty ? nil : builder.seal() }

    private func age(at now: Instant?) -> Double {
        guard let now, let first = builder.firstTime else { return 0 }
        return Double(now.nanoseconds &+ timeOffset &- first) * 1e-9
    }

    private mutating func finish(_ tick: UInt64, _ end: TapeTick) -> Conditions {
        let time = end.now.nanoseconds &+ timeOffset
        let sequence = UInt32(truncatingIfNeeded: tick)
        for frame in pending { add(frame, tick, sequence, time) }
        pending.removeAll(keepingCapacity: true)
        let dt = last.map { end.now.nanoseconds &- $0.result.now.nanoseconds } ?? 0
        let message = TickMessage(tick: tick, end, dt: dt)
        builder.add(channel: FlightChannels.tick, sequence: sequence, time: time) {
            message.write(to: &$0)
        }
        let faults = tell(tick, end, time)
        last = (tick, end)
        return faults
    }

    private mutating func add(
        _ frame: TapeRecorderEnd.Frame, _ tick: UInt64, _ sequence: UInt32, _ time: Int64
    ) {
        switch frame {
        case .state(let state):
            var message = StateMessage()
            message.tick = tick
            message.memory = withUnsafeBytes(of: state) { Array($0) }
            builder.add(channel: FlightChannels.state, sequence: sequence, time: time) {
                message.write(to: &$0)
            }
        case .parameters(let parameters):
            var message = ParametersMessage()
            message.tick = tick
            message.memory = withUnsafeBytes(of: parameters) { Array($0) }
            builder.add(channel: FlightChannels.parameters, sequence: sequence, time: time) {
                message.write(to: &$0)
            }
        case .command(let command):
            let message = CommandMessage(tick: tick, command)
            builder.add(channel: FlightChannels.command, sequence: sequence, time: time) {
                message.write(to: &$0)
            }
        case .sample(let sample):
            let message = SampleMessage(tick: tick, sample)
            // A sensor whose time is wrong must not scatter its samples over the file.
            let own = sample.time.nanoseconds &+ timeOffset
            let isSane = own <= time && time &- own < 1_000_000_000
            builder.add(
                channel: FlightChannels.sample, sequence: sequence, time: isSane ? own : time
            ) { message.write(to: &$0) }
        case .tick: break
        }
    }

    /// Says what is new in this tick.
    private mutating func tell(_ tick: UInt64, _ end: TapeTick, _ time: Int64) -> Conditions {
        let now = end.snapshot
        let before = last?.result.snapshot ?? now
        if let last, end.lostTicks != last.result.lostTicks {
            tell(tick, time, "gap", "\(end.lostTicks &- last.result.lostTicks) ticks are missing")
        }
        if now.mode != before.mode { tell(tick, time, "mode", now.mode.name) }
        if now.output.enabled != before.output.enabled {
            tell(tick, time, "outputs", now.output.enabled ? "on" : "off")
        }
        let begun = now.conditions.subtracting(before.conditions)
        let ended = before.conditions.subtracting(now.conditions)
        guard !begun.isEmpty || !ended.isEmpty else { return .none }
        let faults = Conditions(rawValue: begun.rawValue & FlightFaults.conditions.rawValue)
        for words in Conditions.catalogue {
            if begun.intersects(words.condition) {
                tell(tick, time, words.name, "begins", faults.intersects(words.condition))
            }
            if ended.intersects(words.condition) { tell(tick, time, words.name, "ends") }
        }
        return faults
    }

    private mutating func tell(
        _ tick: UInt64, _ time: Int64, _ word: String, _ what: String, _ isFault: Bool = false
    ) {
        var message = EventMessage()
        message.tick = tick
        message.word = word
        message.what = what
        message.isFault = isFault
        builder.add(
            channel: FlightChannels.event, sequence: UInt32(truncatingIfNeeded: tick), time: time
        ) { message.write(to: &$0) }
    }
}
