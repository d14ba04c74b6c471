import CLinuxShim
import GimbalCore
import Realtime

/// Processor time of one tick of the loop, in the mode `locked` with the outputs on. The benchmark
/// runs neither a simulated gimbal nor threads.
enum TickBench {
    static func run(options: Options, report: inout BenchReport) {
        var settings = RuntimeSettings()
        settings.telemetryCapacity = 64
        var rig = LoopRig(parameters: Stabilizer.Parameters(), settings: settings)
        rig.ask(.mode(.locked))
        let histogram = LatencyHistogram()
        defer { histogram.deallocate() }
        var enabled = 0
        let ticks = 200_000
        for number in 1...(ticks + BenchSensor.stillSamples) {
            let now = Instant(nanoseconds: Int64(number) * 1_000_000)
            rig.deliver(BenchSensor.sample(number, at: now))
            let start = cl_now_ns()
            rig.tick(now: now)
            let elapsed = cl_now_ns() - start
            while let record = rig.telemetry.pop() {
                if number > BenchSensor.stillSamples, record.snapshot.output.enabled {
                    enabled += 1
                }
            }
            if number > BenchSensor.stillSamples { histogram.record(nanoseconds: elapsed) }
        }
        let summary = histogram.summary
        report.check("tick without the plant, p50", summary.p50 / 1000, atMost: 2, "us")
        report.show("tick without the plant, p99", summary.p99 / 1000, "us")
        report.check(
            "ticks with the outputs on", Double(enabled) / Double(ticks) * 100, atLeast: 99, "%")
    }
}

/// Sensor of a level camera on an upright handle. At first the sensor is at rest, and the estimator
/// learns its bias; then the camera shakes slightly.
enum BenchSensor {
    /// Number of samples at rest.
    static let stillSamples = 10_000

    static func sample(_ number: Int, at time: Instant) -> IMUSample {
        // The rate is a triangle wave: it is fast to compute, bounded, and has no repeated values.
        let phase = Double(number % 500) / 250 - 1
        let wave = (abs(phase) - 0.5) * (number <= stillSamples ? 1e-3 : 1)
        var sample = IMUSample(
            time: time, gyro: Vector3(0.05 * wave, -0.03 * wave, 0.01 * wave),
            accel: Vector3(0.1 * wave, 0.05 * wave, -9.81))
        sample.contents.insert(.joints)
        sample.contents.insert(.jointRates)
        return sample
    }
}

/// Simulated hardware without latency. A benchmark with this hardware measures only the threads and
/// the data transfer between them.
struct BenchBus: GimbalBus {
    private var number = 0

    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        number += 1
        samples.append(BenchSensor.sample(number, at: now))
    }

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {}

    mutating func allOff() throws(BusError) {}
}
