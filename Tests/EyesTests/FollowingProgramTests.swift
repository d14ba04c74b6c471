import Client
import Glibc
import People
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Eyes

/// Complete chain: a photo of a person, the models, and airframed with a simulated gimbal.
@Suite("Following a person with both programs", .serialized, .timeLimit(.minutes(2)))
struct FollowingProgramTests {
    private static let photo = "/usr/share/doc/opencv-doc/examples/data/messi5.jpg"

    private func programs(
        in directory: FilePath, source: String = photo, patience: Int = 15, more: [String] = []
    ) throws -> (
        daemon: RunningProgram, eyes: RunningProgram
    ) {
        let daemon = try RunningProgram(
            "airframed",
            [
                "--set", "diagnostics.socket=\(directory)/s.sock", "--set",
                "persistence.directory=\(directory)/state", "--set", "bluetooth.enabled=false",
                "--set", "loop.lock_memory=false", "--set", "imu.timeout_ms=1000",
            ], in: directory)
        #expect(
            eventually(within: 20) { (try? status(directory))?.isEnabled == true },
            "\(daemon.log)")
        let port = try StreamServer(host: "127.0.0.1", port: 0, path: "/x", maximumClients: 1).port
        let eyes = try RunningProgram(
            "airframe-eyes",
            [
                "--set", "rtsp.listen=127.0.0.1:\(port)", "--set",
                "gimbal.socket=\"\(directory)/s.sock\"", "--set", "video.source=file", "--set",
                "video.device=\"\(source)\"", "--set", "people.patience_s=\(patience)",
            ] + more.flatMap { ["--set", $0] }, in: directory)
        #expect(
            eventually(within: 20) {
                (try? status(directory))?.companions.contains { $0.report.following != nil }
                    == true
            }, "\(eyes.log)")
        return (daemon, eyes)
    }

    private func client(_ directory: FilePath) throws -> DaemonClient {
        try DaemonClient(path: "\(directory)/s.sock", timeout: 5)
    }

    private func status(_ directory: FilePath) throws -> Status {
        try client(directory).request("status")
    }

    private func people(_ directory: FilePath) throws -> CompanionReport? {
        try status(directory).companions.first { $0.report.name == "people" }?.report
    }

    private var isSkipped: Bool {
        let needed = [Self.photo, ".build/eyes-models/\(PersonFinder.Files.detector)"]
        for path in needed where access(path, R_OK) != 0 {
            print("skipped: there is no \(path)")
            return true
        }
        return isWithoutVideo
    }

    private var isWithoutVideo: Bool {
        if !isVideoReady { print("skipped: GStreamer cannot be started") }
        return !isVideoReady
    }

    @Test("missing models are reported before the first attempt to follow a person")
    func missingModels() throws {
        if isWithoutVideo { return }
        try withTemporaryDirectory { directory in
            let programs = try programs(
                in: directory, more: ["people.models=\"\(directory)/models\""])
            let report = try #require(try people(directory))
            #expect(report.level == .warn && report.finding.contains("libLiteRt.so"), "\(report)")
            #expect(report.remedy.contains("make deps-eyes"), "\(report)")
            let answer = try client(directory).json("follow", ["action": .string("on")])
            #expect(answer["sentence"]?.string?.contains(report.finding) == true, "\(answer.text)")
            _ = programs
        }
    }

    @Test("the camera turns to a person in the picture, and is held when airframe-eyes is killed")
    func killed() throws {
        if isSkipped { return }
        try withTemporaryDirectory { directory in
            let (daemon, eyes) = try programs(in: directory)
            _ = try client(directory).json("follow", ["action": .string("on")])
            // The stream has no clients; the camera is open only because the models need pictures.
            #expect(
                eventually(within: 20) {
                    (try? people(directory))?.following?.box != nil
                }, "\(eyes.log)")
            let report = try #require(try people(directory))
            #expect(report.finding.contains("follows person"))
            #expect(try #require(report.following?.box)[0] < 0.5)
            // The person is left of the middle, and stays there, because it is a photo.
            #expect(
                eventually(within: 30) {
                    let status = try? status(directory)
                    return status?.mode == "tracking" && (status?.attitude.yawDeg.value ?? 0) < -5
                })
            kill(eyes.process, SIGKILL)
            #expect(eyes.wait(seconds: 5) == -SIGKILL)
            #expect(eventually(within: 3) { (try? status(directory))?.mode == "locked" })
            usleep(700_000)
            let held = try status(directory)
            usleep(500_000)
            let later = try status(directory)
            #expect(later.isEnabled && held.holder == nil)
            #expect(abs(later.attitude.yawDeg.value - held.attitude.yawDeg.value) < 0.5)
            _ = daemon
        }
    }

    @Test(
        "another request ends the following of a person, and the request off switches the models off"
    )
    func ended() throws {
        if isSkipped { return }
        try withTemporaryDirectory { directory in
            let (daemon, eyes) = try programs(in: directory)
            _ = try client(directory).json("follow", ["action": .string("on")])
            #expect(
                eventually(within: 20) {
                    (try? people(directory))?.following?.box != nil
                }, "\(eyes.log)")
            _ = try client(directory).json("mode", ["mode": .string("locked")])
            #expect(
                eventually(within: 3) {
                    (try? people(directory))?.following?.isActive == false
                })
            usleep(500_000)
            #expect(try status(directory).mode == "locked")
            _ = try client(directory).json("follow", ["action": .string("on")])
            #expect(
                eventually(within: 5) { (try? people(directory))?.following?.isActive == true })
            _ = try client(directory).json("follow", ["action": .string("off")])
            #expect(
                eventually(within: 5) {
                    (try? people(directory))?.finding == "no person is followed"
                })
            _ = (daemon, eyes)
        }
    }

    @Test("a camera that needs 2.5 s for its first picture does not end the following")
    func slowCamera() throws {
        if isSkipped { return }
        try withTemporaryDirectory { directory in
            // Opening a pipe blocks until a writer opens it, which delays the first picture.
            let camera = directory.appending("camera.jpg")
            #expect(mkfifo(camera.string, 0o600) == 0)
            let (daemon, eyes) = try programs(in: directory, source: camera.string)
            _ = try client(directory).json("follow", ["action": .string("on")])
            // Longer than tracking.timeout_s.
            usleep(2_500_000)
            #expect(try status(directory).mode == "tracking", "\(eyes.log)")
            #expect(try shell("timeout 10 cat \(Self.photo) > \(camera)") == 0)
            #expect(
                eventually(within: 20) { (try? people(directory))?.following?.box != nil },
                "\(eyes.log)")
            _ = daemon
        }
    }

    @Test("the following ends after people.patience_s without pictures")
    func noPictures() throws {
        if isSkipped { return }
        try withTemporaryDirectory { directory in
            let (daemon, eyes) = try programs(in: directory, patience: 2)
            _ = try client(directory).json("follow", ["action": .string("on")])
            #expect(
                eventually(within: 20) { (try? people(directory))?.following?.box != nil },
                "\(eyes.log)")
            // airframe-eyes accepts commands after its first report on the video.
            #expect(
                eventually(within: 5) {
                    (try? client(directory).json(
                        "camera",
                        [
                            "action": .string("set"),
                            "settings": .array([.string("video.enabled=false")]),
                        ])) != nil
                })
            #expect(
                eventually(within: 6) {
                    (try? people(directory))?.finding
                        == "no person is followed: there are no pictures"
                }, "\(eyes.log)")
            #expect(eventually(within: 3) { (try? status(directory))?.mode == "locked" })
            _ = daemon
        }
    }

    @Test("while the camera sends no pictures, the person's last position is not reported")
    func oldPosition() throws {
        if isSkipped { return }
        try withTemporaryDirectory { directory in
            let (daemon, eyes) = try programs(in: directory)
            _ = try client(directory).json("follow", ["action": .string("on")])
            #expect(
                eventually(within: 20) { (try? people(directory))?.following?.box != nil },
                "\(eyes.log)")
            // airframe-eyes accepts commands after its first report on the video.
            let settings: [JSONValue] = [.string("video.enabled=false")]
            #expect(
                eventually(within: 5) {
                    (try? client(directory).json(
                        "camera", ["action": .string("set"), "settings": .array(settings)])) != nil
                })
            #expect(
                eventually(within: 8) {
                    (try? people(directory))?.finding.contains("the camera sends no pictures")
                        == true
                }, "\(eyes.log)")
            let report = try #require(try people(directory))
            #expect(report.following == FollowingState(isActive: true, people: 0))
            _ = daemon
        }
    }
}
