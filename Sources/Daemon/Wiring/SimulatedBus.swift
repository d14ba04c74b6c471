import GimbalCore
import Realtime
import Simulation

/// Bus with a simulated gimbal instead of sensors and motors. The simulation runs on the bus
/// thread, in real time.
struct SimulatedBus: GimbalBus {
    private var gimbal: SimulatedGimbal
    private var lastRead: Instant?
    /// Samples that did not fit in the last batch, oldest first. As from a chip's FIFO, the loop
    /// receives them in the next periods.
    private var waiting: [IMUSample] = []
    /// Time that the simulation has skipped because the process was stopped, ns.
    private var skippedNanoseconds: Int64 = 0
    private let parameters: SimulatedGimbal.Parameters
    private let motion: BaseMotion
    private let seed: UInt64

    /// Creates a bus.
    ///
    /// - Parameters:
    ///   - parameters: Mechanics, sensor and motors.
    ///   - motion: Motion of the handle.
    ///   - seed: Seed of the random numbers; the same seed gives the same gimbal and the same
    ///     noise.
    init(parameters: SimulatedGimbal.Parameters, motion: BaseMotion, seed: UInt64) {
        self.parameters = parameters
        self.motion = motion
        self.seed = seed
        gimbal = SimulatedGimbal(parameters: parameters, motion: motion, seed: seed)
        // All samples of the longest simulated gap at 4 kHz, so that the thread allocates nothing.
        waiting.reserveCapacity(512)
    }

    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        if let lastRead {
            // If the process was stopped for a long time, the simulation skips the missed time
            // instead of simulating it in one period.
            let gap = now.nanoseconds - lastRead.nanoseconds
            if gap > Self.longestGapNanoseconds { skippedNanoseconds += gap }
        } else {
            // The simulation starts at the time of the first read of the bus.
            gimbal = SimulatedGimbal(
                parameters: parameters, motion: motion, seed: seed, start: now)
        }
        lastRead = now
        gimbal.advance(to: simulated(now)) { sample in
            var sample = sample
            sample.time = Instant(nanoseconds: sample.time.nanoseconds + skippedNanoseconds)
            waiting.append(sample)
        }
        let count = min(waiting.count, SampleBatch.capacity - samples.count)
        for sample in waiting.prefix(count) { samples.append(sample) }
        waiting.removeFirst(count)
    }

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        gimbal.apply(output, at: simulated(now))
    }

    mutating func allOff() throws(BusError) {
        gimbal.apply(.off, at: gimbal.now)
    }

    private func simulated(_ now: Instant) -> Instant {
        Instant(nanoseconds: now.nanoseconds - skippedNanoseconds)
    }

    private static let longestGapNanoseconds: Int64 = 100_000_000
}
