import Dispatch
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Web
@testable import WebServing

@Suite("Pairing and tokens") struct AccessTests {
    /// Wall clock that the test sets.
    final class Clock: Sendable {
        private let time = Mutex(1_700_000_000.0)
        var now: Double { time.withLock { $0 } }
        func advance(days: Double) { time.withLock { $0 += days * 86400 } }
    }

    /// Counter of the calls of a function.
    private final class Calls: Sendable {
        private let count = Mutex(0)
        /// Number of the present call, from 1.
        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private func withBook(_ body: (FilePath, Clock, PairedBrowsers) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let clock = Clock()
            try body(
                directory, clock,
                PairedBrowsers(directory: directory.string, days: 30) { clock.now })
        }
    }

    /// Runs `body` with a directory, a clock that is corrected while no time passes, and a function
    /// that reads the browsers as a new process does.
    private func withRestarts(
        _ body: (FilePath, Clock, () -> PairedBrowsers) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let clock = Clock()
            try body(directory, clock) {
                PairedBrowsers(
                    directory: directory.string, days: 30, now: { clock.now }, uptime: { 100 })
            }
        }
    }

    @Test("a token is valid for 30 days, even after a restart")
    func lifetime() throws {
        try withBook { directory, clock, book in
            let token = try book.issue(to: "Firefox, Android")
            clock.advance(days: 29.9)
            let again = PairedBrowsers(directory: directory.string, days: 30) { clock.now }
            #expect(again.browser(token: token)?.name == "Firefox, Android")
            clock.advance(days: 0.2)
            #expect(again.browser(token: token) == nil)
            #expect(again.browsers.isEmpty)
        }
    }

    @Test(
        "a token that was issued with a wrong clock is valid for 30 days after the correction",
        arguments: [1000.0, -1000.0])
    func correction(_ step: Double) throws {
        try withTemporaryDirectory { directory in
            let (clock, uptime) = (Clock(), Clock())
            func advance(days: Double) {
                clock.advance(days: days)
                uptime.advance(days: days)
            }
            func start() -> PairedBrowsers {
                PairedBrowsers(
                    directory: directory.string, days: 30, now: { clock.now },
                    uptime: { uptime.now })
            }
            let first = start()
            let early = try first.issue(to: "early")
            let book = start()
            let token = try book.issue(to: "phone")
            clock.advance(days: step)
            advance(days: 1)
            book.followClock()
            #expect(book.browser(token: token)?.name == "phone")
            // The clock could have been correct when the earlier process issued its token.
            #expect((book.browser(token: early) == nil) == (step > 0))
            advance(days: 28.9)
            book.followClock()
            #expect(book.browser(token: token) != nil)
            #expect(start().browser(token: token) != nil, "the corrected date is saved")
            advance(days: 0.2)
            book.followClock()
            #expect(book.browser(token: token) == nil)
        }
    }

    @Test("a request that arrives immediately after a correction of the clock is not refused")
    func immediately() throws {
        try withRestarts { directory, clock, start in
            let book = start()
            let token = try book.issue(to: "phone")
            clock.advance(days: 60)
            #expect(book.browser(token: token)?.name == "phone")
            #expect(book.browsers.count == 1)
            book.followClock()
            #expect(start().browser(token: token) != nil, "the corrected date is saved")
        }
    }

    @Test("corrected dates that cannot be saved at once are saved later")
    func retry() throws {
        try withRestarts { directory, clock, start in
            let book = start()
            let token = try book.issue(to: "phone")
            // The new file cannot be created while a folder has its name.
            let obstacle = directory.appending("browsers.json.new")
            try makeDirectory(obstacle)
            clock.advance(days: 60)
            book.followClock()
            #expect(start().browser(token: token) == nil)
            #expect(rmdir(obstacle.string) == 0)
            book.followClock()
            #expect(start().browser(token: token)?.name == "phone")
        }
    }

    @Test("a token is checked while a change of the list waits for the disk")
    func slowDisk() throws {
        try withBook { directory, _, book in
            let token = try book.issue(to: "phone")
            // A pipe without a reader blocks the change, as a slow disk does.
            let pipe = directory.appending("browsers.json.new").string
            #expect(mkfifo(pipe, 0o600) == 0)
            let isKnown = DispatchSemaphore(value: 0)
            let hasChanged = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? book.issue(to: "tablet")
                hasChanged.signal()
            }
            usleep(200_000)
            DispatchQueue.global().async {
                if book.browser(token: token) != nil { isKnown.signal() }
            }
            #expect(isKnown.wait(timeout: .now() + 2) == .success)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            #expect(hasChanged.wait(timeout: .now() + 5) == .success)
        }
    }

    @Test("after a correction of the clock, only a separate thread waits for a slow disk")
    func correctionOnSlowDisk() throws {
        try withRestarts { directory, clock, start in
            let book = start()
            let token = try book.issue(to: "phone")
            var settings = WebSettings()
            settings.web.stateDirectory = directory.string
            let files = try #require(PageFiles(directory: Rig.page.string))
            let gateway = Gateway(path: "\(directory)/d.sock", limit: 1)
            defer { gateway.stop() }
            let site = Site(settings, files, book, gateway)
            // A pipe without a reader blocks a change of the list, as a slow disk does.
            let pipe = directory.appending("browsers.json.new").string
            #expect(mkfifo(pipe, 0o600) == 0)
            clock.advance(days: 60)
            let hasEnded = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                for _ in 0..<3 { site.endPagesOfForgotten() }
                hasEnded.signal()
            }
            #expect(hasEnded.wait(timeout: .now() + 2) == .success)
            // The reader lets the blocked change end with an error.
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            unlink(pipe)
            let isSaved = eventually(within: 5) {
                site.endPagesOfForgotten()
                return start().browser(token: token) != nil
            }
            #expect(isSaved)
        }
    }

    @Test("the control socket answers a client that ends its side of the connection, as nc -N does")
    func halfClosed() throws {
        try withBook { directory, _, book in
            var settings = WebSettings()
            settings.web.stateDirectory = directory.string
            let files = try #require(PageFiles(directory: Rig.page.string))
            let gateway = Gateway(path: "\(directory)/d.sock", limit: 1)
            defer { gateway.stop() }
            let site = Site(settings, files, book, gateway)
            let path = "\(directory)/control.sock"
            let control = try ControlSocket(path: path, site: site) { "http://127.0.0.1" }
            defer { control.stop() }
            for id in 1...20 {
                let client = try WebClient(path: path, timeout: 3)
                try client.send(#"{"id":\#(id),"method":"browsers"}"# + "\n")
                let answer = try client.rest()
                #expect(answer.contains(#""id":\#(id),"#) && answer.hasSuffix("\n"), "\(answer)")
            }
            // A client without a request is not kept.
            #expect(try WebClient(path: path, timeout: 3).rest() == "")
        }
    }

    @Test("the file contains only the hash of a token, and only the owner can read the file")
    func hashed() throws {
        try withBook { directory, _, book in
            let token = try book.issue(to: "phone")
            #expect(token.utf8.count == 64)
            let file = directory.appending("browsers.json")
            let text = String(decoding: try bytes(of: file), as: UTF8.self)
            #expect(!text.contains(token))
            #expect(text.contains(try #require(book.browser(token: token)).hash))
            #expect(try shell("test \"$(stat -c %a \(file))\" = 600") == 0)
        }
    }

    @Test("a revoked token is refused, and other tokens stay valid")
    func revoked() throws {
        try withBook { directory, clock, book in
            let (first, second) = (try book.issue(to: "one"), try book.issue(to: "two"))
            let id = try #require(book.browser(token: first)).id
            #expect(try book.revoke { $0.id == id }.map(\.name) == ["one"])
            let again = PairedBrowsers(directory: directory.string, days: 30) { clock.now }
            #expect(again.browser(token: first) == nil)
            #expect(again.browser(token: second) != nil)
        }
    }

    @Test("browsers that are removed while the clock is ahead stay removed after its correction")
    func removedWhileAhead() throws {
        try withRestarts { _, clock, start in
            let token = try start().issue(to: "one")
            let book = start()
            clock.advance(days: 1000)
            #expect(book.browser(token: token) == nil)
            #expect(try book.revoke { _ in true }.map(\.name) == ["one"])
            clock.advance(days: -1000)
            #expect(book.browser(token: token) == nil && book.browsers.isEmpty)
        }
    }

    @Test("a removal reports exactly the browsers that it has removed")
    func reported() throws {
        try withBook { _, _, book in
            _ = try book.issue(to: "one")
            // The list can change between two reads, and with it the browsers that fit.
            let calls = Calls()
            let removed = try book.revoke { _ in calls.next() == 1 }
            #expect(removed.count + book.browsers.count == 1)
        }
    }

    @Test("the list of browsers is bounded, and the newest browsers are kept")
    func bounded() throws {
        try withBook { _, _, book in
            for number in 0..<(PairedBrowsers.limit + 5) { _ = try book.issue(to: "b\(number)") }
            #expect(book.browsers.count == PairedBrowsers.limit)
            #expect(book.browsers.last?.name == "b\(PairedBrowsers.limit + 4)")
        }
    }

    @Test("a token that cannot be saved is not issued")
    func unsaved() throws {
        let book = PairedBrowsers(directory: "/proc/nowhere", days: 30)
        #expect(throws: Errno.self) { try book.issue(to: "phone") }
        #expect(book.browsers.isEmpty)
    }

    @Test(
        "a browser's name is reduced to plain text",
        arguments: [
            ("hall's phone\n\u{1B}[31m", "halls phone31m"), ("", "browser"), ("\u{202E}x", "x"),
            (String(repeating: "ä", count: 40), String(repeating: "ä", count: 24)),
        ])
    func names(_ name: String, _ plain: String) { #expect(PairedBrowsers.plain(name) == plain) }

    private func request(
        _ host: String, isSecure: Bool, _ cookies: [String] = []
    ) -> WebRequest {
        WebRequest(
            method: "GET", path: "/session", query: [:],
            headers: [("host", host), ("cookie", cookies.joined(separator: "; "))], body: [],
            address: "192.168.1.20", isSecure: isSecure, isConnected: { true })
    }

    @Test(
        "a browser that an earlier version has paired stays paired until it is paired again",
        arguments: [false, true])
    func earlierVersion(isSecure: Bool) {
        let (host, earlier) = ("192.168.1.5:8088", "airframe_token=earlier")
        let field = Access.keep("new", days: 30, for: request(host, isSecure: isSecure))
        let new = String(field.value.prefix { $0 != ";" })
        #expect(Access.token(request(host, isSecure: isSecure, [earlier])) == "earlier")
        #expect(Access.token(request(host, isSecure: isSecure, [earlier, new])) == "new")
    }

    @Test(
        "pages of one host name on different ports, and with and without encryption, have separate tokens"
    )
    func cookies() {
        let pages = ["127.0.0.1", "127.0.0.1:8088", "127.0.0.1:8089"].flatMap { host in
            [false, true].map { (host: host, isSecure: $0) }
        }
        // A browser replaces a cookie by another one with the same name.
        var kept: [String: String] = [:]
        for page in pages {
            let field = Access.keep(
                "token-\(page)", days: 30, for: request(page.host, isSecure: page.isSecure))
            let sides = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            kept[String(sides[0])] = String(sides[1])
        }
        let cookies = kept.map { "\($0.key)=\($0.value)" }
        for page in pages {
            let token = Access.token(request(page.host, isSecure: page.isSecure, cookies))
            #expect(token == "token-\(page)", "\(page)")
        }
    }

    @Test("a code is accepted once, and only before it expires")
    func once() {
        let codes = PairingCodes()
        let code = codes.open(seconds: 60, now: 0)
        #expect(codes.check(code, from: "10.0.0.1", now: 1) == .accepted)
        #expect(codes.check(code, from: "10.0.0.1", now: 2) == .closed)
        let late = codes.open(seconds: 60, now: 10)
        #expect(codes.check(late, from: "10.0.0.1", now: 71) == .closed)
    }

    @Test(
        "after five wrong codes an address cannot pair, and attempts within half a second are refused"
    )
    func attempts() {
        let codes = PairingCodes()
        let code = codes.open(seconds: 60, now: 0)
        let wrong = code == "0000-0000" ? "0000-0001" : "0000-0000"
        #expect(codes.check(wrong, from: "10.0.0.1", now: 1) == .wrong)
        #expect(codes.check(code, from: "10.0.0.1", now: 1.4) == .tooSoon)
        for attempt in 0..<4 {
            let outcome = codes.check(wrong, from: "10.0.0.1", now: 2 + Double(attempt))
            #expect(outcome == .wrong)
        }
        #expect(codes.check(code, from: "10.0.0.1", now: 7) == .closed)
        #expect(codes.refused == 7)
    }

    @Test("the wrong codes of a stranger do not prevent the pairing of another browser")
    func stranger() {
        let codes = PairingCodes()
        for now in 0..<100 { _ = codes.check("1", from: "10.0.0.66", now: Double(now) / 10) }
        let code = codes.open(seconds: 600, now: 10)
        for now in 100..<200 { _ = codes.check("1", from: "10.0.0.66", now: Double(now) / 10) }
        #expect(codes.check("2", from: "10.0.0.1", now: 20) == .wrong)
        #expect(codes.check(code, from: "10.0.0.66", now: 21) == .closed)
        #expect(codes.check(code, from: "10.0.0.1", now: 21) == .accepted)
    }

    @Test("twenty wrong codes invalidate the code for every address")
    func manyStrangers() {
        let codes = PairingCodes()
        let code = codes.open(seconds: 600, now: 0)
        for host in 2...20 {
            #expect(codes.check("1", from: "10.0.0.\(host)", now: 1) == .wrong)
        }
        #expect(codes.check("1", from: "10.0.0.1", now: 1) == .wrong)
        #expect(codes.check(code, from: "10.0.0.1", now: 2) == .closed)
    }
}
