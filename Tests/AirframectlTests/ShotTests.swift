import ArgumentParser
import Client
import Dispatch
import Glibc
import Plot
import Shots
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import airframectl

@Suite("airframectl shoot without a daemon")
struct ShotTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    @Test(
        "the example files are valid and have the expected numbers of photos",
        arguments: [("panorama", 12), ("timelapse", 600), ("keyframes", 2)])
    func examples(name: String, photos: Int) throws {
        let recipe = try ShotFile.read("\(Self.root)/etc/shots/\(name).toml")
        #expect(try ShotFile.plan(recipe).photos == photos)
    }

    @Test("the plan of a panorama has an outline and a number for each photo")
    func picture() throws {
        let plan = try ShotFile.plan(
            try ShotFile.read("\(Self.root)/etc/shots/panorama.toml"))
        let svg = ShotView.figure(plan).svg()
        #expect(svg.split(separator: "<polygon").count == plan.photos + 1)
        #expect(svg.contains(">\(plan.photos)</text>"))
        #expect(svg.hasSuffix("</svg>\n"))
    }

    @Test(
        "an interval is too short only if the pause after a photo delays the next photo",
        arguments: [(0.0, false), (6, false), (20, true)])
    func interval(hold: Double, isShort: Bool) throws {
        var recipe = ShotRecipe(
            .timelapse(.init(photos: 10, interval: 10)), frames: [.init(Pose())])
        recipe.shutter.hold = hold
        let lines = ShotView.lines(try ShotFile.plan(recipe))
        #expect(lines.contains { $0.contains("too short") } == isShort, "\(lines)")
    }

    @Test(
        "a mistake is reported with file, key and remedy",
        arguments: [
            ("[orbit]\nphotos = 1", "orbit.photos = 1 is outside 2...10000."),
            ("[orbit\n", ":1"), ("[orbit]\nphotos = 8\n[shuter]", #"Did you mean "shutter"?"#),
            ("[timelapse]\nphotos = 9\ninterval_s = 1", "[timelapse] needs 1 to 1000 [[frame]]"),
            (
                "[orbit]\nphotos = 8\n[shutter]\nkind = \"mavlink\"\naddress = \"camera\"",
                "shutter.address = \"camera\" is not HOST:PORT"
            ),
        ])
    func mistake(text: String, sentence: String) throws {
        try withTemporaryDirectory { directory throws in
            let path = directory.appending("shot.toml")
            try write(text, to: path)
            let error = #expect(throws: ClientError.self) { try ShotFile.read(path.string) }
            let message = error?.requestError.message ?? ""
            #expect(message.contains("\(path)"))
            #expect(message.contains(sentence), "\(message)")
        }
    }

    @Test("shoot accepts a file, or a kind of shot with its options")
    func commandLine() throws {
        func parse<C: ParsableCommand>(_ line: String, as type: C.Type) throws -> C {
            let words = line.split(separator: " ").map(String.init)
            return try #require(
                try Airframectl.parseAsRoot(GlobalOptions.movedBehindSubcommand(words)) as? C)
        }
        let file = try parse("shoot shots.toml --dry-run --json", as: ShootFileCommand.self)
        #expect(file.path == "shots.toml" && file.shoot.dryRun && file.options.json)
        let orbit = try parse(
            "shoot orbit --photos 9 --pitch -20 --gpio 4", as: ShootOrbitCommand.self)
        let recipe = try orbit.recipe()
        #expect(recipe.shutter.kind == .gpio && recipe.shutter.line == 4)
        #expect(recipe.kind == .orbit(.init(photos: 9, pitch: -20)))
        let both = try parse("shoot orbit --eyes --gpio 4", as: ShootOrbitCommand.self)
        #expect(throws: ValidationError.self) { try both.recipe() }
        let unused = try parse("shoot orbit --eyes --file {number}.jpg", as: ShootOrbitCommand.self)
        #expect(throws: ValidationError.self) { try unused.recipe() }
    }

    @Test(
        "a continued shot uses the files of its earlier run, unless the shutter wrote no files, or writes none now",
        arguments: [
            ("/a/{number}.jpg", "/b/{number}.jpg", "/a/{number}.jpg"),
            ("", "/b/{number}.jpg", "/b/{number}.jpg"), ("/a/{number}.jpg", "", ""),
        ])
    func located(earlier: String, present: String, used: String) throws {
        var recipe = ShotRecipe(.orbit(.init(photos: 4)))
        recipe.shutter.file = earlier
        let saved = ShotRecord(try ShotFile.plan(recipe), originYaw: 0)
        recipe.shutter.file = present
        #expect(ShotRunner.located(recipe, after: saved).shutter.file == used)
        #expect(ShotRunner.located(recipe, after: nil).shutter.file == present)
    }

    @Test("a stored photo counts as taken, although a recording has failed")
    func outcome() {
        var state = CaptureState()
        (state.order, state.photos, state.problem) = (3, 8, "the disk is full")
        #expect(PhotoOutcome(of: 3, before: 7, in: state) == .taken)
        #expect(PhotoOutcome(of: 3, before: 8, in: state) == .failed("the disk is full"))
        #expect(PhotoOutcome(of: 4, before: 7, in: state) == nil)
    }

    @Test("the saved state can be loaded again, and a second run is refused during the first run")
    func store() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/new/folder/shot.json"
            let plan = try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 4))))
            let first = ShotStore(path)
            #expect(try first.load() == nil)
            #expect(try first.activeRun == nil)
            try first.take(patience: 0) { _ in true }
            #expect(try first.activeRun == getpid())
            var record = ShotRecord(plan, originYaw: -3.25)
            record.pending = .init(mark: 7, time: 1_800_000_000.125)
            try first.save(record)
            #expect(try ShotStore(path).load() == record)
            let error = #expect(throws: ClientError.self) {
                try ShotStore(path).take(patience: 0) { _ in true }
            }
            #expect(error?.requestError.message.contains("active (pid \(getpid()))") == true)
        }
    }

    @Test("a state that cannot be read does not count as missing, and the error names the cause")
    func unreadable() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            #expect(try ShotStore(path).load() == nil)
            // Unlike missing permissions, a link to itself is also an obstacle for root.
            #expect(symlink(path, path) == 0)
            let error = #expect(throws: ClientError.self) { try ShotStore(path).load() }
            #expect(error?.exitCode == 66)
            let message = error?.requestError.message ?? ""
            #expect(message.hasPrefix("\(path): the state of the shot cannot be read: "))
            #expect(!message.contains("--again"), "\(message)")
            let pause = try ShootPauseCommand.parse(["--state", path])
            let refusal = #expect(throws: ClientError.self) { try pause.run() }
            #expect(refusal?.exitCode == 66, "\(refusal?.requestError.message ?? "")")
        }
    }

    @Test("a full disk does not count as a file error, after which systemd starts no shot again")
    func fullDisk() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            let record = ShotRecord(
                try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 4)))), originYaw: 0)
            // Each write to this device fails as on a full disk.
            #expect(symlink("/dev/full", path + ".new") == 0)
            let error = #expect(throws: ClientError.self) { try ShotStore(path).save(record) }
            #expect(error?.exitCode == ExitCodes.refused)
            let message = error?.requestError.message ?? ""
            #expect(message.hasPrefix(path) && message.contains("Free disk space"), "\(message)")
            #expect(unlink(path + ".new") == 0)
            try ShotStore(path).save(record)
            #expect(try ShotStore(path).load() == record)
        }
    }

    @Test("a damaged state is an error with a remedy, never a crash and never a new shot")
    func damaged() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            let plan = try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 4))))
            try ShotStore(path).save(ShotRecord(plan, originYaw: 1))
            let file = directory.appending("shot.json")
            let whole = String(decoding: try bytes(of: file), as: UTF8.self)
            let texts = [
                "", "null", "[]", "{}", "\u{0}\u{1}", String(whole.dropLast(9)),
                String(repeating: "[", count: 10_000),
                whole.replacing("\"done\":0", with: "\"done\":-1"),
                whole.replacing("\"done\":0", with: "\"done\":5"),
                whole.replacing("\"done\":0", with: "\"done\":9223372036854775807"),
                whole.replacing("\"done\":0", with: "\"done\":\"many\""),
                whole.replacing("\"photos\":4", with: "\"photos\":-4"),
            ]
            for text in texts {
                #expect(text != whole)
                try write(text, to: file)
                let error = #expect(throws: ClientError.self) { try ShotStore(path).load() }
                let message = error?.requestError.message ?? ""
                #expect(message.contains("--again"), "\(text.prefix(40)): \(message)")
            }
        }
    }

    @Test("a command's photo gets its final name only if the command succeeds")
    func command() throws {
        try withTemporaryDirectory { directory throws in
            func shutter(_ command: String, timeout: Double = 30) -> CommandShutter {
                var settings = ShutterSettings()
                settings.kind = .command
                settings.command = ["sh", "-c", command]
                settings.file = "\(directory)/{number}.jpg"
                settings.timeout = timeout
                return CommandShutter(settings) { usleep(UInt32($0 * 1e6)) }
            }
            let pose = Pose(yaw: 12.345)
            #expect(try shutter("echo {yaw} > {file}").shoot(3, at: pose) == nil)
            #expect(try bytes(of: directory.appending("00003.jpg")) == Array("12.35\n".utf8))
            #expect(shutter("").examine(3, mark: nil) == .taken)
            let failing = shutter("echo half > {file}; exit 3")
            #expect(try failing.shoot(4, at: pose)?.hasSuffix("exit code 3") == true)
            #expect(failing.examine(4, mark: nil) == .notTaken)
            #expect(try shutter("true").shoot(5, at: pose)?.contains("without a photo") == true)
            let endless = shutter("sleep 60", timeout: 0.5)
            #expect(try endless.shoot(6, at: pose)?.contains("within 0.5 s") == true)
        }
    }

    @Test("the placeholders of a command are not replaced in the path of the photo's file")
    func placeholders() throws {
        try withTemporaryDirectory { directory throws in
            let folder = directory.appending("{yaw}{roll}{pitch}")
            try makeDirectory(folder)
            var settings = ShutterSettings()
            settings.kind = .command
            settings.command = ["sh", "-c", "echo {yaw} > '{file}'"]
            settings.file = "\(folder)/{number}.jpg"
            let shutter = CommandShutter(settings) { usleep(UInt32($0 * 1e6)) }
            #expect(try shutter.shoot(1, at: Pose(yaw: 12.345)) == nil)
            #expect(try bytes(of: folder.appending("00001.jpg")) == Array("12.35\n".utf8))
        }
    }

    @Test("a command that cannot be started has taken no photo; a failed command perhaps has")
    func commandEvidence() throws {
        var settings = ShutterSettings()
        settings.kind = .command
        settings.command = ["/no/such/program"]
        let missing = CommandShutter(settings) { usleep(UInt32($0 * 1e6)) }
        #expect(try missing.shoot(1, at: Pose())?.contains("cannot be started") == true)
        #expect(missing.examine(1, mark: nil) == .notTaken)
        settings.command = ["false"]
        let failing = CommandShutter(settings) { usleep(UInt32($0 * 1e6)) }
        #expect(try failing.shoot(1, at: Pose())?.hasSuffix("exit code 1") == true)
        #expect(failing.examine(1, mark: nil) == .unknown)
    }

    @Test(
        "a MAVLink camera receives the photo's number, and a camera without an answer receives the number again"
    )
    func mavlink() throws {
        let camera = try MAVLinkCamera()
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = camera.command(within: 5)
            let second = camera.command(within: 5)
            if second?.command == 2000, second?.confirmation == 1, second?.params[2] == 1,
                second?.params[3] == 42
            {
                camera.answer(0)
            }
            answered.signal()
        }
        #expect(try camera.shutter().shoot(42, at: Pose()) == nil)
        #expect(answered.wait(timeout: .now() + 6) == .success)
    }

    // The resolution of the first address and the connection to the second address, a broadcast
    // address, fail without a network, too.
    @Test(
        "an address that cannot be reached is named with its key, and is not a wrong address, so that the unit continues the shot later",
        arguments: ["[::1::]:14550", "255.255.255.255:14550"])
    func unreachableCamera(address: String) {
        var settings = ShutterSettings()
        settings.address = address
        let error = #expect(throws: ClientError.self) { try MAVLinkShutter(settings) }
        #expect(error?.exitCode == 69)
        let message = error?.requestError.message ?? ""
        #expect(message.hasPrefix("shutter.address = \"\(address)\": "), "\(message)")
        #expect(message.hasSuffix("Check the address and the network."), "\(message)")
    }

    @Test("a late answer of a MAVLink camera does not count as the answer to the next photo")
    func lateAnswer() throws {
        let camera = try MAVLinkCamera()
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = camera.command(within: 5)
            // The second answer belongs to a repetition of the command.
            camera.answer(0)
            camera.answer(0)
            answered.signal()
            _ = camera.command(within: 5)
            camera.answer(2)
            answered.signal()
        }
        let shutter = try camera.shutter()
        #expect(shutter.shoot(1, at: Pose()) == nil)
        #expect(answered.wait(timeout: .now() + 6) == .success)
        #expect(shutter.examine(1, mark: nil) == .unknown)
        #expect(shutter.shoot(2, at: Pose()) == "the camera refused the photo (MAV_RESULT 2)")
        #expect(shutter.examine(2, mark: nil) == .notTaken)
        #expect(answered.wait(timeout: .now() + 6) == .success)
    }

    @Test("a MAVLink camera that reports progress receives the command only once")
    func inProgress() throws {
        let camera = try MAVLinkCamera()
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = camera.command(within: 5)
            camera.answer(5)
            // A command without an answer is repeated after 0.5 s.
            camera.answer(camera.command(within: 0.8) == nil ? 0 : 4)
            answered.signal()
        }
        #expect(try camera.shutter().shoot(1, at: Pose()) == nil)
        #expect(answered.wait(timeout: .now() + 6) == .success)
    }

    @Test("a MAVLink camera's answer counts, but no answer of another system or to another sender")
    func otherAnswers() throws {
        let camera = try MAVLinkCamera()
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = camera.command(within: 5)
            camera.answer(0, from: MAVLinkAddress(system: 7, component: 100))
            camera.answer(0, to: MAVLinkAddress(system: 255, component: 190))
            camera.answer(2, to: MAVLinkAddress(system: 1, component: 191))
            answered.signal()
        }
        let shutter = try camera.shutter()
        #expect(shutter.shoot(1, at: Pose()) == "the camera refused the photo (MAV_RESULT 2)")
        #expect(answered.wait(timeout: .now() + 6) == .success)
    }
}

/// MAVLink camera on a local UDP port. One thread at a time uses it.
private final class MAVLinkCamera: @unchecked Sendable {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    private var own = sockaddr_in()
    private var client = sockaddr_in()
    private var size = socklen_t(MemoryLayout<sockaddr_in>.size)

    init() throws {
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = inet_addr("127.0.0.1")
        try withUnsafeMutablePointer(to: &own) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(descriptor, $0, size) == 0)
                try #require(getsockname(descriptor, $0, &size) == 0)
            }
        }
    }

    deinit { close(descriptor) }

    /// Shutter that uses the camera, with a timeout of 4 s.
    func shutter() throws -> MAVLinkShutter {
        var settings = ShutterSettings()
        settings.address = "127.0.0.1:\(UInt16(bigEndian: own.sin_port))"
        settings.timeout = 4
        return try MAVLinkShutter(settings)
    }

    /// The next command; nil if none arrives within the given time, s.
    func command(within seconds: Double) -> CommandLong? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(seconds * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 300)
        let count = withUnsafeMutablePointer(to: &client) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &bytes, bytes.count, 0, $0, &size)
            }
        }
        var parser = MAVLinkParser()
        parser.append(bytes.prefix(max(0, count)))
        guard case .frame(let frame, _)? = parser.next() else { return nil }
        return frame.message(CommandLong.self)
    }

    /// Answers the newest command with a MAV_RESULT.
    func answer(
        _ result: UInt8, from sender: MAVLinkAddress = MAVLinkAddress(system: 1, component: 100),
        to target: MAVLinkAddress = .none
    ) {
        var answer = CommandAck()
        (answer.command, answer.result, answer.target) = (2000, result, target)
        let bytes = answer.frame(from: sender, sequence: 0)
        withUnsafeMutablePointer(to: &client) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, 0, $0, size)
            }
        }
    }
}
