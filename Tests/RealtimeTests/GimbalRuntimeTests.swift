import GimbalCore
import Testing

@testable import Realtime

@Suite("The loop's thread and the bus thread together")
struct GimbalRuntimeTests {
    /// Ordinary threads at a low rate, so that all tests of the package can run at the same time.
    static var gentle: RuntimeSettings {
        var settings = RuntimeSettings()
        settings.rateHz = 500
        settings.loop.priority = nil
        settings.bus.priority = nil
        return settings
    }

    @Test("ticks with the bus, reports every tick, and turns the motors off before the end")
    func startAndStop() throws {
        let bus = FakeBus()
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: bus, settings: Self.gentle)
        let runtime = assembly.runtime
        var telemetry = assembly.telemetry
        try runtime.start()
        #expect(runtime.threads.map(\.name) == ["airframed-loop", "airframed-bus0"])
        var records = 0
        var next: UInt64 = 0
        var gaps = 0
        var last = TickTiming()
        while records < 60 {
            let record = try awaited { telemetry.pop() }
            if record.tick != next { gaps += 1 }
            next = record.tick + 1
            records += 1
            last = record.timing
        }
        #expect(gaps == 0)
        #expect(last.estimate > 0 && last.control > 0)

        let started = MonotonicClock.now
        let report = runtime.stop()
        #expect(MonotonicClock.now.seconds(since: started) < 1)
        #expect(report == StopReport(busEnded: true, loopEnded: true, motorsOff: true))
        #expect(bus.log.offs == 1)
        #expect(bus.log.writes.allSatisfy { !$0.enabled })
        #expect(runtime.stop() == report)
        #expect(runtime.histogram(of: .wake).count > 0)
        #expect(runtime.histogram(of: .imuToMotor).count > 0)
    }

    @Test("requests reach the stabilizer")
    func requests() throws {
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: FakeBus(), settings: Self.gentle)
        let runtime = assembly.runtime
        var commands = assembly.commands
        var telemetry = assembly.telemetry
        try runtime.start()
        commands.push(TimedCommand(.emergencyStop))
        _ = try awaited {
            telemetry.pop().flatMap {
                $0.snapshot.conditions.intersects(.emergencyStop) ? $0 : nil
            }
        }
        #expect(runtime.stop().loopEnded)
    }

    @Test("a failed request to turn off the motors is repeated")
    func stubbornMotors() throws {
        var bus = FakeBus()
        bus.failingOffs = 3
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: bus, settings: Self.gentle)
        try assembly.runtime.start()
        #expect(assembly.runtime.stop().motorsOff)
        #expect(bus.log.offs == 4)
    }

    @Test("reports if the motors were never turned off")
    func deadMotors() throws {
        var bus = FakeBus()
        bus.failingOffs = .max
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: bus, settings: Self.gentle)
        try assembly.runtime.start()
        let report = assembly.runtime.stop()
        #expect(!report.motorsOff)
        #expect(report.busEnded)
    }

    @Test("a bus that hangs stops neither the loop nor the shutdown")
    func hungBus() throws {
        let release = Doorbell()
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: HangingBus(release: release),
            settings: Self.gentle)
        let runtime = assembly.runtime
        var telemetry = assembly.telemetry
        try runtime.start()
        _ = try awaited {
            telemetry.pop().flatMap { record in
                #expect(record.snapshot.conditions.intersects(.imuMissing))
                return record.counters.lateSamples < 5 ? nil : record
            }
        }
        let started = MonotonicClock.now
        let report = runtime.stop()
        #expect(MonotonicClock.now.seconds(since: started) < 1)
        #expect(!report.busEnded && report.loopEnded && !report.motorsOff)
        // The runtime has abandoned the hanging thread, whose memory and doorbell are never freed.
        // The ring lets the thread end.
        release.ring()
    }

    /// A bus whose read blocks until it is released.
    struct HangingBus: GimbalBus {
        let release: Doorbell

        mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
            _ = release.wait(until: .minuteAhead)
        }
        mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {}
        mutating func allOff() throws(BusError) {}
    }

    @Test(
        "a runtime that was never started stops immediately, and does not report the motors as off")
    func neverStarted() {
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: FakeBus(), settings: Self.gentle)
        let report = assembly.runtime.stop()
        #expect(report == StopReport(busEnded: true, loopEnded: true, motorsOff: false))
    }
}
