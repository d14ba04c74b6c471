import CLinuxShim
import GimbalCore
import Glibc
import Realtime
import Synchronization

/// Processor time of an operation on a ring buffer and on a mailbox. The bench also tests that the
/// ring buffer and the mailbox lose no data.
enum RingBench {
    /// A record with the size of a typical sensor record.
    struct Record: BitwiseCopyable, Sendable {
        var number: UInt64
        var values: (Double, Double, Double, Double, Double, Double, Double, Double, Double, Double)

        init(_ number: UInt64) {
            self.number = number
            let value = Double(number)
            values = (value, 1, 2, 3, 4, 5, 6, 7, 8, 9)
        }
    }

    static func run(options: Options, report: inout BenchReport) {
        precondition(MemoryLayout<Record>.size == 88)
        let rounds = (0..<7).map { _ in sameThread(count: 5_000_000) }
        report.check(
            "ring, same thread, push + pop of 88 bytes", median(rounds), atMost: 3, "ns")
        let mailbox = (0..<5).map { _ in mailboxCost(count: 2_000_000) }
        report.show("mailbox, same thread, publish + read of 88 bytes", median(mailbox), "ns")
        let result = twoThreads(items: UInt64(options.items))
        report.show("ring, two threads, 8 bytes, per item", result.nanosecondsPerItem, "ns")
        report.check(
            "ring, two threads, items received", result.received, atLeast: Double(options.items), ""
        )
        report.check("ring, two threads, lost or out of order", result.wrong, atMost: 0, "")
    }

    private static func sameThread(count: UInt64) -> Double {
        let ends = makeRing(of: Record.self, capacity: 4096)
        var writer = ends.writer
        var reader = ends.reader
        var sum: UInt64 = 0
        let start = cl_now_ns()
        for number in 0..<count {
            writer.push(Record(number))
            if let record = reader.pop() { sum &+= record.number }
        }
        let elapsed = cl_now_ns() - start
        precondition(sum == count * (count - 1) / 2, "the ring lost an item")
        return Double(elapsed) / Double(count)
    }

    private static func mailboxCost(count: UInt64) -> Double {
        let ends = makeMailbox(initial: Record(0))
        var writer = ends.writer
        var reader = ends.reader
        var sum: UInt64 = 0
        let start = cl_now_ns()
        for number in 0..<count {
            writer.publish(Record(number))
            sum &+= reader.read().value.number
        }
        let elapsed = cl_now_ns() - start
        precondition(sum == count * (count - 1) / 2, "the mailbox returned an old item")
        return Double(elapsed) / Double(count)
    }

    private struct Transfer {
        var nanosecondsPerItem: Double
        var received: Double
        var wrong: Double
    }

    private static func twoThreads(items: UInt64) -> Transfer {
        let ends = makeRing(of: UInt64.self, capacity: 4096)
        var reader = ends.reader
        let handover = Handover(ends.writer)
        let start = cl_now_ns()
        let configuration = ThreadConfiguration(name: "producer", priority: nil)
        guard
            let producer = try? RealtimeThread(
                configuration,
                body: {
                    guard var writer = handover.take() else { return }
                    var number: UInt64 = 0
                    while number < items {
                        if writer.push(number) { number += 1 } else { sched_yield() }
                    }
                })
        else { return Transfer(nanosecondsPerItem: .nan, received: 0, wrong: 0) }
        var expected: UInt64 = 0
        var received: UInt64 = 0
        var wrong: UInt64 = 0
        while received < items {
            guard let number = reader.pop() else {
                sched_yield()
                continue
            }
            if number != expected { wrong += 1 }
            expected = number + 1
            received += 1
        }
        let elapsed = cl_now_ns() - start
        _ = producer.join(until: Instant(nanoseconds: .max))
        return Transfer(
            nanosecondsPerItem: Double(elapsed) / Double(items), received: Double(received),
            wrong: Double(wrong))
    }

    /// Container that passes the ring's producer end into the producer's closure, because the
    /// producer end cannot be copied.
    private final class Handover: Sendable {
        private let writer: Mutex<RingWriter<UInt64>?>

        init(_ writer: consuming sending RingWriter<UInt64>) { self.writer = Mutex(consume writer) }

        func take() -> RingWriter<UInt64>? { writer.withLock { $0.take() } }
    }
}
