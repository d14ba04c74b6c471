import Port
import TestSupport
import Testing
import Wire

@Suite("Examples in etc/manual/protocol.md") struct ProtocolPageTests {
    /// A request or a reply in an example, in order.
    enum Line: Equatable {
        case request(String)
        case reply(String)
    }

    private let text: String

    init() throws { text = try CommittedFile("etc/manual/protocol.md").text() }

    /// Examples of the page; each is one connection.
    private var conversations: [[Line]] { Self.conversations(in: text) }

    /// Extracts the conversations from the code blocks of a page.
    static func conversations(in text: String) -> [[Line]] {
        var blocks: [[Line]] = []
        for (number, block) in text.split(separator: "```").enumerated() where number % 2 == 1 {
            let lines: [Line] = block.split(separator: "\n").compactMap {
                if $0.hasPrefix("→ ") { return .request(String($0.dropFirst(2))) }
                if $0.hasPrefix("← ") { return .reply(String($0.dropFirst(2))) }
                return nil
            }
            if !lines.isEmpty { blocks.append(lines) }
        }
        return blocks
    }

    @Test("the daemon's replies match every example")
    func examples() throws {
        #expect(conversations.count >= 5)
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            for conversation in conversations {
                let client = try SocketClient(daemon.socket)
                for line in conversation {
                    switch line {
                    case .request(let request): try client.send(Array((request + "\n").utf8))
                    case .reply(let pattern):
                        let reply = try client.line()
                        #expect(Self.fits(reply, pattern), "\(reply)\nis not\n\(pattern)")
                    }
                }
            }
        }
    }

    @Test("the page contains every method and every error code")
    func complete() throws {
        try withDaemon { daemon throws in
            let reply = try SocketClient(daemon.socket).ask(#"{"id":1,"method":"xyzzy"}"#)
            let message = try #require(reply["error"]?["message"]?.string)
            let names = message.split(separator: ": ")[1].dropLast().split(separator: ", ")
            #expect(names.count >= 43)
            for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
        }
        for code in Refusal.Code.allCases { #expect(text.contains("`\(code.word)`")) }
    }

    /// Description of a method's parameter in the answer to the request `methods`.
    private static func summary(
        of parameter: String, method: String, in methods: [JSONValue]?
    ) -> String? {
        func member(_ name: String, of values: [JSONValue]?) -> JSONValue? {
            values?.first { $0["name"]?.string == name }
        }
        let parameters = member(method, of: methods)?["parameters"]?.array
        return member(parameter, of: parameters)?["summary"]?.string
    }

    @Test("the parameter since of log is the number of the first line, as its description states")
    func logPages() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            let methods = try client.ask(#"{"id":1,"method":"methods"}"#)["result"]?.array
            let summary = try #require(Self.summary(of: "since", method: "log", in: methods))
            #expect(summary.contains("first line") && summary.contains("`next`"), "\(summary)")
            let page = try client.ask(
                #"{"id":2,"method":"log","params":{"since":0,"limit":1}}"#)["result"]
            #expect(page?["lines"]?.array?.first?["seq"] == 0)
            #expect(page?["next"] == 1)
        }
    }

    @Test("learn of controls replies at once, as the page and the method's description state")
    func learning() throws {
        #expect(text.contains("`learn` replies at once"))
        try withDaemon { daemon throws in
            let methods = try daemon.ask("methods").array
            let summary = try #require(Self.summary(of: "action", method: "controls", in: methods))
            #expect(summary.contains("replies at once"), "\(summary)")
            let begun = try daemon.ask("controls", #"{"action":"learn","seconds":300}"#)
            #expect(begun["learning"] == true && begun["learned"] == nil)
            let ended = try daemon.ask("controls", #"{"action":"cancel"}"#)
            #expect(ended["learning"] == false)
        }
    }

    @Test("a wrong example does not match")
    func strict() {
        #expect(Self.fits(#"{"a":1,"b":2}"#, #"{"a":…,"b":2}"#))
        #expect(!Self.fits(#"{"a":1,"b":2}"#, #"{"a":…,"b":3}"#))
        #expect(!Self.fits(#"{"a":1,"b":2}"#, #"{"a":1}"#))
        #expect(!Self.fits(#"{"a":1,"b":2,"c":3}"#, #"{"a":…,"b":2}"#))
    }

    /// True if the reply matches the pattern, in which `…` matches any text.
    static func fits(_ reply: String, _ pattern: String) -> Bool {
        var parts = pattern.split(separator: "…", omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), reply.hasPrefix(first) else { return false }
        var rest = reply.dropFirst(first.count)
        guard let last = parts.popLast() else { return rest.isEmpty }
        for part in parts {
            guard let place = rest.firstRange(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
