import Realtime

/// Program that measures every published result, and prints each result with its limit.
@main
struct Main {
    /// The benches by name, in the order in which `all` runs them.
    static let benches: [Bench] = [
        Bench(name: "ring", summary: "ring and mailbox: cost, loss, order", run: RingBench.run),
        Bench(name: "tick", summary: "one tick without the plant", run: TickBench.run),
        Bench(name: "wake", summary: "wake-up against cyclictest, hand-over", run: WakeBench.run),
        Bench(
            name: "alloc", summary: "allocations, faults, locked memory", run: AllocationBench.run),
        Bench(
            name: "daemon", summary: "the real program: start, memory, faults, stop",
            run: DaemonBench.run),
        Bench(
            name: "stop", summary: "emergency stop, with a slow disk and busy clients",
            run: StopBench.run),
        Bench(
            name: "phone", summary: "an app's writes, from D-Bus to the tick",
            run: PhoneBench.run),
        Bench(
            name: "links", summary: "MAVLink frames and streams, datagrams for the wheels",
            run: LinkBench.run),
        Bench(
            name: "clients", summary: "the loop with hostile and slow clients",
            run: BadClientsBench.run),
        Bench(
            name: "web", summary: "the companions' web server: 10^5 connections, slow tabs, phones",
            run: WebBench.run),
        Bench(
            name: "recorder", summary: "the flight recorder: tick, processor, disk, kill -9",
            run: RecorderBench.run),
        Bench(
            name: "lockstep", summary: "speed of the real program with a simulator",
            run: LockstepBench.run),
        Bench(name: "estimator", summary: "attitude on recorded trials, cost of an update") {
            try EstimatorBench.run(dataDirectory: $0.dataDirectory, &$1)
        },
        Bench(
            name: "pointing", summary: "the simulated gimbal, stabilised"
        ) { options, report in
            guard let directory = options.recordedDirectory else {
                return PointingBench.run(options, &report)
            }
            try RecordedBench.run(directory, options, &report)
        },
        Bench(
            name: "autotune", summary: "gimbals with unknown properties", run: AutotuneBench.run),
        Bench(
            name: "gains", summary: "stability with every gain of an app", run: GainGridBench.run),
        Bench(
            name: "faults", summary: "every fault, in every mode, with every source",
            run: FaultBench.run),
        Bench(
            name: "sensor-faults",
            summary: "wrong sensor values and wrong models, on every kind of gimbal",
            run: FaultBench.runSensors),
        Bench(
            name: "gallery", summary: "random gimbals, in each motion; not in `all`",
            isInAll: false, run: GalleryBench.run),
        Bench(
            name: "actuators", summary: "servos and motors without encoders, stabilised",
            run: ActuatorBench.run),
        Bench(
            name: "soak", summary: "an hour of simulated time, with busy clients; not in `all`",
            isInAll: false, run: SoakBench.run),
        Bench(
            name: "soak-links", summary: "an hour with traffic on every link; not in `all`",
            isInAll: false, run: LinkSoak.run),
    ]

    static func main() {
        for problem in RealtimeSetup.prepareProcess() { print("note: \(problem)") }
        guard let options = Options(arguments: CommandLine.arguments.dropFirst()) else {
            print(Options.usage(benches))
            exitProcess(64)
        }
        do {
            if try EstimatorFiles.serve(options) { exitProcess(0) }
        } catch {
            print("\(error)")
            exitProcess(66)
        }
        let chosen =
            options.names.isEmpty || options.names.contains("all")
            ? benches.filter(\.isInAll) : benches.filter { options.names.contains($0.name) }
        if let unknown = options.names.first(where: { name in
            name != "all" && !benches.contains { $0.name == name }
        }) {
            print("unknown bench '\(unknown)'\n\(Options.usage(benches))")
            exitProcess(64)
        }
        if isDebugBuild { print("note: a debug build; use `swift run -c release` for figures") }
        var report = BenchReport()
        for bench in chosen {
            report.begin("\(bench.name): \(bench.summary)")
            do {
                try bench.run(options, &report)
            } catch {
                report.fail("\(error)")
            }
        }
        report.finish()
        exitProcess(options.isGate && report.misses > 0 ? 1 : 0)
    }

    private static var isDebugBuild: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }
}

/// A group of benchmarks that run under one name.
struct Bench: Sendable {
    var name: String
    var summary: String
    /// True if `all` includes the group.
    var isInAll = true
    var run: @Sendable (Options, inout BenchReport) throws -> Void
}
