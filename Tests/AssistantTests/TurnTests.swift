import Testing
import Wire

@testable import Assistant

@Suite("The assistant's tool turn") struct TurnTests {
    /// Begins a turn of 2 s at time 0.
    private func turning() throws -> Bench {
        let bench = try Bench()
        #expect(try bench.call("turn", ["yaw": 10, "duration": 2], id: 7) == [])
        #expect(bench.takeRequests().last == #"rate {"yaw":10}"#)
        return bench
    }

    @Test("a turn repeats its rate within one third of the dead-man time, then stops and answers")
    func whole() throws {
        let bench = try turning()
        var time = 0.0
        var repeats = 0
        while let due = bench.server.deadline, due < 2 {
            #expect(due - time <= 0.3 + 1e-9)
            time = due
            #expect(try bench.tick(now: due - 0.01) == [])
            #expect(bench.takeRequests() == [])
            #expect(try bench.tick(now: due) == [])
            #expect(bench.takeRequests() == [#"rate {"yaw":10}"#])
            repeats += 1
        }
        #expect(repeats == 6)
        let answer = try #require(try bench.tick(now: 2).first)
        #expect(bench.takeRequests() == [#"rate {"yaw":0}"#])
        #expect(answer["id"] == 7)
        #expect(answer["result"]?["structuredContent"]?["turned_s"] == 2.0)
        #expect(bench.server.deadline == nil)
    }

    @Test("a cancelled turn stops immediately, without an answer")
    func cancelled() throws {
        let bench = try turning()
        let cancel: JSONValue = [
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["requestId": 7],
        ]
        #expect(try bench.send(cancel, now: 0.5) == [])
        #expect(bench.takeRequests() == [#"rate {"yaw":0}"#])
        #expect(try bench.tick(now: 3) == [])
        #expect(try bench.send(cancel, now: 4) == [])
        #expect(bench.takeRequests() == [])
    }

    @Test("a turn that is cancelled before the daemon has answered stops the camera")
    func cancelledBeforeAnswer() throws {
        let bench = try Bench()
        bench.memory.cancelled = ["rate"]
        _ = try bench.call("turn", ["yaw": 10, "duration": 2])
        #expect(Array(bench.takeRequests().suffix(2)) == [#"rate {"yaw":10}"#, #"rate {"yaw":0}"#])
        #expect(bench.server.deadline == nil)
    }

    @Test("another motion ends the turn and answers its request; a status request does not")
    func replaced() throws {
        let bench = try turning()
        #expect(try bench.call("status", id: 8, now: 0.5).count == 1)
        #expect(bench.server.deadline != nil)
        let replies = try bench.call("point", ["yaw": 1], id: 9, now: 1)
        #expect(replies.map { $0["id"] } == [9, 7])
        #expect(replies[1]["result"]?["structuredContent"]?["turned_s"] == 1.0)
        #expect(bench.server.deadline == nil)
    }

    @Test(
        "a motion of other axes or motors first stops the turn, also if the motion is refused",
        arguments: [("point", ["pitch": 5]), ("juggle", ["action": "start", "balls": 2])]
            as [(String, [String: JSONValue])], [false, true])
    func stopsFirst(motion: (tool: String, arguments: [String: JSONValue]), isRefused: Bool) throws
    {
        let bench = try turning()
        if isRefused { bench.memory.refused = [motion.tool] }
        let replies = try bench.call(motion.tool, motion.arguments, id: 9, now: 1)
        #expect(replies.map { $0["id"] } == [9, 7])
        #expect((replies[0]["result"]?["isError"] == true) == isRefused)
        let request = JSONValue.object(motion.arguments).text
        #expect(bench.takeRequests() == [#"rate {"yaw":0}"#, "\(motion.tool) \(request)"])
        #expect(bench.server.deadline == nil)
    }

    @Test("a photo during a turn does not end the turn")
    func photo() throws {
        let bench = try turning()
        let replies = try bench.call("camera", ["action": "photo"], id: 8, now: 0.2)
        #expect(replies.map { $0["id"] } == [8])
        #expect(bench.takeRequests() == [#"camera {"action":"photo"}"#])
        #expect(bench.server.deadline != nil)
        #expect(try bench.tick(now: 0.3) == [])
        #expect(bench.takeRequests() == [#"rate {"yaw":10}"#])
    }

    @Test("a stop ends the turn, and the end of the client stops the camera")
    func ends() throws {
        let bench = try turning()
        #expect(try bench.call("stop", id: 8, now: 0.5).map { $0["id"] } == [8, 7])
        let other = try turning()
        other.server.end()
        #expect(other.takeRequests() == [#"rate {"yaw":0}"#])
    }

    @Test("a turn that the daemon refuses to continue ends with the daemon's reason")
    func takenOver() throws {
        let bench = try turning()
        bench.memory.refused = ["rate"]
        let reply = try #require(try bench.tick(now: 0.5).first)
        #expect(reply["id"] == 7)
        #expect(reply["result"]?["isError"] == true)
        #expect(bench.server.deadline == nil)
    }

    @Test("a turn that the dead-man time has ended is not continued, and its answer is an error")
    func late() throws {
        let bench = try turning()
        let reply = try #require(try bench.tick(now: 0.95).first)
        #expect(reply["id"] == 7 && reply["result"]?["isError"] == true)
        let text = reply["result"]?["content"]?.array?.first?["text"]?.string ?? ""
        #expect(text.contains("commander.dead_man_s"), "\(text)")
        #expect(bench.takeRequests() == [#"rate {"yaw":0}"#])
        #expect(bench.server.deadline == nil)
        // Near its end, the turn is complete before the dead-man time ends.
        let other = try turning()
        for time in [0.3, 0.6, 0.9, 1.2] { #expect(try other.tick(now: time) == []) }
        let whole = try #require(try other.tick(now: 2.05).first)
        #expect(whole["result"]?["structuredContent"]?["turned_s"] == 2.0)
    }

    @Test(
        "a turn beyond a limit is refused, and the refusal names the setting",
        arguments: [
            (["yaw": 20, "duration": 5], "mcp.max_travel_deg"),
            (["yaw": 1, "duration": 11], "mcp.max_turn_s"), (["yaw": 1], "duration"),
            (["yaw": 1, "duration": -1], "duration"),
        ] as [([String: JSONValue], String)])
    func limits(arguments: [String: JSONValue], word: String) throws {
        let bench = try Bench()
        let reply = try #require(try bench.call("turn", arguments).first?["result"])
        #expect(reply["isError"] == true)
        let text = reply["content"]?.array?.first?["text"]?.string ?? ""
        #expect(text.contains(word), "\(text)")
        #expect(!bench.takeRequests().contains { $0.hasPrefix("rate") })
    }
}
