import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Assistant

/// Runs `airframectl mcp` with the official SDK as its client, and with the requests in the manual.
@Suite("airframectl mcp with a running daemon") struct AssistantTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    private static let isThere = access(root.appending(".build/peers/venv/mcp").string, F_OK) == 0

    @Test(
        "the official SDK can call every tool in both protocol generations",
        .enabled(if: isThere, "the MCP SDK is not installed: make mcp-peer")
    )
    func sdk() throws {
        let devices = ["drive.board=simulated", "robot.motors=simulated"]
        try converse(
            devices.flatMap { ["--set", $0] },
            ["--manual", Self.root.appending("etc/manual").string])
    }

    @Test(
        "the official SDK tunes an axis: autotune proposes gains, and applies them temporarily",
        .enabled(if: isThere, "the MCP SDK is not installed: make mcp-peer")
    )
    func autotune() throws {
        // The configured inertia is wrong, so that autotune has a reason to propose gains.
        let plant = [
            "hardware.simulation.inertia_factor=2", "control.find_inertia=false",
            "loop.rate_hz=\(Sanitizer.isActive ? 500 : 1000)",
        ]
        try converse(plant.flatMap { ["--set", $0] }, ["--only", "autotune"])
    }

    private func converse(_ arguments: [String], _ options: [String]) throws {
        try withPeer(arguments, seconds: 180) { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            return try Program(
                [
                    Self.python, Self.root.appending("Tests/Peers/assistant.py").string,
                    "--airframectl", try Program.built("airframectl"), "--socket", daemon.socket,
                ] + options, in: daemon.directory)
        }
    }

    @Test("each request of airframed is a tool, except the requests that ToolPolicy excludes")
    func everyRequest() throws {
        let list =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#
        try withDaemon { daemon throws in
            let requests = try #require(try daemon.ask("methods").array).compactMap {
                $0["name"]?.string
            }
            func tools(_ options: String...) throws -> Set<String> {
                let run = try Program.run(
                    [try Program.built("airframectl"), "mcp", "--socket", daemon.socket] + options,
                    in: daemon.directory, input: list + "\n")
                let reply = try JSONValue(parsing: Array(run.output.utf8))
                let tools = try #require(reply["result"]?["tools"]?.array, "\(run.output)")
                return Set(tools.compactMap { $0["name"]?.string })
            }
            let excluded = ToolPolicy.hidden
            #expect(requests.count > 30 && excluded.count < 20)
            // An exclusion without a request would be obsolete.
            #expect(Set(excluded.keys).subtracting(requests) == [])
            #expect(excluded.values.allSatisfy { $0.hasSuffix(".") && $0.count > 20 })
            let expected = requests.filter { excluded[$0] == nil }.map {
                ToolPolicy.names[$0] ?? $0
            }
            #expect(try tools("--allow-reset") == Set(expected + ["shoot"]))
            #expect(
                try tools() == Set(expected + ["shoot"]).subtracting(["reset_stop"]))
        }
    }

    @Test("the server's replies match the conversation in etc/manual/assistants.md")
    func manual() throws {
        let text = try CommittedFile("etc/manual/assistants.md").text()
        let conversations = ProtocolPageTests.conversations(in: text)
        #expect(conversations.count == 2)
        try withDaemon { daemon throws in
            try daemon.status("the motors follow") { $0.isFollowing }
            for conversation in conversations {
                let requests = conversation.compactMap { line in
                    if case .request(let request) = line { request } else { nil }
                }
                let patterns = conversation.compactMap { line in
                    if case .reply(let pattern) = line { pattern } else { nil }
                }
                let run = try Program.run(
                    [try Program.built("airframectl"), "mcp", "--socket", daemon.socket],
                    in: daemon.directory, input: requests.joined(separator: "\n") + "\n")
                let replies = run.output.split(separator: "\n").map(String.init)
                #expect(replies.count == patterns.count, "\(run.output)\(run.errors)")
                // The replies can have another order, because the server answers a stop before
                // waiting requests.
                for pattern in patterns {
                    #expect(
                        replies.contains { ProtocolPageTests.fits($0, pattern) },
                        "\(run.output)\ndoes not contain\n\(pattern)")
                }
            }
        }
    }
}
