import GimbalCore
import Synchronization
import Testing

@testable import Realtime

/// The calls of a fake bus, for the test to read.
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

/// Delivers one sample per read. The first `failing…` calls of each kind fail.
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
    /// Motors on, with this torque on each axis, computed `age` seconds before `now`.
    static func fresh(
        torque: Double, age: Double = 0, now: Instant = MonotonicClock.now
    ) -> LoopAnswer {
        let time = now.advanced(bySeconds: -age)
        let output = MotorOutput(
            enabled: true, torque: AxisVector(repeating: torque), angle: .zero)
        return LoopAnswer(output: output, sampleTime: time, time: time)
    }
}

@Suite("One period of a bus thread")
struct BusThreadTests {
    /// A bus thread without a system thread, and the loop's ends of its ring and mailbox.
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

        /// Publishes an answer of the loop.
        mutating func answer(torque: Double, age: Double = BusThreadTests.lasting) {
            answers?.publish(LoopAnswer.fresh(torque: torque, age: age))
        }

        /// The loop's end of the answers, for a thread that simulates the loop.
        mutating func takeAnswers() -> sending MailboxWriter<LoopAnswer> {
            guard let writer = answers.take() else { preconditionFailure("taken twice") }
            return writer
        }
    }

    /// Age of an answer that does not expire. The thread compares the age of an answer with its own
    /// clock, so a busy computer could delay a test until an answer with age 0 has expired.
    static let lasting = -60.0

    /// Waits for the doorbell of one period on another thread, and answers like the loop.
    static func answerOnRing(_ rig: borrowing Rig, torque: Double)
        -> @Sendable (
            inout MailboxWriter<LoopAnswer>
        ) -> Void
    {
        let handles = rig.handles
        return { writer in
            _ = handles.loopBell.wait(until: .minuteAhead)
            writer.publish(LoopAnswer.fresh(torque: torque, age: BusThreadTests.lasting))
            handles.busBell.ring()
        }
    }

    @Test("reads, delivers the sample, rings, and writes the loop's answer to this sample")
    func period() throws {
        let bus = FakeBus()
        // The period is long. Therefore the wait of a quarter period times out only if the
        // hand-over fails.
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

    @Test("a late answer is not used as the next period's answer")
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

    @Test("without a new answer the newest one is written again, after a limited wait")
    func keepAlive() {
        let bus = FakeBus()
        var rig = Rig(bus)
        rig.answer(torque: 0.1)
        rig.thread.period(now: MonotonicClock.now)
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.writes.map(\.torque.yaw) == [0.1, 0.1])
        // Only an answer to this period's sample counts for the latency from IMU to motors.
        #expect(rig.handles.stages.imuToMotor.summary.count == 0)
    }

    @Test("an answer that is too old does not drive a motor, and the silence is counted")
    func silentLoop() {
        let bus = FakeBus()
        var rig = Rig(bus)
        rig.answer(torque: 0.1, age: 0.2)
        rig.thread.period(now: MonotonicClock.now)
        #expect(bus.log.writes.map(\.enabled) == [false])
        #expect(rig.handles.status.silences == 1)
    }

    @Test("a failed read is repeated once, and the error is counted and kept")
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

    @Test("a dead sensor stops neither the writes nor the loop's doorbell")
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

    @Test("an error contains the operation, the device and the reason, and is unchanged by packing")
    func errorSentence() {
        let error = BusError(operation: .write, address: 0x40, code: 121)
        #expect(error.description == "writing device 0x40 failed: Remote I/O error")
        #expect(BusError(packed: error.packed) == error)
        #expect(BusError(packed: 0) == nil)
    }

    @Test("a full batch refuses a sample, and keeps the order")
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
