import CLinuxShim
import GimbalCore
import Glibc
import Realtime
import Recording
import Simulation
import SystemPackage
import Wire

/// Cost of the flight recorder: time in the loop, processor time and data rate to the disk. The
/// bench also measures how much data is lost if the process is killed.
enum RecorderBench {
    private static let rateHz = 1000
    private static let seconds = 60

    static func run(options: Options, report: inout BenchReport) throws {
        tickCost(&report)
        try encoding(&report)
        try day(&report)
        try death(options, &report)
    }

    /// Measures the cost of the replay log, which is the buffer between the loop and the recorder.
    /// Ticks with and without a replay log run alternately. Variations of the computer's speed
    /// therefore affect both kinds of ticks.
    private static func tickCost(_ report: inout BenchReport) {
        var bare = rig(replayLogBytes: 0)
        var recorded = rig(replayLogBytes: 1 << 21)
        var times: ([Double], [Double]) = ([], [])
        let blocks = 400
        let block = 500
        var number = 0
        for turn in 0..<blocks {
            let first = number
            for isRecorded in turn % 2 == 0 ? [false, true] : [true, false] {
                number = first
                var spent: [Double] = []
                spent.reserveCapacity(block)
                for _ in 0..<block {
                    number += 1
                    let now = Instant(nanoseconds: Int64(number) * 1_000_000)
                    let sample = BenchSensor.sample(number, at: now)
                    let elapsed =
                        isRecorded
                        ? tick(&recorded, sample, now) : tick(&bare, sample, now)
                    spent.append(Double(elapsed))
                }
                if isRecorded {
                    times.1.append(median(spent))
                } else {
                    times.0.append(median(spent))
                }
            }
            recorded.replayLog.drain { _ in }
        }
        let difference = median(zip(times.1, times.0).map { $0 - $1 })
        report.show("tick without recorder, p50", median(times.0), "ns")
        report.check("recorder's part of a tick, p50", difference, atMost: 100, "ns")
    }

    private static func rig(replayLogBytes: Int) -> LoopRig {
        var settings = RuntimeSettings()
        settings.telemetryCapacity = 64
        settings.replayLogBytes = replayLogBytes
        var rig = LoopRig(parameters: Stabilizer.Parameters(), settings: settings)
        rig.ask(.mode(.locked))
        return rig
    }

    private static func tick(_ rig: inout LoopRig, _ sample: IMUSample, _ now: Instant) -> Int64 {
        rig.deliver(sample)
        let start = cl_now_ns()
        rig.tick(now: now)
        let elapsed = cl_now_ns() - start
        while rig.telemetry.pop() != nil {}
        return elapsed
    }

    /// Measures the processor time of encoding, compressing and writing one minute of a recording,
    /// in which a walking person carries the gimbal.
    private static func encoding(_ report: inout BenchReport) throws {
        let directory = try temporaryDirectory("/tmp")
        var store = RecordingStore(
            recordings: RecordingDirectory(
                directory: directory, limits: RecordingDirectory.Limits()))
        var ring = FlightRing(seconds: Double(seconds))
        var busy: Int64 = 0
        record(rateHz: rateHz, seconds: seconds, spent: &busy) { chunk in
            ring.append(chunk)
            store.record([chunk], { description }, date: 1_800_000_000)
        }
        store.stop()
        let share = Double(busy) * 1e-9 / Double(seconds) * 100
        report.check("recording at \(rateHz) Hz to a file, of one core", share, atMost: 5, "%")
        report.show("ring of \(seconds) s at \(rateHz) Hz", Double(ring.bytes) / 1e6, "MB")
        if let path = store.report.lastFile {
            let series = FlightSeries(try FlightFile(path: FilePath(path)))
            report.check(
                "ticks in the file", Double(series.times.count),
                atLeast: Double(rateHz * seconds - rateHz), "")
        }
        remove(directory)
    }

    /// Runs the loop with the simulated gimbal, and measures the time of encoding and writing.
    private static func record(
        rateHz: Int, seconds: Int, spent: inout Int64, _ take: (MCAPChunk) -> Void
    ) {
        var gimbal = SimulatedGimbal(
            parameters: SimulatedGimbal.Parameters(), motion: BaseMotion(.walking, seed: 3),
            seed: 3)
        var settings = RuntimeSettings()
        settings.rateHz = Double(rateHz)
        settings.replayLogBytes = 1 << 21
        var rig = LoopRig(parameters: Stabilizer.Parameters(), settings: settings)
        var encoder = FlightEncoder(timeOffset: 0)
        for number in 1...(rateHz * seconds) {
            let now = Instant(nanoseconds: Int64(number) * 1_000_000_000 / Int64(rateHz))
            gimbal.advance(to: now) { rig.deliver($0) }
            rig.tick(now: now)
            gimbal.apply(rig.output(), at: now)
            while rig.telemetry.pop() != nil {}
            // The recorder empties the replay log at the interval that the daemon uses.
            guard number % 5 == 0 else { continue }
            let start = processorTime()
            var chunks: [MCAPChunk] = []
            rig.replayLog.drain { frame in
                if let chunk = encoder.take(frame).chunk { chunks.append(chunk) }
            }
            for chunk in chunks { take(chunk) }
            spent += processorTime() - start
        }
    }

    /// Writes the recordings of 24 h, and checks the size of the directory repeatedly.
    private static func day(_ report: inout BenchReport) throws {
        var some: [MCAPChunk] = []
        var busy: Int64 = 0
        record(rateHz: 50, seconds: 20, spent: &busy) { some.append($0) }
        // The directory is in memory, because 24 h of data would wear out a disk.
        let directory = try temporaryDirectory("/dev/shm")
        var limits = RecordingDirectory.Limits()
        limits.fileBytes = 2_000_000
        limits.totalBytes = 20_000_000
        var store = RecordingStore(
            recordings: RecordingDirectory(directory: directory, limits: limits))
        var largest = 0
        // The file system gives each file the computer's current date. The simulated day therefore
        // begins at the current date.
        let today = Double(time(nil))
        let count = Int(86400 / FlightEncoder.chunkSeconds)
        for number in 0..<count {
            var chunk = some[number % some.count]
            chunk.number = UInt64(number)
            let date = today + Double(number) * FlightEncoder.chunkSeconds
            store.record([chunk], { description }, date: date)
            if number % 100 == 0 {
                largest = max(largest, store.recordings.entries.reduce(0) { $0 + $1.bytes })
            }
        }
        store.stop()
        report.check("24 h at 50 Hz, limit 20 MB: largest", Double(largest) / 1e6, atMost: 22, "MB")
        report.check("24 h: chunks lost", Double(store.report.lostChunks), atMost: 0, "")
        if let problem = store.report.problem { report.fail(problem) }
        remove(directory)
    }

    /// Kills the real daemon with SIGKILL while the daemon records, and measures how many seconds
    /// of data are lost.
    private static func death(_ options: Options, _ report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        var worst = 0.0
        for round in 0..<5 {
            let process = try DaemonProcess(daemon, settings: ["recording.continuous=true"])
            let held = process.status { status in
                (status["recorder"]?["held_s"]?.number ?? 0) > 3 + 0.13 * Double(round)
            }
            guard held != nil, let newest = process.status(where: { _ in true }) else {
                return report.fail("the daemon does not record: \(process.log)")
            }
            let ticks = newest["loop"]?["ticks"]?.number ?? .nan
            process.end()
            let folder = RecordingDirectory(
                directory: process.recordings, limits: RecordingDirectory.Limits())
            guard let name = folder.entries.first?.name else {
                return report.fail("there is no recording")
            }
            let series = FlightSeries(try FlightFile(path: folder.directory.appending(name)))
            worst = max(worst, (ticks - Double(series.times.count)) / Double(rateHz))
        }
        report.check("kill -9 while recording: lost time, worst of 5", worst, atMost: 1, "s")
    }

    private static let description = RecordingStore.Description(
        library: "airframe-bench", metadata: ["format": "\(FlightChannels.format)"],
        attachments: [])

    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func temporaryDirectory(_ parent: String) throws -> FilePath {
        var template = Array("\(parent)/airframe-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        return FilePath(
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private static func remove(_ directory: FilePath) {
        let folder = RecordingDirectory(directory: directory, limits: RecordingDirectory.Limits())
        for entry in folder.entries { _ = unlink(directory.appending(entry.name).string) }
        _ = rmdir(directory.string)
    }
}
