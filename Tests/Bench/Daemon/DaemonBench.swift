import GimbalCore
import Glibc
import Realtime
import Wire

/// Benchmarks of the real daemon. The daemon is linked in the same way as an installed daemon, and
/// runs as a separate process. The bench reads the values from /proc and from the daemon's socket.
enum DaemonBench {
    /// Number of starts and stops of the daemon; each result is the median over the starts or
    /// stops.
    private static let starts = 5
    /// Time from the start of the daemon to the beginning of the memory measurement, s.
    private static let warmUpSeconds = 3.0

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        try startAndStop(daemon, &report)
        let library = DaemonProcess.neighbour("libMallocCounter.so")
        let counter = access(library, R_OK) == 0 ? library : nil
        if counter == nil {
            report.fail(
                "\(library) is missing, so nothing is counted: build the product MallocCounter")
        }
        for rate in [1000, 4000] {
            try live(daemon, rateHz: rate, counter: counter, options, &report)
        }
        try memoryInUse(daemon, rateHz: 4000, options, &report)
    }

    /// Measures start-up and shutdown times with locked memory, as when the computer boots. The
    /// simulated handle does not move.
    private static func startAndStop(_ daemon: String, _ report: inout BenchReport) throws {
        var answering: [Double] = []
        var stabilised: [Double] = []
        var stopping: [Double] = []
        var resident = 0.0
        for _ in 0..<starts {
            let process = try DaemonProcess(
                daemon, settings: ["hardware.simulation.motion=still", "loop.lock_memory=true"])
            guard process.status(where: { _ in true }) != nil else {
                return report.fail("the daemon does not answer: \(process.log)")
            }
            answering.append(MonotonicClock.now.seconds(since: process.started))
            guard let status = process.status(where: { $0["enabled"]?.bool == true }) else {
                return report.fail("the outputs are not switched on: \(process.log)")
            }
            stabilised.append(MonotonicClock.now.seconds(since: process.started))
            if status["realtime"]?["memory_locked"]?.bool != true {
                report.fail("memory is not locked, so its size is not measured: \(process.log)")
            }
            resident = max(resident, process.megabytes("VmHWM"))
            let end = process.stop()
            stopping.append(end.seconds)
            if end.status != 0 {
                report.fail("the daemon ended with \(end.status): \(process.log)")
            }
        }
        report.show("start to an answer on the socket", median(answering) * 1000, "ms")
        report.check("start to the first stabilised tick", median(stabilised), atMost: 1, "s")
        report.check("SIGTERM to the end, longest", stopping.max() ?? .nan, atMost: 1, "s")
        report.check("resident memory, locked, after the start", resident, atMost: 45, "MB")
    }

    /// Counts the allocator calls and page faults of the two real-time threads while a simulated
    /// person walks with the gimbal and clients send requests.
    private static func live(
        _ daemon: String, rateHz: Int, counter: String?, _ options: Options,
        _ report: inout BenchReport
    ) throws {
        let label = "\(rateHz) Hz, \(Int(options.seconds)) s"
        let process = try walking(daemon, rateHz: rateHz, counter: counter)
        guard process.status(where: { _ in true }) != nil else {
            return report.fail("\(label): the daemon does not answer: \(process.log)")
        }
        var clients = BusyClients(process.socketPath)
        clients.live(seconds: warmUpSeconds)
        let names = ["loop", "bus0"]
        let threads = names.compactMap { process.thread(named: "airframed-\($0)") }
        guard threads.count == names.count else {
            return report.fail("\(label): no real-time threads in \(process.processID)")
        }
        let faultsBefore = threads.map(process.faults)
        let callsBefore = process.allocatorCalls
        clients.live(seconds: options.seconds)
        let calls = process.allocatorCalls
        let faults = threads.map(process.faults)

        if counter != nil {
            // Threads other than the real-time threads allocate memory. Counted calls of the other
            // threads show that the counter works. A count of zero for the two real-time threads is
            // then meaningful.
            let others = calls.filter { !threads.contains($0.key) }.values.reduce(0, +)
            report.check("\(label): malloc/free of other threads", Double(others), atLeast: 1, "")
        }
        for (index, name) in names.enumerated() {
            let thread = threads[index]
            if counter != nil {
                let made = (calls[thread] ?? 0) - (callsBefore[thread] ?? 0)
                report.check("\(label): \(name) thread malloc/free", Double(made), atMost: 0, "")
            }
            let major = faults[index].major - faultsBefore[index].major
            report.check("\(label): \(name) thread major faults", Double(major), atMost: 0, "")
            let minor = faults[index].minor - faultsBefore[index].minor
            report.show("\(label): \(name) thread minor faults", Double(minor), "")
        }
        let status = process.status { _ in true }
        report.show("\(label): messages to the subscriber", Double(clients.messages), "")
        report.show("\(label): reloads", Double(clients.reloads), "")
        report.show("\(label): slow clients dropped", Double(clients.dropped), "")
        report.show("\(label): ticks", status?["loop"]?["ticks"]?.number ?? .nan, "")
        report.show("\(label): overruns", status?["loop"]?["overruns"]?.number ?? .nan, "")
        report.check("\(label): SIGTERM to the end", process.stop().seconds, atMost: 1, "s")
    }

    /// Measures the daemon's locked memory with busy clients, at the loop rate that needs the
    /// longest ring buffers. The library that counts allocations loads Swift's shared runtime. The
    /// daemon itself does not use this runtime. This measurement therefore needs a separate run of
    /// the daemon.
    private static func memoryInUse(
        _ daemon: String, rateHz: Int, _ options: Options, _ report: inout BenchReport
    ) throws {
        let seconds = min(options.seconds, 10)
        let process = try walking(daemon, rateHz: rateHz)
        guard process.status(where: { _ in true }) != nil else {
            return report.fail("the daemon does not answer: \(process.log)")
        }
        var clients = BusyClients(process.socketPath)
        clients.live(seconds: seconds)
        report.check(
            "\(rateHz) Hz, \(Int(seconds)) s: resident memory, locked", process.megabytes("VmHWM"),
            atMost: 45, "MB")
        _ = process.stop()
    }

    private static func walking(_ daemon: String, rateHz: Int, counter: String? = nil) throws
        -> DaemonProcess
    {
        try DaemonProcess(
            daemon,
            settings: [
                "loop.rate_hz=\(rateHz)", "loop.lock_memory=true",
                "hardware.simulation.motion=walking",
            ], counter: counter)
    }
}

/// Typical load of a daemon: a subscriber at 50 Hz, a subscriber that never reads, and a request
/// every second to reload the configuration.
private struct BusyClients {
    private let path: String
    private let subscriber: BenchClient?
    private let admin: BenchClient?
    private var slow: BenchClient?
    /// Number of messages that the subscriber has read.
    private(set) var messages = 0
    /// Number of reload requests that the daemon has answered.
    private(set) var reloads = 0
    /// Number of clients that the daemon has disconnected because they read too slowly.
    private(set) var dropped = 0

    private static let subscription = """
        {"id":1,"method":"subscribe","params":{"names":\
        ["attitude.yaw","attitude.pitch","state","conditions","torque.pitch"],"rate":50}}
        """

    init(_ path: String) {
        self.path = path
        subscriber = BenchClient(path)
        admin = BenchClient(path)
        _ = subscriber?.send(Self.subscription)
    }

    mutating func live(seconds: Double) {
        let end = MonotonicClock.now.advanced(bySeconds: seconds)
        var nextReload = MonotonicClock.now
        while MonotonicClock.now < end {
            if slow == nil { slow = BenchClient(path) }
            // Sends many requests without reading a reply, until the daemon closes the connection.
            if slow?.send(#"{"id":1,"method":"get"}"#) == false {
                dropped += 1
                slow = nil
            }
            if subscriber?.line(waitMilliseconds: 40) != nil { messages += 1 }
            if MonotonicClock.now >= nextReload {
                nextReload = MonotonicClock.now.advanced(bySeconds: 1)
                if admin?.ask(#"{"id":1,"method":"reload"}"#) != nil { reloads += 1 }
            }
        }
    }
}
