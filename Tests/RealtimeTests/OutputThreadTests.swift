import CMallocCounter
import GimbalCore
import Synchronization
import Testing

@testable import Realtime

/// Records every output.
struct FakeOutputs: OutputBus {
    let log = BusLog()
    var failingWrites = 0

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        if failingWrites > 0 {
            failingWrites -= 1
            throw BusError(operation: .write, address: 0x40, code: 5)
        }
        log.entries.withLock { $0.writes.append(output) }
    }

    mutating func allOff() throws(BusError) { log.entries.withLock { $0.offs += 1 } }
}

/// Counts the calls without allocating.
private struct QuietOutputs: OutputBus {
    let calls = Counter()

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) { calls.add() }
    mutating func allOff() throws(BusError) { calls.add() }
}

/// Its transmit queue is full for 5 ms after the first attempt to turn the motors off.
private struct FullOutputs: OutputBus {
    private var first: Instant?

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {}
    mutating func allOff() throws(BusError) {
        let now = MonotonicClock.now
        let since = first ?? now
        first = since
        guard now.seconds(since: since) < 0.005 else { return }
        throw BusError(operation: .off, device: .can, address: 0, code: 105)
    }
}

private final class Counter: Sendable {
    private let value = Atomic(0)
    func add() { value.wrappingAdd(1, ordering: .relaxed) }
    var count: Int { value.load(ordering: .relaxed) }
}

/// A still, level sensor. While `isHanging` is true, its reads block until `mayLeave` rings.
private struct HangingBus: GimbalBus {
    let isHanging = Atomically(false)
    let isIn = Atomically(false)
    let mayLeave = Doorbell()

    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        if isHanging.value {
            isIn.value = true
            _ = mayLeave.wait(until: .minuteAhead)
            throw BusError(operation: .read, address: 0x18, code: 110)
        }
        let wobble = 1e-4 * Double(now.nanoseconds / 1_000_000 % 7)
        samples.append(
            IMUSample(time: now, gyro: Vector3(wobble, 0, 0), accel: Vector3(0, wobble, -9.81)))
    }

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {}
    mutating func allOff() throws(BusError) {}
}

private final class Atomically: Sendable {
    private let word: Atomic<Bool>
    init(_ value: Bool) { word = Atomic(value) }
    var value: Bool {
        get { word.load(ordering: .acquiring) }
        set { word.store(newValue, ordering: .releasing) }
    }
}

@Suite("Output threads")
struct OutputThreadTests {
    /// An output thread without a system thread.
    struct Rig: ~Copyable {
        var thread: OutputThread
        var answers: MailboxWriter<LoopAnswer>
        let lane = OutputLane()
        let stages = StageHistograms()

        init(_ bus: any OutputBus) {
            let ends = makeMailbox(initial: LoopAnswer.none)
            thread = OutputThread(
                bus: bus, answers: ends.reader, lane: lane, periodNanoseconds: 1_000_000,
                stages: stages)
            answers = ends.writer
        }

        deinit {
            lane.deallocate()
            stages.deallocate()
        }
    }

    @Test("writes the newest answer, and measures its latency")
    func newest() {
        let bus = FakeOutputs()
        var rig = Rig(bus)
        // The answer's age is the difference of two given times, so it does not depend on the
        // computer's speed.
        let now = MonotonicClock.now
        rig.answers.publish(.fresh(torque: 0.1, now: now))
        rig.answers.publish(.fresh(torque: 0.2, now: now))
        rig.thread.period(now: now)
        #expect(bus.log.writes.map(\.torque.yaw) == [0.2])
        #expect(rig.stages.imuToMotor.summary.count == 1)
    }

    @Test("an answer that is too old does not drive a motor")
    func silentLoop() {
        let bus = FakeOutputs()
        var rig = Rig(bus)
        rig.answers.publish(.fresh(torque: 0.1, age: 0.2))
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.writes.map(\.enabled) == [false])
        #expect(rig.lane.status.silences == 1)
    }

    @Test("errors are counted, and a successful write resets the consecutive ones")
    func errors() {
        var bus = FakeOutputs()
        bus.failingWrites = 3
        var rig = Rig(bus)
        let now = MonotonicClock.now
        rig.answers.publish(.fresh(torque: 0.1, now: now))
        rig.thread.period(now: now)
        #expect(rig.lane.status.consecutiveErrors == 2)
        rig.thread.period(now: now)
        #expect(rig.lane.status.errors == 3 && rig.lane.status.consecutiveErrors == 0)
    }

    @Test("turns the motors off before its first write and after its last")
    func offAtBothEnds() {
        let bus = FakeOutputs()
        var rig = Rig(bus)
        rig.lane.stop.set()
        rig.thread.run()
        #expect(bus.log.offs == 2 && bus.log.writes.isEmpty)
        #expect(rig.lane.status.isOff)
    }

    @Test("waits between attempts to turn the motors off, until a full queue is empty")
    func fullQueue() {
        var rig = Rig(FullOutputs())
        rig.lane.stop.set()
        rig.thread.run()
        #expect(rig.lane.status.isOff)
    }

    @Test(
        "a period allocates no memory",
        .enabled(
            if: mc_is_active(),
            "a sanitizer replaces malloc; the run without a sanitizer checks this"))
    func allocations() throws {
        let bus = QuietOutputs()
        var rig = Rig(bus)
        rig.thread.period(now: MonotonicClock.now)
        let before = mc_count()
        for number in 0..<1000 {
            rig.answers.publish(.fresh(torque: Double(number)))
            rig.thread.period(now: MonotonicClock.now)
        }
        #expect(mc_count() == before)
        #expect(bus.calls.count == 1001)
    }

    @Test(
        "motors that cannot be written or switched off cause a bus error, regardless of the other bus",
        arguments: [BusError.Operation.write, .off])
    func failingMotors(operation: BusError.Operation) {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        let motors = rig.handles.lanes.motors.status
        for _ in 0..<4 {
            motors.note(
                BusError(operation: operation, address: 0x40, code: 5),
                now: Instant(nanoseconds: 1_000_000_000))
        }
        rig.tick(now: Instant(nanoseconds: 1_000_000_000))
        #expect(rig.telemetry.pop()?.snapshot.conditions.intersects(.busError) == true)
        motors.noteSuccess(of: .write)
        rig.tick(now: Instant(nanoseconds: 1_001_000_000))
        #expect(rig.telemetry.pop()?.snapshot.conditions.intersects(.busError) == false)
    }

    @Test(
        "a motors' thread without a new period for 0.1 s hangs in a transfer, and causes a bus error"
    )
    func hangingMotors() {
        var rig = LoopRig(parameters: Stabilizer.Parameters())
        rig.handles.lanes.motors.status.noteTurn(Instant(nanoseconds: 1_000_000_000))
        rig.tick(now: Instant(nanoseconds: 1_050_000_000))
        #expect(rig.telemetry.pop()?.snapshot.conditions.intersects(.busError) == false)
        rig.tick(now: Instant(nanoseconds: 1_150_000_000))
        #expect(rig.telemetry.pop()?.snapshot.conditions.intersects(.busError) == true)
    }

    @Test(
        "while the sensors' bus hangs in a transfer, motors on another bus and the power line switch off"
    )
    func stuckBus() throws {
        let bus = HangingBus()
        let (motors, power) = (FakeOutputs(), FakeOutputs())
        var parameters = Stabilizer.Parameters()
        parameters.controller.findsInertia = false
        let assembly = GimbalRuntime.assemble(
            parameters: parameters, bus: bus,
            outputs: OutputBuses(motors: motors, power: power), settings: GimbalRuntimeTests.gentle)
        let runtime = assembly.runtime
        try runtime.start()
        #expect(
            runtime.threads.map(\.name) == [
                "airframed-loop", "airframed-bus0", "airframed-bus1", "airframed-power",
            ])
        /// Waits until both threads have written an output that is on, or off.
        func awaitOutputs(areOn: Bool) throws {
            _ = try awaited {
                motors.log.writes.last?.enabled == areOn && power.log.writes.last?.enabled == areOn
                    ? areOn : nil
            }
        }
        try awaitOutputs(areOn: true)
        bus.isHanging.value = true
        _ = try awaited { bus.isIn.value ? true : nil }
        try awaitOutputs(areOn: false)
        let report = runtime.stop()
        #expect(!report.busEnded && report.motorsOff)
        bus.mayLeave.ring()
    }
}
