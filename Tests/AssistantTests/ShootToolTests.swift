import Testing
import Wire

@testable import Assistant

@Suite("The assistant's tool shoot") struct ShootToolTests {
    private static let orbit: [String: JSONValue] = ["kind": "orbit", "photos": 5]

    /// Calls the tool `shoot`, and returns the result.
    private func shoot(
        _ bench: Bench, _ arguments: [String: JSONValue], now: Double = 0
    ) throws -> JSONValue {
        try #require(try bench.call("shoot", arguments, now: now).first?["result"])
    }

    /// Calls `tick` at each of the server's deadlines until the shot has ended, at most 1000 times.
    /// Returns the time of the end, s.
    @discardableResult private func finish(_ bench: Bench, from begin: Double = 0) throws -> Double
    {
        var now = begin
        for _ in 0..<1000 {
            guard let due = bench.server.deadline else { return now }
            now = max(now, due)
            #expect(try bench.tick(now: now) == [])
        }
        Issue.record("the shot has not ended after 1000 calls")
        return now
    }

    @Test("the schema has the ranges of the shot parameters, and the assistant's highest rate")
    func schema() throws {
        let tools = try #require(try Bench().ask("tools/list").first?["result"]?["tools"]?.array)
        let tool = try #require(tools.first { $0["name"] == "shoot" })
        let numbers = try #require(tool["inputSchema"]?["properties"])
        #expect(numbers["overlap"]?["maximum"]?.number == 0.9)
        #expect(numbers["fov_width"]?["minimum"]?.number == 5)
        #expect(numbers["photos"]?["type"] == "integer" && numbers["photos"]?["maximum"] == 100_000)
        // The pitch range of a panorama is -90...90, the pitch range of an orbit is -180...180.
        #expect(numbers["pitch"]?["maximum"]?.number == 180)
        #expect(numbers["rate_dps"]?["maximum"]?.number == 30)
        #expect(numbers["interval_s"]?["description"]?.string?.hasSuffix("Unit: seconds.") == true)
        #expect(numbers["kind"]?["enum"] == ["panorama", "timelapse", "orbit"])
        #expect(
            numbers["shutter"]?["enum"] == ["none", "eyes"],
            "shutters with commands or GPIO lines are not offered")
        #expect(tool["outputSchema"]?["properties"]?["done"] == ["type": "integer"])
        #expect(tool["annotations"]?["destructiveHint"] == false)
    }

    @Test("a dry run describes the plan and does not move the camera")
    func dryRun() throws {
        let bench = try Bench()
        let reply = try shoot(
            bench,
            ["kind": "panorama", "fov_width": 66, "fov_height": 41, "dry_run": true])
        #expect(reply["structuredContent"]?["state"] == "planned")
        #expect(reply["structuredContent"]?["photos"] == 12)
        #expect(reply["structuredContent"]?["seconds_left"]?.number ?? 0 > 20)
        #expect(bench.server.deadline == nil)
        #expect(!bench.takeRequests().contains { $0.hasPrefix("point") })
    }

    @Test(
        "an orbit begins at the present yaw, and waits at each direction until the camera is still"
    )
    func orbit() throws {
        let bench = try Bench()
        let begun = try shoot(bench, Self.orbit)
        #expect(begun["structuredContent"]?["state"] == "active")
        #expect(begun["isError"] == nil)
        let end = try finish(bench)
        let points = bench.takeRequests().filter { $0.hasPrefix("point") }
        #expect(
            points
                == [10, 82, 154, -134, -62].map {
                    #"point {"pitch":0.0,"rate":30.0,"roll":0.0,"yaw":\#($0).0}"#
                })
        #expect(end >= 5 * 0.5, "0.5 s without motion before each photo")
        let report = try shoot(bench, ["action": "status"])["structuredContent"]
        #expect(report?["state"] == "complete" && report?["done"] == 5)
    }

    @Test("airframe-eyes takes one photo in each direction, and must be connected")
    func eyes() throws {
        let bench = try Bench()
        let arguments = Self.orbit.merging(["shutter": "eyes"]) { own, _ in own }
        let refused = try shoot(bench, arguments)
        #expect(refused["isError"] == true)
        bench.memory.photos = 7
        _ = try shoot(bench, arguments)
        try finish(bench)
        #expect(bench.memory.photos == 12)
        let report = try shoot(bench, [:])["structuredContent"]
        #expect(report?["state"] == "complete")
    }

    @Test("the report of a complete shot names a photo that was perhaps taken twice")
    func doubtful() throws {
        let bench = try Bench()
        (bench.memory.photos, bench.memory.lostPhotos) = (7, 1)
        _ = try shoot(bench, Self.orbit.merging(["shutter": "eyes"]) { own, _ in own })
        try finish(bench)
        let report = try shoot(bench, [:])["structuredContent"]
        #expect(report?["state"] == "complete")
        let sentence = report?["sentence"]?.string ?? ""
        #expect(sentence.hasSuffix("Perhaps double: 1."), "\(sentence)")
    }

    @Test("the camera takes no other photo while the shot waits for the result of its own photo")
    func ownPhoto() throws {
        let bench = try Bench()
        (bench.memory.photos, bench.memory.lostPhotos) = (7, 1)
        _ = try shoot(bench, Self.orbit.merging(["shutter": "eyes"]) { own, _ in own })
        var now = 0.0
        while now < 20, !bench.takeRequests().contains(where: { $0.hasPrefix("camera") }) {
            now = try #require(bench.server.deadline)
            _ = try bench.tick(now: now)
        }
        let reply = try #require(
            try bench.call("camera", ["action": "photo"], now: now).first?["result"])
        #expect(reply["isError"] == true)
        #expect(bench.takeRequests() == [])
        try finish(bench, from: now)
        _ = try #require(try bench.call("camera", ["action": "photo"]).first?["result"])
        #expect(bench.takeRequests().contains { $0.hasPrefix("camera") })
    }

    @Test("a range that was narrowed during a shot ends the shot with the reason")
    func narrowed() throws {
        let bench = try Bench()
        _ = try shoot(
            bench, ["kind": "timelapse", "photos": 3, "interval_s": 5, "yaw": 20, "pitch": 40])
        bench.memory.highestPitch = 10
        try finish(bench)
        let report = try shoot(bench, ["action": "status"])["structuredContent"]
        #expect(report?["state"] == "ended")
        let sentence = report?["sentence"]?.string ?? ""
        #expect(sentence.contains("is outside motion.range_deg"), "\(sentence)")
    }

    @Test("a time-lapse keeps its interval")
    func timelapse() throws {
        let bench = try Bench()
        _ = try shoot(
            bench, ["kind": "timelapse", "photos": 3, "interval_s": 5, "yaw": 20, "pitch": -10])
        let end = try finish(bench)
        #expect((10..<11).contains(end), "\(end)")
        #expect(bench.memory.pose == [30, 0, -10])
    }

    @Test(
        "cancelling, or the client's end, stops the camera; a second start is refused during the first shot"
    )
    func cancel() throws {
        let bench = try Bench()
        _ = try shoot(bench, Self.orbit)
        _ = try bench.tick(now: 0)
        let second = try shoot(bench, Self.orbit)
        #expect(second["isError"] == true)
        _ = bench.takeRequests()
        let report = try shoot(bench, ["action": "cancel"], now: 1)["structuredContent"]
        #expect(report?["state"] == "ended" && report?["done"] == 0)
        let halt = #"rate {"pitch":0,"roll":0,"yaw":0}"#
        #expect(bench.takeRequests() == [halt])
        #expect(bench.server.deadline == nil)
        let other = try Bench()
        _ = try shoot(other, Self.orbit)
        other.server.end()
        #expect(other.takeRequests().last == halt)
    }

    @Test(
        "another request that moves the camera ends the shot; a status request and a photo do not")
    func replaced() throws {
        let bench = try Bench()
        _ = try shoot(bench, Self.orbit)
        _ = try bench.call("status")
        #expect(bench.server.deadline != nil)
        _ = try bench.call("camera", ["action": "photo"])
        #expect(bench.server.deadline != nil)
        _ = try bench.call("point", ["yaw": 1])
        #expect(bench.server.deadline == nil)
        let report = try shoot(bench, [:])["structuredContent"]
        #expect(report?["sentence"]?.string?.contains("another request") == true)
    }

    @Test(
        "the shot ends, with the reason, when a person takes control, moves the camera or changes the mode"
    )
    func takenOver() throws {
        let bench = try Bench()
        _ = try shoot(bench, Self.orbit)
        _ = try bench.tick(now: 0)
        bench.memory.refused = ["point"]
        try finish(bench)
        let report = try shoot(bench, [:])["structuredContent"]
        #expect(report?["state"] == "ended" && report?["done"] == 1)
        #expect(report?["sentence"]?.string?.contains("point is not possible; wait.") == true)
        let moved = try Bench()
        _ = try shoot(moved, Self.orbit)
        _ = try moved.tick(now: 0)
        moved.memory.pose = [0, 0, 0]
        try finish(moved)
        let end = try shoot(moved, [:])["structuredContent"]
        #expect(end?["sentence"]?.string?.contains("another client has moved") == true)
        #expect(moved.memory.pose == [0, 0, 0], "the person's direction stays")
        let other = try Bench()
        _ = try shoot(other, Self.orbit)
        other.memory.mode = "pan_follow"
        _ = try other.tick(now: 0)
        #expect(other.server.deadline == nil)
    }

    @Test(
        "a shot outside a range or a limit is refused before any motion, and the refusal names the parameter",
        arguments: [
            (["kind": "orbit", "photos": 1], "orbit.photos = 1 is outside 2...10000"),
            (["kind": "orbit", "photos": 2], "mcp.max_travel_deg"),
            (["kind": "orbit", "photos": 9, "rate_dps": 31], "mcp.max_rate_dps"),
            (["kind": "orbit", "photos": 9, "overlap": 0.5], "orbit has no parameter"),
            (["kind": "orbit", "photos": 9, "pitch": 100], "Waypoint 1: pitch 100.0° is outside"),
            (["kind": "orbit", "photos": "many"], "is not a whole number"),
            (["kind": "panorama", "fov_width": 66], "panorama.fov_height is missing"),
            (["kind": "mosaic"], "kind must be one of"),
            (["kind": "orbit", "photos": 9, "dry_run": "true"], "dry_run must be true or false."),
            (["action": "start"], "A shot needs kind"),
            (["kind": "orbit", "photos": 9, "shutter": "command"], "shutter must be one of"),
        ] as [([String: JSONValue], String)])
    func limits(arguments: [String: JSONValue], words: String) throws {
        let bench = try Bench()
        let reply = try shoot(bench, arguments)
        #expect(reply["isError"] == true)
        let text = reply["content"]?.array?.first?["text"]?.string ?? ""
        #expect(text.contains(words), "\(text)")
        #expect(bench.server.deadline == nil)
        #expect(!bench.takeRequests().contains { $0.hasPrefix("point") })
    }

    @Test("a shot that would turn around the ends of the yaw joint is refused before any motion")
    func detour() throws {
        let bench = try Bench()
        bench.memory.joint = 0
        let refused = try shoot(bench, ["kind": "orbit", "photos": 8])
        #expect(refused["isError"] == true)
        let text = refused["content"]?.array?.first?["text"]?.string ?? ""
        #expect(text.contains("turn by 315 degrees to waypoint 6, because"), "\(text)")
        #expect(bench.server.deadline == nil)
        #expect(!bench.takeRequests().contains { $0.hasPrefix("point") })
        // A person can turn the handle, so an unreachable end is only named.
        let report = try shoot(bench, ["kind": "orbit", "photos": 5, "turn": 175])
        #expect(report["structuredContent"]?["state"] == "active")
        let sentence = report["structuredContent"]?["sentence"]?.string ?? ""
        #expect(sentence.contains("Waypoint 5: the yaw joint cannot reach"), "\(sentence)")
    }

    @Test(
        "the joint's angle at the camera's target counts, also before the camera has arrived there",
        arguments: [(100, -100, nil), (0, 100, true)] as [(Double, Double, Bool?)])
    func turning(joint: Double, lag: Double, isError: Bool?) throws {
        let bench = try Bench()
        (bench.memory.joint, bench.memory.lag) = (joint, lag)
        let reply = try shoot(bench, ["kind": "orbit", "photos": 5, "turn": 100])
        #expect(reply["isError"]?.bool == isError)
        let sentence = reply["structuredContent"]?["sentence"]?.string ?? ""
        #expect(!sentence.contains("cannot reach"), "\(sentence)")
    }

    @Test("an argument with the value null counts as missing, as in the daemon's methods")
    func nullArguments() throws {
        let bench = try Bench()
        let arguments: [String: JSONValue] = [
            "kind": "orbit", "photos": 5, "turn": .null, "rate_dps": .null, "fov_width": .null,
            "shutter": .null,
        ]
        let begun = try shoot(bench, arguments)
        #expect(begun["structuredContent"]?["state"] == "active", "\(begun.text)")
        let status = try shoot(bench, ["kind": .null])
        #expect(status["structuredContent"]?["state"] == "active", "\(status.text)")
    }

    @Test("a read-only assistant cannot use shoot")
    func readOnly() throws {
        let bench = try Bench(isReadOnly: true)
        #expect(try bench.call("shoot", Self.orbit).first?["error"]?["code"] == -32602)
    }
}
