import CMallocCounter
import GimbalCore
import Testing

@testable import Realtime

@Suite("One period of the loop")
struct ControlLoopTests {
    /// A level, still camera at 1 kHz. The samples contain a little noise, because a constant
    /// signal is a fault.
    static func sample(_ number: Int) -> IMUSample {
        var sample = IMUSample(
            time: time(number),
            gyro: Vector3(1e-4 * Double(number % 7), 0, 0),
            accel: Vector3(0, 1e-3 * Double(number % 5), -9.81))
        sample.contents.insert(.joints)
        sample.contents.insert(.jointRates)
        return sample
    }

    static func time(_ number: Int) -> Instant { Instant(nanoseconds: Int64(number) * 1_000_000) }

    /// Runs the ticks of a range with one sample each, drains the telemetry, and returns the last
    /// record.
    static func run(_ rig: inout LoopRig, ticks: Range<Int>) -> TelemetryRecord? {
        var last: TelemetryRecord?
        for number in ticks {
            rig.deliver(sample(number))
            rig.tick(now: time(number))
            while let record = rig.telemetry.pop() { last = record }
        }
        return last
    }

    @Test("the outputs stay off until the end of the warm-up, regardless of the stabilizer")
    func warmUp() {
        var settings = RuntimeSettings()
        settings.warmUpTicks = 100
        var rig = LoopRig(parameters: Stabilizer.Parameters(), settings: settings)
        rig.ask(.mode(.locked))
        for number in 1...100 {
            rig.deliver(Self.sample(number))
            rig.tick(now: Self.time(number))
            let output = rig.output()
            #expect(!output.enabled)
            let record = rig.telemetry.pop()
            #expect(record?.snapshot.conditions.intersects(.estimateNotConverged) == true)
            #expect(record?.snapshot.output.enabled == false)
        }
    }

    @Test(
        "the latency of a client's request is measured from receipt to tick, that of an internal one is not"
    )
    func requestLatency() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        rig.ask(.mode(.locked), received: Self.time(10).advanced(bySeconds: -0.003))
        rig.ask(.shutdown)
        rig.tick(now: Self.time(10))
        let summary = rig.handles.stages.request.summary
        #expect(summary.count == 1)
        #expect(abs(summary.p50 - 3e6) < 0.03 * 3e6)
    }

    @Test(
        "allocates nothing in thousands of ticks, with requests, tuning and a full telemetry ring",
        .enabled(
            if: mc_is_active(),
            "a sanitizer replaces malloc; the run without a sanitizer checks this"))
    func noAllocation() {
        var settings = RuntimeSettings()
        settings.telemetryCapacity = 1024
        var rig = LoopRig(parameters: Stabilizer.Parameters(), settings: settings)
        // The camera is at rest until the estimator has converged, so that the outputs switch on.
        _ = Self.run(&rig, ticks: 1..<8000)
        var calls: Int64 = 0
        var enabled = 0
        for number in 8000..<13_000 {
            rig.deliver(Self.sample(number))
            if number % 100 == 0 { rig.tuning.publish(Stabilizer.Parameters()) }
            if number % 50 == 0 {
                rig.ask(.mode(number % 100 == 0 ? .locked : .inactive))
            }
            if number % 333 == 0 {
                rig.ask(.point(target: .zero, duration: 1))
                rig.ask(.rate(.zero), validUntil: Self.time(number + 5))
            }
            // Only the tick is counted, because the test itself can allocate.
            let before = mc_count()
            rig.tick(now: Self.time(number))
            calls += mc_count() - before
            if rig.output().enabled { enabled += 1 }
        }
        #expect(enabled > 1000 && enabled < 5000)
        #expect(calls == 0)
        // The telemetry is not read, so its ring is full. The loop continues and counts the lost
        // records.
        #expect(rig.telemetry.dropped > 3000)
    }

    @Test(
        "the allocation counter counts an allocation, so that a count of zero is meaningful",
        .enabled(
            if: mc_is_active(),
            "a sanitizer replaces malloc; the run without a sanitizer checks this"))
    func counterCounts() {
        let before = mc_count()
        let block = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        block.deallocate()
        let calls = mc_count() - before
        #expect(calls == 2)
    }

    @Test("takes at most eight requests in each tick, and leaves the others for the next tick")
    func boundedRequests() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        for _ in 0..<8 { rig.ask(.mode(.inactive)) }
        rig.ask(.mode(.locked))
        #expect(Self.run(&rig, ticks: 1..<2)?.snapshot.mode == .inactive)
        #expect(Self.run(&rig, ticks: 2..<3)?.snapshot.mode == .locked)
    }

    @Test("integrates all samples since the last tick")
    func severalSamples() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        for number in 1...5 { rig.deliver(Self.sample(number)) }
        rig.tick(now: Self.time(5))
        #expect(rig.telemetry.pop()?.snapshot.sampleTime == Self.time(5))
    }

    @Test("ticks without a sample, and numbers its records")
    func noSample() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        for number in 1...3 { rig.tick(now: Self.time(number)) }
        for expected: UInt64 in 0..<3 { #expect(rig.telemetry.pop()?.tick == expected) }
        #expect(rig.output().enabled == false)
    }

    @Test("repeated bus errors set a condition, a single error does not")
    func busErrors() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        let error = BusError(operation: .write, address: 0x40, code: 121)
        rig.handles.status.note(error, now: Self.time(1))
        var record = Self.run(&rig, ticks: 1..<2)
        #expect(record?.snapshot.conditions.intersects(.busError) == false)
        #expect(record?.counters.busErrors == 1)
        #expect(record?.counters.lastBusError == error)
        for _ in 0..<3 {
            rig.handles.status.note(error, now: Self.time(1))
            // Successful reads do not reset the count of failed writes.
            rig.handles.status.noteSuccess(of: .read)
        }
        record = Self.run(&rig, ticks: 2..<3)
        #expect(record?.snapshot.conditions.intersects(.busError) == true)
        rig.handles.status.noteSuccess(of: .write)
        record = Self.run(&rig, ticks: 3..<4)
        #expect(record?.snapshot.conditions.intersects(.busError) == false)
        #expect(record?.counters.busErrors == 4)
    }

    @Test("the reported error is that of the bus that fails now, otherwise the newest error")
    func lastBusError() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        let (sensors, motors) = (rig.handles.status, rig.handles.lanes.motors.status)
        let old = BusError(operation: .read, address: 0x68, code: 121)
        let new = BusError(operation: .write, device: .can, address: 0x2E, code: 105)
        sensors.note(old, now: Self.time(1))
        sensors.noteSuccess(of: .read)
        #expect(Self.run(&rig, ticks: 1..<2)?.counters.lastBusError == old)
        for _ in 0..<2 { motors.note(new, now: Self.time(2)) }
        #expect(Self.run(&rig, ticks: 2..<3)?.counters.lastBusError == new)
        sensors.note(old, now: Self.time(3))
        #expect(
            Self.run(&rig, ticks: 3..<4)?.counters.lastBusError == new, "the motors' bus fails now")
        motors.noteSuccess(of: .write)
        sensors.noteSuccess(of: .read)
        #expect(Self.run(&rig, ticks: 4..<5)?.counters.lastBusError == old)
        rig.handles.lanes.power.status.note(new, now: Self.time(5))
        #expect(Self.run(&rig, ticks: 5..<6)?.counters.lastBusError == new)
    }

    @Test("a second bus that fails now is reported, too")
    func furtherBusError() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        let (sensors, power) = (rig.handles.status, rig.handles.lanes.power.status)
        let i2c = BusError(operation: .read, address: 0x68, code: 13)
        let gpio = BusError(operation: .write, device: .gpio, address: 17, code: 13)
        sensors.note(i2c, now: Self.time(1))
        for _ in 0..<2 { power.note(gpio, now: Self.time(1)) }
        var counters = Self.run(&rig, ticks: 1..<2)?.counters
        #expect(counters?.lastBusError == gpio && counters?.furtherBusError == i2c)
        sensors.noteSuccess(of: .read)
        counters = Self.run(&rig, ticks: 2..<3)?.counters
        #expect(counters?.lastBusError == gpio && counters?.furtherBusError == nil)
    }

    @Test("equal inputs result in bit-identical outputs")
    func deterministic() {
        var first = LoopRig(parameters: Stabilizer.Parameters())
        var second = LoopRig(parameters: Stabilizer.Parameters())
        for number in 1..<1000 {
            first.deliver(Self.sample(number))
            second.deliver(Self.sample(number))
            first.tick(now: Self.time(number))
            second.tick(now: Self.time(number))
            let a = first.telemetry.pop()?.snapshot
            let b = second.telemetry.pop()?.snapshot
            #expect(a?.attitude == b?.attitude)
            #expect(a?.output.torque == b?.output.torque)
        }
    }
}
