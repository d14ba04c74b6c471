import GimbalCore
import Realtime
import Simulation
import SystemPackage

@testable import Recording

/// The real loop with a simulated gimbal, and a flight recorder that reads the replay log. The time
/// is simulated.
struct FlightRig: ~Copyable {
    var loop: LoopRig
    var gimbal: SimulatedGimbal
    var encoder = FlightEncoder(timeOffset: 1_800_000_000_000_000_000)
    var chunks: [MCAPChunk] = []
    var faults = Conditions.none
    var tick = 0
    /// Layout of another version, for the raw memory of state and parameters.
    var layout: OtherLayout?
    /// Changes the recorded bytes.
    var tamper: (ReplayLogKind, inout [UInt8]) -> Void = { _, _ in }

    init(_ motion: HandleMotion, motor: MotorType = .torque, replayLogBytes: Int = 1 << 20) {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = motor
        gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(motion, seed: 3), seed: 3)
        loop = LoopRig(parameters: Self.tuning(motor), settings: Self.settings(replayLogBytes))
    }

    static func tuning(_ motor: MotorType = .torque) -> Stabilizer.Parameters {
        var tuning = Stabilizer.Parameters()
        tuning.motorType = motor
        return tuning
    }

    private static func settings(_ replayLogBytes: Int) -> RuntimeSettings {
        var settings = RuntimeSettings()
        settings.replayLogBytes = replayLogBytes
        return settings
    }

    var now: Instant { Instant(nanoseconds: 5_000_000_000 + Int64(tick) * 1_000_000) }

    /// Runs the loop. Reads the replay log after each tick, unless `isHeard` is false.
    mutating func run(_ seconds: Double, isHeard: Bool = true) {
        for _ in 0..<Int((seconds * 1000).rounded()) {
            tick += 1
            var samples: [IMUSample] = []
            let shift: Int64 = 5_000_000_000
            gimbal.advance(to: Instant(nanoseconds: now.nanoseconds - shift)) { sample in
                var sample = sample
                sample.time = Instant(nanoseconds: sample.time.nanoseconds + shift)
                samples.append(sample)
            }
            for sample in samples { loop.deliver(sample) }
            loop.tick(now: now)
            gimbal.apply(loop.output(), at: Instant(nanoseconds: now.nanoseconds - shift))
            while loop.telemetry.pop() != nil {}
            if isHeard { listen() }
        }
    }

    /// Reads the replay log into the encoder.
    mutating func listen() {
        var frames: [(kind: ReplayLogKind, tick: UInt64, now: Instant, bytes: [UInt8])] = []
        let (layout, tamper) = (layout, tamper)
        loop.replayLog.drain { frame in
            var bytes = layout?.packed(frame) ?? Array(frame.bytes)
            tamper(frame.kind, &bytes)
            frames.append((frame.kind, frame.tick, frame.now, bytes))
        }
        for frame in frames {
            let result = frame.bytes.withUnsafeBytes {
                encoder.take(
                    ReplayLogFrame(kind: frame.kind, tick: frame.tick, now: frame.now, bytes: $0))
            }
            if let chunk = result.chunk { chunks.append(chunk) }
            faults = faults | result.faults
        }
    }

    /// Complete file with everything recorded so far.
    mutating func file(metadata: [String: String] = [:]) -> [UInt8] {
        if let rest = encoder.flush() { chunks.append(rest) }
        return Self.file(
            chunks[...], metadata: metadata,
            memory: layout?.attachments ?? RecordedMemory.attachments(time: 0))
    }

    static func file(
        _ chunks: ArraySlice<MCAPChunk>, metadata: [String: String] = [:],
        memory: [MCAPAttachment] = RecordedMemory.attachments(time: 0), isEnded: Bool = true
    ) -> [UInt8] {
        var assembler = MCAPAssembler(channels: FlightChannels.all)
        var bytes = assembler.begin(library: "airframe test")
        let own = [
            "format": "\(FlightChannels.format)", "version": "test",
        ]
        bytes += assembler.append(
            metadata: FlightChannels.metadataName, own.merging(metadata) { $1 })
        bytes += assembler.append(
            MCAPAttachment(
                name: "settings.toml", mediaType: "text/plain", time: 0,
                data: Array("[loop]\nrate_hz = 1000\n".utf8)))
        for attachment in memory { bytes += assembler.append(attachment) }
        for chunk in chunks { bytes += assembler.append(chunk) }
        if isEnded { bytes += assembler.finish() }
        return bytes
    }
}
