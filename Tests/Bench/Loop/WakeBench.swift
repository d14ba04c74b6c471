import GimbalCore
import Glibc
import Realtime

/// Wake-up latency of the thread that a timer wakes in each period. The benchmark compares this
/// latency with the latency of cyclictest, on the same CPU at nearly the same time.
enum WakeBench {
    static func run(options: Options, report: inout BenchReport) {
        let hasReference = Cyclictest.isInstalled
        if !hasReference {
            report.note(
                "cyclictest is not installed, so there is no ratio: apt-get install rt-tests")
        }
        var ours: [LatencySummary] = []
        var handovers: [LatencySummary] = []
        var ways: [LatencySummary] = []
        var references: [Cyclictest.Result] = []
        for round in 0..<options.rounds {
            if hasReference,
                let result = Cyclictest.run(
                    intervalMicroseconds: 1000, seconds: options.roundSeconds,
                    priority: ThreadTable.bus0.priority ?? 80, cpu: options.cpu)
            {
                references.append(result)
            }
            guard let measured = BenchRun.run(rateHz: 1000, options: options, report: report) else {
                return
            }
            if round == 0 { measured.threads.flatMap(\.problems).forEach { report.note($0) } }
            ours.append(measured.wake)
            handovers.append(measured.handover)
            ways.append(measured.imuToMotor)
        }
        func figure(_ list: [LatencySummary], _ path: KeyPath<LatencySummary, Double>) -> Double {
            median(list.map { $0[keyPath: path] / 1000 })
        }
        report.show("wake-up at 1 kHz, p50", figure(ours, \.p50), "us")
        report.show("wake-up at 1 kHz, p99", figure(ours, \.p99), "us")
        report.show("hand-over to the loop, p50", figure(handovers, \.p50), "us")
        report.show("hand-over to the loop, p99", figure(handovers, \.p99), "us")
        // The limit of the latency is a quarter of a period. The bus thread waits for the loop's
        // output for at most a quarter of a period, and sends a later output only in the next
        // period.
        report.check(
            "IMU to motor without wire time, p50", figure(ways, \.p50), atMost: 250, "us")
        report.show("IMU to motor without wire time, p99", figure(ways, \.p99), "us")
        guard !references.isEmpty else {
            if hasReference { report.note("cyclictest ran, but printed no histogram") }
            return
        }
        let p50 = median(references.map(\.p50))
        let p99 = median(references.map(\.p99))
        report.show("cyclictest at 1 kHz, p50", p50, "us")
        report.show("cyclictest at 1 kHz, p99", p99, "us")
        report.check("wake-up p50 against cyclictest", figure(ours, \.p50) / p50, atMost: 1.5, "x")
        report.check("wake-up p99 against cyclictest", figure(ours, \.p99) / p99, atMost: 2, "x")
    }
}

/// One run of both real-time threads with hardware without latency.
enum BenchRun {
    /// Result of one round of the wake-up benchmark.
    struct Measured {
        var wake: LatencySummary
        var handover: LatencySummary
        var imuToMotor: LatencySummary
        var threads: [ThreadReport]
    }

    /// Runs the bus thread and the loop thread for `options.roundSeconds` after the warm-up, while
    /// a reader empties the telemetry.
    static func run(rateHz: Double, options: Options, report: BenchReport) -> Measured? {
        var settings = RuntimeSettings()
        settings.rateHz = rateHz
        settings.loop.cpu = options.cpu
        settings.bus.cpu = options.cpu
        let assembly = GimbalRuntime.assemble(
            parameters: Stabilizer.Parameters(), bus: BenchBus(), settings: settings)
        let runtime = assembly.runtime
        var telemetry = assembly.telemetry
        // The bench disables sleep states of the CPU, like the daemon and cyclictest.
        let wakefulness = CPUWakefulness()
        for problem in [wakefulness.problem, RealtimeSetup.lockMemory().problem].compactMap(\.self)
        {
            report.note(problem)
        }
        do {
            try runtime.start()
        } catch {
            report.note("\(error)")
            return nil
        }
        func drain(seconds: Double) {
            let end = MonotonicClock.now.advanced(bySeconds: seconds)
            while MonotonicClock.now < end {
                usleep(10_000)
                while telemetry.pop() != nil {}
            }
        }
        drain(seconds: 0.3)
        let before = Stage.allCases.map { runtime.histogram(of: $0) }
        drain(seconds: options.roundSeconds)
        func summary(_ stage: Stage) -> LatencySummary {
            let index = Stage.allCases.firstIndex(of: stage) ?? 0
            return runtime.histogram(of: stage).since(before[index]).summary
        }
        let measured = Measured(
            wake: summary(.wake), handover: summary(.handover), imuToMotor: summary(.imuToMotor),
            threads: runtime.threads)
        runtime.stop()
        // The request for CPUs without sleep states must last until the end of the measurement.
        _ = consume wakefulness
        return measured
    }
}
