import Configuration
import GimbalCore
import Glibc
import Realtime
import Recording
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("The flight recorder of the daemon") struct RecorderTests {
    /// Recordings of a daemon, oldest first.
    private static func files(_ daemon: RunningDaemon) -> [String] {
        let directory = "\(daemon.directory)/state/recordings"
        guard let opened = opendir(directory) else { return [] }
        defer { closedir(opened) }
        var names: [String] = []
        while let entry = readdir(opened) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".mcap") { names.append("\(directory)/\(name)") }
        }
        return names.sorted()
    }

    private static func json(_ daemon: RunningDaemon, _ arguments: [String]) throws -> JSONValue {
        let result = try Program.run(
            [try Program.built("airframectl")] + arguments, in: daemon.directory)
        return try JSONValue(parsing: Array(result.output.utf8))
    }

    @Test("a recording of the last seconds is replayed bit for bit by another process")
    func request() throws {
        try withDaemon { daemon in
            try daemon.status("the memory contains five seconds") {
                $0.number("recorder", "held_s") >= 4 && $0.isFollowing
            }
            let result = try daemon.control("record", "--last", "3s")
            #expect(result.status == 0, "\(result.errors)")
            let path = result.output.filter { $0 != "\n" }
            let replay = try Self.json(daemon, ["replay", path, "--json"])
            #expect(replay["identical"] == .bool(true), "\(replay.text)")
            // A host that stalls for a second causes a gap; the recorded ticks are still replayed
            // bit for bit.
            if try daemon.ask("status").number("recorder", "lost_ticks") == 0 {
                #expect(replay.number("seconds") >= 2.5, "\(replay.text)")
            }
            #expect(replay.number("seconds") < 5)
            let info = try Self.json(daemon, ["record", "info", path, "--json"])
            #expect(info["complete"] == .bool(true))
            #expect(info["metadata"]?["backend"]?.string == "simulated")
        }
    }

    @Test(
        "a fault is recorded with the time before and after it, and can be replayed with other parameters"
    )
    func fault() throws {
        try withDaemon { daemon in
            try daemon.status("it follows") { $0.isFollowing }
            _ = try daemon.ask("stop")
            try daemon.status("the recording of the fault is written") {
                $0.number("recorder", "faults") == 1 && $0.number("recorder", "finished") == 1
            }
            let path = try #require(Self.files(daemon).first)
            #expect(path.contains("fault-emergency_stop"))
            let info = try Self.json(daemon, ["record", "info", path, "--json"])
            let events = info["events"]?.array ?? []
            let fault = try #require(events.first { $0["fault"] == .bool(true) })
            #expect(fault["name"]?.string == "emergency_stop")
            #expect(info.number("seconds") - fault.number("t") > 1.5)
            #expect(fault.number("t") > 0.3)
            let replay = try Self.json(daemon, ["replay", path, "--json"])
            #expect(replay["identical"] == .bool(true), "\(replay.text)")
            let other = try Self.json(
                daemon,
                ["replay", path, "--json", "--set", "control.attitude_gain=[20, 20, 20]"])
            #expect(other.number("largest_torque_difference_nm") > 0)
            #expect(other["remarks"] == .array([]))
        }
    }

    @Test("the files of an intermittent fault do not overlap, also if the loop's clock stops")
    func intermittent() {
        let (newest, now) = (Instant(nanoseconds: 5_000_000_000), Instant(nanoseconds: 0))
        let first = FlightRecorder.Fault("a", newest: newest, written: nil, ring: 60, now: now)
        #expect(first.due.seconds(since: newest) == 2)
        #expect(first.latest.seconds(since: now) == 10)
        let next = FlightRecorder.Fault(
            "a", newest: newest, written: Instant(nanoseconds: 4_000_000_000), ring: 60, now: now)
        #expect(abs(next.due.seconds(since: newest) - 59) < 1e-6)
        #expect(next.latest.seconds(since: now) == 67)
    }

    /// Meeting of two threads, and the end of the second one.
    private final class Meeting: Sendable {
        private let arrived = Atomic(0)
        let hasEnded = Atomic(false)

        /// Waits until both threads have called this method.
        func join() {
            arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
            while arrived.load(ordering: .acquiring) < 2 { sched_yield() }
        }
    }

    @Test("a recording that a second client requests does not end with the first client")
    func second() throws {
        try withTemporaryDirectory { directory throws in
            let assembly = LockstepEngine.assemble(parameters: Settings().stabilizerParameters)
            let recorder = FlightRecorder(
                replayLog: assembly.replayLog, bytes: 0,
                setup: FlightRecorder.Setup(
                    ringSeconds: 1, isContinuous: false,
                    recordings: RecordingDirectory(
                        directory: directory, limits: RecordingDirectory.Limits()),
                    description: RecordingStore.Description(
                        library: "test", metadata: [:], attachments: []),
                    timeOffset: 0), settings: { "" })
            let other = Worker(ThreadTable.state, capacity: 1)
            var lost = 0
            for _ in 0..<1000 {
                recorder.setRecording(false)
                recorder.setRecording(true, owner: 7)
                let meeting = Meeting()
                other.post {
                    meeting.join()
                    recorder.setRecording(true)
                    meeting.hasEnded.store(true, ordering: .releasing)
                }
                meeting.join()
                recorder.endRecording(of: 7)
                while !meeting.hasEnded.load(ordering: .acquiring) { sched_yield() }
                if !recorder.status.isRecording { lost += 1 }
            }
            #expect(lost == 0)
        }
    }

    @Test(
        "a killed daemon loses at most one second of its recording",
        .disabled(if: Sanitizer.isActive, "compression is too slow under a sanitizer"))
    func killed() throws {
        try withDaemon(["--set", "recording.continuous=true"]) { daemon in
            try daemon.status("the memory contains four seconds") {
                $0.number("recorder", "held_s") >= 4
            }
            let last = try daemon.ask("status").number("loop", "ticks")
            _ = try daemon.stop(SIGKILL)
            let path = try #require(Self.files(daemon).first)
            let info = try Self.json(daemon, ["record", "info", path, "--json"])
            #expect(info["complete"] == .bool(false))
            #expect(info["counts"]?["/tick"]?.number ?? 0 >= last - 1000)
            let replay = try Self.json(daemon, ["replay", path, "--json"])
            #expect(replay["identical"] == .bool(true), "\(replay.text)")
            // The next start completes the file, for programs that need its summary.
            let next = try RunningDaemon(in: daemon.directory)
            try next.status("the recorder has checked its recordings") {
                ($0["recorder"]?["files"]?.int ?? 0) >= 1
            }
            let ended = try Self.json(next, ["record", "info", path, "--json"])
            #expect(ended["complete"] == .bool(true))
            #expect(ended["counts"] == info["counts"])
            #expect(next.log.contains("The file has been repaired"))
        }
    }

    @Test(
        "a recording contains settings that change while it runs, so that the replay has no unexplained differences"
    )
    func changes() throws {
        try withDaemon { daemon in
            _ = try daemon.ask("record", #"{"action":"start"}"#)
            try daemon.status("a second is written") {
                $0.number("recorder", "open_bytes") > 200_000
            }
            _ = try daemon.ask("set", #"{"key":"motion.max_rate_dps","value":"[50,50,50]"}"#)
            try daemon.status("the memory contains more") {
                $0.number("recorder", "open_bytes") > 600_000
            }
            let result = try daemon.control("record", "stop")
            let path = result.output.filter { $0 != "\n" }
            let info = try Self.json(daemon, ["record", "info", path, "--json"])
            #expect(info["attachments"]?.array?.contains(.string("settings-1.toml")) == true)
            let other = try Self.json(
                daemon, ["replay", path, "--json", "--set", "motors.soft_start_s=0.3"])
            #expect(other["remarks"] == .array([]))
        }
    }

    @Test("a recording that ends at once is complete, and `record stop` prints its name")
    func short() throws {
        try withDaemon { daemon in
            let older = try daemon.control("record", "--last", "1s")
            #expect(try daemon.control("record", "start").status == 0)
            let stopped = try daemon.control("record", "stop")
            #expect(stopped.status == 0, "\(stopped.errors)")
            #expect(stopped.output.contains("-recording.mcap"), "\(stopped.output)")
            #expect(stopped.output != older.output)
            let path = stopped.output.filter { $0 != "\n" }
            let info = try Self.json(daemon, ["record", "info", path, "--json"])
            #expect(info["complete"] == .bool(true))
            #expect(info["counts"]?.number("/tick") ?? 0 > 0, "\(info.text)")
        }
    }

    @Test("without a continuous recording, `record stop` does not print the newest file")
    func nothingToStop() throws {
        try withDaemon { daemon in
            #expect(try daemon.control("record", "--last", "1s").status == 0)
            let stopped = try daemon.control("record", "stop")
            #expect(stopped.status == 0, "\(stopped.errors)")
            #expect(stopped.output == "No continuous recording is running.\n")
            let status = try Self.json(
                daemon, ["--socket", daemon.socket, "record", "stop", "--json"])
            #expect(status["recording"] == .bool(false), "\(status.text)")
        }
    }

    @Test(
        "a full or read-only disk is reported, and does not affect the loop",
        .enabled(if: Self.canMount, "`unshare --map-root-user --mount` is not permitted"),
        arguments: ["size=4m", "ro,size=8m"])
    func badDisk(options: String) throws {
        try withTemporaryDirectory { directory in
            let state = directory.appending("state")
            try makeDirectory(state)
            let script = "mount -t tmpfs -o \(options) none \(state) && exec \"$@\""
            let daemon = try RunningDaemon(
                in: directory, ["--set", "recording.continuous=true"],
                through: ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
            let status = try daemon.status(within: 30, "status states the problem of the disk") {
                $0["recorder"]?["problem"]?.string != nil
            }
            let problem = status["recorder"]?["problem"]?.string ?? ""
            #expect(
                problem.contains(
                    options == "size=4m" ? "No space left on device" : "Read-only file system"))
            let before = try daemon.ask("status").number("loop", "ticks")
            try daemon.status("the loop continues") {
                $0.number("loop", "ticks") > before + 500 && $0.number("recorder", "held_s") > 1
            }
            if options.hasPrefix("ro") {
                #expect(problem.contains("ReadWritePaths="))
                let refused = try daemon.control("record", "--last", "1s")
                #expect(refused.status == 66)
                #expect(refused.errors.contains(directory.string))
            } else {
                // The written part of the file is readable. The file is in the daemon's mount
                // namespace.
                let open = try #require(status["recorder"]?["last_file"]?.string)
                let path = "/proc/\(daemon.program.processID)/root\(open)"
                let info = try Self.json(daemon, ["record", "info", path, "--json"])
                #expect(info["counts"]?["/tick"]?.int ?? 0 > 2000)
            }
        }
    }

    private static let canMount =
        system("unshare --map-root-user --mount mount -t tmpfs none /mnt 2>/dev/null") == 0

    @Test("requests that wait for the disk share one file, which contains the data of all requests")
    func sharedFile() {
        var files = WaitingFiles()
        #expect(files.takeRequested() == nil)
        files.request(from: 40)
        files.request(from: 20)
        files.request(from: 50)
        #expect(files.takeRequested() == WaitingFiles.RequestedFile(first: 20, requests: 3))
        // A file that is being written does not contain later data, so the next request waits.
        files.request(from: 60)
        #expect(files.takeRequested() == WaitingFiles.RequestedFile(first: 60, requests: 1))
        #expect(files.takeRequested() == nil)
    }

    @Test("only the file of one fault waits for the disk, and discarded files are reported")
    func oneFault() {
        var files = WaitingFiles()
        #expect(files.add("fault-imu_stale", []) == true)
        #expect(files.problem == nil)
        #expect(files.add("fault-emergency_stop", []) == false)
        #expect(files.add("fault-imu_stale", []) == false)
        #expect(files.fault?.reason == "fault-imu_stale")
        #expect(files.problem?.contains("2 later faults are discarded") == true)
        #expect(files.endFault(isWritten: true, now: Instant(seconds: 5)) == true)
        #expect(files.fault == nil && files.problem == nil)
        #expect(files.add("fault-emergency_stop", []) == true)
    }

    @Test("10 s after a failure, the file of a fault is written again")
    func repeatedFault() {
        var files = WaitingFiles()
        #expect(files.add("fault-imu_stale", []) == true)
        #expect(files.due(now: Instant(seconds: 100)) != nil)
        #expect(files.endFault(isWritten: false, now: Instant(seconds: 101)) == true)
        #expect(files.due(now: Instant(seconds: 110)) == nil)
        #expect(files.due(now: Instant(seconds: 111))?.reason == "fault-imu_stale")
        #expect(files.endFault(isWritten: false, now: Instant(seconds: 112)) == false)
        #expect(files.due(now: Instant(seconds: 121)) == nil)
        #expect(files.due(now: Instant(seconds: 122)) != nil)
        #expect(files.endFault(isWritten: true, now: Instant(seconds: 123)) == false)
        #expect(files.due(now: Instant(seconds: 200)) == nil)
    }

    @Test("two files of a continuous recording are within the total size of all recordings")
    func fileSize() {
        var settings = Settings()
        settings.recording.maxFileMb = 64
        settings.recording.maxTotalMb = 50
        let small = settings.recorderSetup(clock: .monotonic).recordings.limits
        #expect(small.totalBytes == 50_000_000)
        #expect(small.fileBytes == 25_000_000)
        settings.recording.maxTotalMb = 1000
        #expect(
            settings.recorderSetup(clock: .monotonic).recordings.limits.fileBytes == 64_000_000)
    }

    @Test("a disabled recorder is shown in status, and record is refused")
    func off() throws {
        try withDaemon(["--set", "recording.enabled=false"]) { daemon in
            #expect(try daemon.ask("status")["recorder"]?["enabled"] == .bool(false))
            let refused = try daemon.control("record", "start")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("recording.enabled"))
        }
    }
}
