import CMallocCounter
import GimbalCore
import Glibc
import Realtime

/// Allocator calls and page faults of the real-time threads, while the other threads of the process
/// are busy. No allocator call and no major page fault is permitted.
enum AllocationBench {
    static func run(options: Options, report: inout BenchReport) {
        guard mc_is_active() else {
            report.note(
                "allocations are not counted: this build, perhaps with a sanitizer, does not replace malloc"
            )
            return
        }
        report.check(
            "counted calls of a thread with 10 calls", Double(callsOfKnownThread()), atLeast: 10, ""
        )
        let wakefulness = CPUWakefulness()
        if let problem = wakefulness.problem { report.note(problem) }
        for rate in [1000.0, 4000.0] {
            measure(rateHz: rate, options: options, report: &report)
        }
        _ = consume wakefulness
    }

    /// Number of counted allocator calls of a thread that makes ten calls. If the counter counts
    /// these ten calls, a count of zero for another thread is meaningful.
    private static func callsOfKnownThread() -> Int64 {
        let configuration = ThreadConfiguration(name: "allocating", priority: nil)
        let thread = try? RealtimeThread(configuration) {
            for size in 1...5 {
                UnsafeMutableRawPointer.allocate(byteCount: 100 * size, alignment: 8).deallocate()
            }
        }
        guard let thread, thread.join(until: Instant(nanoseconds: .max)) else { return -1 }
        return mc_count_of_thread(thread.report.threadID)
    }

    private static func measure(rateHz: Double, options: Options, report: inout BenchReport) {
        var settings = RuntimeSettings()
        settings.rateHz = rateHz
        settings.loop.cpu = options.cpu
        settings.bus.cpu = options.cpu
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: BenchBus(), settings: settings)
        let runtime = assembly.runtime
        var world = World(
            telemetry: assembly.telemetry, commands: assembly.commands, tuning: assembly.tuning)
        let lock = RealtimeSetup.lockMemory()
        if let problem = lock.problem { report.note(problem) }
        do { try runtime.start() } catch { return report.note("\(error)") }
        world.live(seconds: 0.5)
        let before = runtime.threads.map(ThreadMemory.init)
        world.live(seconds: options.seconds)
        let after = runtime.threads.map(ThreadMemory.init)
        let resident = residentMegabytes()
        runtime.stop()

        let label = "\(Int(rateHz)) Hz, \(Int(options.seconds)) s"
        for (thread, index) in [("loop", 0), ("bus", 1)] {
            let calls = after[index].allocatorCalls - before[index].allocatorCalls
            report.check("\(label): \(thread) thread malloc/free", Double(calls), atMost: 0, "")
            let major = after[index].majorFaults - before[index].majorFaults
            report.check("\(label): \(thread) thread major faults", Double(major), atMost: 0, "")
            let minor = after[index].minorFaults - before[index].minorFaults
            report.check("\(label): \(thread) thread minor faults", Double(minor), atMost: 2, "")
        }
        report.show("\(label): ticks read", Double(world.records), "")
        report.show("\(label): records missed by the subscriber", Double(world.gaps), "")
        report.check("\(label): resident memory, locked", resident, atMost: 45, "MB")
    }

    /// Load by the other threads of the process: a subscriber, requests, and a change of the tuning
    /// ten times a second.
    private struct World: ~Copyable {
        var telemetry: RingReader<TelemetryRecord>
        var commands: RingWriter<TimedCommand>
        var tuning: MailboxWriter<Stabilizer.Parameters>
        var records = 0
        var gaps: UInt64 = 0
        private var next: UInt64?
        private var round = 0

        init(
            telemetry: consuming RingReader<TelemetryRecord>,
            commands: consuming RingWriter<TimedCommand>,
            tuning: consuming MailboxWriter<Stabilizer.Parameters>
        ) {
            self.telemetry = telemetry
            self.commands = commands
            self.tuning = tuning
        }

        mutating func live(seconds: Double) {
            let end = MonotonicClock.now.advanced(bySeconds: seconds)
            while MonotonicClock.now < end {
                usleep(5000)
                round += 1
                if round % 20 == 0 { tuning.publish(Stabilizer.Parameters()) }
                if round % 50 == 0 {
                    commands.push(TimedCommand(.mode(.locked), received: MonotonicClock.now))
                    commands.push(
                        TimedCommand(
                            .point(target: .zero, duration: 0.5), received: MonotonicClock.now))
                }
                while let record = telemetry.pop() {
                    if let next { gaps += record.tick - next }
                    next = record.tick + 1
                    records += 1
                }
            }
        }
    }
}

/// Allocator calls and page faults of one thread since its start.
struct ThreadMemory: Sendable {
    var allocatorCalls: Int64
    var minorFaults: Int64
    var majorFaults: Int64

    init(_ thread: ThreadReport) {
        // A thread that has never called the allocator has no counter; the number of its calls is
        // zero.
        allocatorCalls = max(0, mc_count_of_thread(thread.threadID))
        (minorFaults, majorFaults) = Self.faults(
            in: contents(of: "/proc/self/task/\(thread.threadID)/stat"))
    }

    /// Numbers of minor and major page faults in a thread's file `stat`; -1 if they are missing.
    static func faults(in text: String) -> (minor: Int64, major: Int64) {
        // The thread's name, in parentheses, can contain spaces; the following fields cannot. See
        // proc(5).
        let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 9 else { return (-1, -1) }
        return (Int64(fields[7]) ?? -1, Int64(fields[9]) ?? -1)
    }
}

/// Resident memory (VmRSS) of this process, MB of 10^6 bytes.
private func residentMegabytes() -> Double {
    for line in contents(of: "/proc/self/status").split(separator: "\n")
    where line.hasPrefix("VmRSS:") {
        let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
        return (Double(digits) ?? .nan) * 1024 / 1e6
    }
    return .nan
}

/// Text of a small kernel file; empty if it cannot be read.
func contents(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 8192)
    let length = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[0..<length], as: UTF8.self)
}
