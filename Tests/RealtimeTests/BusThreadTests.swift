import GimbalCore
import Synchronization
import Testing

@testable import Realtime

/// What a fake bus was asked to do, seen from the test.
final class BusLog: Sendable {
    struct Entries {
        var reads = 0
        var writes: [MotorOutput] = []
        var offs = 0
    }

    let entries = Mutex(Entries())

    var writes: [MotorOutput] { entries.withLock { $0.writes } }
    var reads: Int { entries.withLock { $0.reads } }
    var offs: Int { entries.withLock { $0.offs } }
}

/// Delivers one sample per read; the first attempts of each kind fail as often as asked.
struct FakeBus: GimbalBus {
    let log = BusLog()
    var failingReads = 0
    var failingWrites = 0
    var failingOffs = 0

    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        log.entries.withLock { $0.reads += 1 }
        if failingReads > 0 {
            failingReads -= 1
            throw BusError(operation: .read, address: 0x68, code: 121)
        }
        let number = log.reads
        samples.append(
            IMUSample(
                time: now, gyro: Vector3(1e-4 * Double(number % 7), 0, 0),
                accel: Vector3(0, 0, -9.81)))
    }

    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        if failingWrites > 0 {
            failingWrites -= 1
            throw BusError(operation: .write, address: 0x40, code: 5)
        }
        log.entries.withLock { $0.writes.append(output) }
    }

    mutating func allOff() throws(BusError) {
        log.entries.withLock { $0.offs += 1 }
        if failingOffs > 0 {
            failingOffs -= 1
            throw BusError(operation: .off, address: 0x40, code: 110)
        }
    }
}

extension LoopAnswer {
    /// Motors on, with this torque on every axis.
    static func fresh(torque: Double, age: Double = 0) -> LoopAnswer {
        let time = MonotonicClock.now.advanced(bySeconds: -age)
        let output = MotorOutput(
            enabled: true, torque: AxisVector(repeating: torque), angle: .zero)
        return LoopAnswer(output: output, sampleTime: time, time: time)
    }
}

@Suite("One period of a bus thread")
struct BusThreadTests {
    /// A bus thread without a thread, and the loop's ends of what leads to it.
    struct Rig: ~Copyable {
        var thread: BusThread
        var samples: RingReader<SampleDelivery>
        private var answers: MailboxWriter<LoopAnswer>?
        let handles = SharedHandles()

        init(_ bus: FakeBus, periodNanoseconds: Int64 = 1_000_000) {
            let samples = makeRing(of: SampleDelivery.self, capacity: 64)
            let answers = makeMailbox(initial: LoopAnswer.none)
            thread = BusThread(
                bus: bus,
                ports: BusPorts(
                    samples: samples.writer, answers: answers.reader, bell: handles.busBell,
                    loopBell: handles.loopBell, status: handles.status, stages: handles.stages),
                periodNanoseconds: periodNanoseconds)
            self.samples = samples.reader
            let writer = answers.writer
            self.answers = consume writer
        }

        deinit { handles.deallocate() }

        mutating func answer(torque: Double, age: Double = 0) {
            answers?.publish(LoopAnswer.fresh(torque: torque, age: age))
        }

        /// The loop's end of the answers, for a thread that plays the loop.
        mutating func takeAnswers() -> sending MailboxWriter<LoopAnswer> {
            guard let writer = answers.take() else { preconditionFailure("taken twice") }
            return writer
        }
    }

    /// Answers the ring of one period from another thread, as the loop does, and returns the
    /// writer.
    static func answerOnRing(_ rig: borrowing Rig, torque: Double)
        -> @Sendable (
            inout MailboxWriter<LoopAnswer>
        ) -> Void
    {
        let handles = rig.handles
        return { writer in
            _ = handles.loopBell.wait(until: .minuteAhead)
            writer.publish(LoopAnswer.fresh(torque: torque))
            handles.busBell.ring()
        }
    }

    @Test("reads, hands the sample over, rings, and writes the loop's answer to it")
    func period() throws {
        let bus = FakeBus()
        // A period long enough that only a broken hand-over can outlast its quarter.
        var rig = Rig(bus, periodNanoseconds: 400_000_000_000)
        let loop = try spawn(
            handing: rig.takeAnswers(), Self.answerOnRing(rig, torque: 0.1))
        let now = MonotonicClock.now
        rig.thread.period(now: now)
        #expect(loop.join(until: .minuteAhead))
        #expect(rig.samples.pop()?.sample.time == now)
        #expect(bus.log.writes.map(\.torque.yaw) == [0.1])
        #expect(rig.handles.stages.imuToMotor.summary.count == 1)
    }

    @Test("an answer that came too late is not taken for the next period's")
    func lateAnswer() throws {
        let bus = FakeBus()
        var rig = Rig(bus, periodNanoseconds: 400_000_000_000)
        rig.answer(torque: 0.1)
        let loop = try spawn(
            handing: rig.takeAnswers(), Self.answerOnRing(rig, torque: 0.2))
        rig.thread.period(now: MonotonicClock.now)
        #expect(loop.join(until: .minuteAhead))
        #expect(bus.log.writes.map(\.torque.yaw) == [0.2])
    }

    @Test("without an answer it writes the newest one again, after a bounded wait")
    func keepAlive() {
        let bus = FakeBus()
        var rig = Rig(bus)
        rig.answer(torque: 0.1)
        rig.thread.period(now: MonotonicClock.now)
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.writes.map(\.torque.yaw) == [0.1, 0.1])
        // Only the answer to this period's samples counts as a way from the IMU to the motors.
        #expect(rig.handles.stages.imuToMotor.summary.count == 0)
    }

    @Test("an answer that is too old drives no motor, and the silence is counted")
    func silentLoop() {
        let bus = FakeBus()
        var rig = Rig(bus)
        rig.answer(torque: 0.1, age: 0.2)
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.writes.map(\.enabled) == [false])
        #expect(rig.handles.status.silences == 1)
    }

    @Test("tries a failed read once more, counts both, and keeps the error")
    func readRetry() {
        var bus = FakeBus()
        bus.failingReads = 1
        var rig = Rig(bus)
        rig.answer(torque: 0.1)
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.reads == 2)
        #expect(rig.samples.pop() != nil)
        #expect(rig.handles.status.errors == 1)
        #expect(rig.handles.status.consecutiveErrors == 0)
        #expect(
            rig.handles.status.lastError == BusError(operation: .read, address: 0x68, code: 121))
    }

    @Test("a dead sensor stops neither the writes nor the loop's ring")
    func deadSensor() {
        var bus = FakeBus()
        bus.failingReads = .max
        var rig = Rig(bus)
        for _ in 0..<3 {
            rig.answer(torque: 0.1)
            rig.thread.period(now: MonotonicClock.now)
            #expect(rig.handles.loopBell.wait(until: Instant(nanoseconds: 0)) == .rung)
        }
        #expect(bus.log.writes.count == 3)
        #expect(rig.samples.pop() == nil)
        #expect(rig.handles.status.consecutiveErrors == 6)
    }

    @Test("an error says what was done, where, and why it failed; and survives being packed")
    func errorSentence() {
        let error = BusError(operation: .write, address: 0x40, code: 121)
        #expect(error.description == "writing device 0x40 failed: Remote I/O error")
        #expect(BusError(packed: error.packed) == error)
        #expect(BusError(packed: 0) == nil)
    }

    @Test("a batch refuses what does not fit and keeps the order")
    func batch() {
        var batch = SampleBatch()
        for number in 0..<SampleBatch.capacity {
            let sample = IMUSample(
                time: Instant(nanoseconds: Int64(number)), gyro: .zero, accel: .zero)
            #expect(batch.append(sample) == true)
        }
        #expect(
            batch.append(IMUSample(time: Instant(nanoseconds: 99), gyro: .zero, accel: .zero))
                == false)
        #expect(batch.count == SampleBatch.capacity)
        #expect(batch[SampleBatch.capacity - 1].time.nanoseconds == Int64(SampleBatch.capacity - 1))
        batch.removeAll()
        #expect(batch.count == 0)
    }
}
