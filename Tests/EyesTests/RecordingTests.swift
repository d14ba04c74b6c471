import CVideo
import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Eyes
@testable import Recording

@Suite("Recordings", .serialized, .timeLimit(.minutes(1)))
struct RecordingTests {
    private func video(in directory: FilePath) -> EyesSettings.Video {
        var video = RunningStream.testPicture
        video.record = true
        video.recordDirectory = directory.string
        return video
    }

    private func files(_ directory: FilePath, _ ending: String) throws -> [FilePath] {
        guard let stream = opendir(directory.string) else { throw Errno(rawValue: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0.hasSuffix(ending) }.sorted().map { directory.appending($0) }
    }

    /// Timestamp of each picture in the file, s, and time of exposure from the picture's time code,
    /// s.
    private func pictures(of file: FilePath, _ directory: FilePath) throws -> [(
        time: Double, exposed: Double
    )] {
        let (raw, times) = (directory.appending("grey"), directory.appending("times"))
        #expect(
            try shell(
                "timeout 20 ffmpeg -v error -y -i \(file) -fps_mode passthrough -f rawvideo -pix_fmt gray \(raw)"
            ) == 0)
        #expect(
            try shell(
                "timeout 20 ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0 \(file) > \(times)"
            ) == 0)
        let stamps = String(decoding: try bytes(of: times), as: UTF8.self).split(separator: "\n")
            .compactMap { Double($0.split(separator: ",")[0]) }
        let grey = try bytes(of: raw)
        let size = 640 * 480
        #expect(grey.count == stamps.count * size)
        let now = cv_now()
        return try stamps.enumerated().map { index, time in
            let age = try grey.withUnsafeBytes { bytes in
                let picture = UnsafeRawBufferPointer(
                    rebasing: bytes[index * size..<(index + 1) * size])
                return try #require(
                    TimeCode.age(of: picture, width: 640, stride: 640, now: now))
            }
            return (time, Double(now - age) * 1e-9)
        }
    }

    @Test("the names of files have the order of their dates, also within one second, and in UTC")
    func names() throws {
        try withTemporaryDirectory { directory in
            func name(_ date: Double) throws -> String {
                let path = Recorder.unusedPath(in: directory.string, ending: "jpg", date: date)
                try write("", to: path)
                return path.lastComponent?.string ?? ""
            }
            let dates = [1_795_616_885.25, 1_795_616_885.75, 1_795_616_886.0, 1_795_616_886.0]
            let names = try dates.map(name)
            #expect(
                names == [
                    "gimbal-20261125T142805.250Z.jpg", "gimbal-20261125T142805.750Z.jpg",
                    "gimbal-20261125T142806.000Z.jpg", "gimbal-20261125T142806.001Z.jpg",
                ])
            #expect(names == names.sorted())
        }
    }

    @Test("the time in the file is the time of exposure, to 1 ms, from the first picture on")
    func videoClock() throws {
        try withTemporaryDirectory { directory in
            var video = video(in: directory)
            let stream = try RunningStream(video)
            // Recorded without any client.
            #expect(stream.report(within: 5) { $0.recording != nil })
            #expect(stream.encodes(45, within: 15))
            video.record = false
            stream.keeper.apply(video)
            #expect(stream.report(within: 10) { $0.recording == nil && $0.phase == .waiting })
            let file = try #require(try files(directory, ".mp4").first)
            let pictures = try pictures(of: file, directory)
            #expect(pictures.count >= 30)
            let first = try #require(pictures.first)
            let errors = pictures.map { abs($0.exposed - first.exposed - ($0.time - first.time)) }
            print("clock of the video: largest error \(errors.max() ?? .nan) s")
            #expect(errors.allSatisfy { $0 < 0.001 })
        }
    }

    @Test("a failed recording is tried again after the video was off")
    func retry() throws {
        try withTemporaryDirectory { directory in
            let missing = directory.appending("videos")
            var video = video(in: missing)
            let stream = try RunningStream(video)
            #expect(
                stream.report(within: 5) { $0.recordingProblem?.contains("no directory") == true })
            try makeDirectory(missing)
            for isEnabled in [false, true] {
                video.enabled = isEnabled
                stream.keeper.apply(video)
                #expect(stream.report(within: 5) { ($0.recording != nil) == isEnabled })
                if !isEnabled { #expect(stream.report(within: 5) { $0.phase == .off }) }
            }
        }
    }

    @Test("the problem of a recording does not count as a failure of new settings")
    func settings() {
        let commands = CameraCommandExecutor(nil)
        var feed = FeedSupervisor.Report()
        feed.recordingProblem = "the recording waits for the camera"
        func problem(_ latest: CameraOrder.Action, _ own: String? = nil) -> String? {
            commands.state(feed, directory: "/", latest: latest, problem: own).problem
        }
        #expect(problem(.record) == feed.recordingProblem)
        #expect(problem(.set) == nil)
        #expect(problem(.set, "wrong value") == "wrong value")
    }

    @Test("a recording without a camera states its reason, and ends with the request")
    func noCamera() throws {
        try withTemporaryDirectory { directory in
            var video = video(in: directory)
            video.source = .auto
            let stream = try RunningStream(video)
            #expect(
                stream.report(within: 5) {
                    $0.recordingProblem == "the recording waits for the camera"
                })
            video.enabled = false
            stream.keeper.apply(video)
            #expect(
                stream.report(within: 5) {
                    $0.recordingProblem == "the video is off (video.enabled)"
                })
            video.record = false
            stream.keeper.apply(video)
            #expect(stream.report(within: 5) { $0.recordingProblem == nil })
            #expect(try files(directory, ".mp4").isEmpty)
        }
    }

    /// Starts airframed, and waits until it answers at `s.sock` in the directory.
    private func daemon(in directory: FilePath) throws -> RunningProgram {
        let settings = [
            "diagnostics.socket=\(directory)/s.sock", "persistence.directory=\(directory)/state",
            "hardware.simulation.motion=walking", "bluetooth.enabled=false",
            "loop.lock_memory=false", "imu.timeout_ms=1000",
        ]
        let daemon = try RunningProgram(
            "airframed", settings.flatMap { ["--set", $0] }, in: directory)
        #expect(
            eventually(within: 20) {
                (try? DaemonClient(path: "\(directory)/s.sock", timeout: 1).json("ping")) != nil
            }, "\(daemon.log)")
        return daemon
    }

    @Test("the motion before and after a restart of airframed is in one file, on one clock")
    func restart() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let first = try daemon(in: directory)
            let link = DaemonLink(socket: "\(directory)/s.sock")
            defer { link.stop() }
            var dependencies = FeedSupervisor.Dependencies()
            dependencies.recording = { link.record($0) }
            let stream = try RunningStream(video(in: directory), dependencies)
            #expect(stream.report(within: 5) { $0.recording != nil })
            let begin = cv_now()
            usleep(2_000_000)
            kill(first.process, SIGTERM)
            #expect(first.wait(seconds: 5) != nil)
            try withExtendedLifetime(try daemon(in: directory)) {
                usleep(4_000_000)
                var video = video(in: directory)
                video.record = false
                stream.keeper.apply(video)
                #expect(stream.report(within: 5) { $0.recording == nil })
                let length = Double(cv_now() - begin) * 1e-9
                usleep(300_000)
                let file = try #require(try files(directory, ".gcsv").first)
                let lines = String(decoding: try bytes(of: file), as: UTF8.self)
                    .split(separator: "\n")
                let head = try #require(lines.firstIndex(of: "t,gx,gy,gz,ax,ay,az"))
                let times = lines[(head + 1)...].compactMap { line in
                    line.split(separator: ",").first.flatMap { Double($0) }.map {
                        $0 * GyroLog.timeScale
                    }
                }
                #expect(times.first == 0)
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
                // The first airframed ends about 2 s after the first picture.
                #expect(times.count(where: { $0 < 2 }) > 100)
                #expect(abs(length - (times.last ?? 0)) < 2)
            }
        }
    }

    @Test("video and motion of the gimbal are on one clock, to 1 ms")
    func oneClock() throws {
        #expect(isVideoReady)
        try withTemporaryDirectory { directory in
            let daemon = try daemon(in: directory)
            defer { kill(daemon.process, SIGTERM) }
            let path = "\(directory)/s.sock"
            let link = DaemonLink(socket: path)
            defer { link.stop() }
            var dependencies = FeedSupervisor.Dependencies()
            dependencies.recording = { link.record($0) }
            var video = video(in: directory)
            let stream = try RunningStream(video, dependencies)
            #expect(stream.report(within: 5) { $0.recording != nil })
            usleep(2_500_000)
            video.record = false
            stream.keeper.apply(video)
            #expect(stream.report(within: 5) { $0.recording == nil })
            usleep(300_000)

            let log = try #require(try files(directory, ".gcsv").first)
            let file = try #require(try files(directory, ".mp4").first)
            #expect(log.stem == file.stem)
            let lines = String(decoding: try bytes(of: log), as: UTF8.self)
                .split(separator: "\n").map(String.init)
            let (header, end) = try #require(GyroLog.Header.read(lines.joined(separator: "\n")))
            #expect(header.video == file.lastComponent?.string)
            let begin = header.start
            // The first picture's time code gives its exposure; a new request gives the clock's
            // offset.
            let offset = try DaemonClient(path: path, timeout: 5).clockOffset()
            let pictures = try pictures(of: file, directory)
            let first = try #require(pictures.first)
            let error = abs(first.exposed - first.time - offset.seconds - begin)
            print("clocks of video and motion: \(error) s apart, measured to \(offset.error) s")
            #expect(error < 0.001)

            let head = try #require(lines.firstIndex(of: "t,gx,gy,gz,ax,ay,az"))
            let rows = lines[(head + 1)...].map { $0.split(separator: ",").compactMap { Int($0) } }
            #expect(rows.allSatisfy { $0.count == 7 })
            let times = rows.map { Double($0[0]) * GyroLog.timeScale }
            #expect(times.count >= 100)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            #expect(times.first == 0)
            // At rest and while walking the mean specific force points up with 1 g.
            let up =
                rows.map { Double($0[6]) * GyroLog.forceScale }.reduce(0, +) / Double(rows.count)
            #expect(abs(up + 1) < 0.1, "\(up) g")

            // The flight recorder has recorded the same time, every tick, and has ended.
            let name = try #require(header.recording)
            let flight = directory.appending("state/recordings").appending(name)
            let client = try DaemonClient(path: path, timeout: 5)
            #expect(
                eventually(within: 10) {
                    let status: RecorderStatus? = try? client.request("record")
                    return status?.isRecording == false && status?.openFile == nil
                })
            let recording = try FlightFile(path: flight)
            var flown: [TickMessage] = []
            _ = recording.read { record, _ in
                if case .tick(let tick) = record, !tick.isLook { flown.append(tick) }
                return true
            }
            // A busy computer delays ticks; the recording contains each tick that the loop made.
            #expect(Double(try #require(flown.first).now) * 1e-9 <= begin)
            #expect(Double(try #require(flown.last).now) * 1e-9 >= end - GyroLog.timeScale)
            #expect(zip(flown, flown.dropFirst()).allSatisfy { $0.tick + 1 == $1.tick })
            var all = GyroLog(header)
            var text = ""
            _ = all.convert(recording, until: end) { text += $0 }
            // Both logs contain the same motion at the same times, except the interpolated start.
            let ticks = Dictionary(
                text.split(separator: "\n").map { line in
                    let row = line.split(separator: ",").compactMap { Int($0) }
                    return (row[0], row)
                }, uniquingKeysWith: { a, _ in a })
            let common = rows.dropFirst().compactMap { row in
                (-1...1).compactMap { ticks[row[0] + $0] }.first.map { (row, $0) }
            }
            #expect(common.count > rows.count * 9 / 10)
            #expect(common.allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= 1 } })
        }
    }

    @Test("the flight recording of a video is not an earlier one that is not complete yet")
    func flightName() {
        var status = RecorderStatus()
        status.isRecording = true
        status.openFile = "/var/lib/airframe/recordings/a.mcap"
        #expect(MotionStream.name(in: status, after: nil) == "a.mcap")
        #expect(MotionStream.name(in: status, after: status.openFile) == nil)
        status.openFile = nil
        #expect(MotionStream.name(in: status, after: nil) == nil)
    }

    @Test("a truncated recording can be played up to its last second")
    func cutOff() throws {
        try withTemporaryDirectory { directory in
            let stream = try RunningStream(video(in: directory))
            #expect(stream.report(within: 5) { $0.recording != nil })
            #expect(stream.encodes(105, within: 20))
            let file = try #require(try files(directory, ".mp4").first)
            let copy = directory.appending("copy.mp4")
            // A copy of the unfinished file is the file that remains after a power cut.
            #expect(try shell("cp \(file) \(copy)") == 0)
            #expect(try pictures(of: copy, directory).count >= 30)
        }
    }

    @Test("a directory that cannot be written is named with the reason and the remedy")
    func unwritable() {
        #expect(
            Recorder.unwritable("/mnt/disk/videos", .readOnlyFileSystem)
                == "/mnt/disk/videos cannot be written (Read-only file system): name it in ReadWritePaths= in a drop-in of the service, as eyes.md describes"
        )
        #expect(
            Recorder.unwritable("/mnt/disk/videos", .permissionDenied)
                .contains("let the user of airframe-eyes write to it"))
    }

    @Test("a missing directory causes a warning, and the stream continues")
    func missing() throws {
        try withTemporaryDirectory { directory in
            let stream = try RunningStream(video(in: directory.appending("missing")))
            #expect(stream.report(within: 5) { $0.recordingProblem != nil })
            let player = try stream.player()
            #expect(try player.first(within: 5) != nil)
            var now = StreamHealth.Counters(t: 2_000_000_000, feed: stream.keeper.report)
            now.feed.phase = .streaming
            let health = StreamHealth(from: StreamHealth.Counters(t: 1_000_000_000), to: now)
            let report = health.report(stream.keeper.settings, address: "")
            #expect(report.level == .warn)
            #expect(report.finding.contains("not recorded: there is no directory"))
        }
    }
}
