import GimbalCore
import Port
import TestSupport
import Testing
import Wire

@testable import Daemon
@testable import Links

@Suite("Reports of companion programs")
struct CompanionTests {
    private let companions = Companions()

    private func report(
        _ params: String, from client: Int = 1, mayWrite: Bool = true
    ) throws(Refusal) {
        let line = #"{"id":1,"method":"companion","params":\#(params)}"#
        guard let request = try? Request(line: Array(line.utf8)) else {
            throw Refusal(.invalidRequest, line)
        }
        let method = companions.method
        let caller = SocketMethod.Caller(
            client: DiagnosticsClient(id: client, pid: 1, user: 1000),
            refusal: mayWrite ? nil : Refusal(.permissionDenied, "no"))
        if method.isWrite { try caller.requireWrite() }
        guard case .now(let body) = method.work else {
            throw Refusal(.internalError, "not answered at once")
        }
        _ = try body(try Parameters(request, method.parameters), caller)
    }

    @Test("a report is shown until its connection closes")
    func life() throws {
        try withDaemon { daemon throws in
            do {
                let companion = try SocketClient(daemon.socket)
                let answer = try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","level":"warn","finding":"no camera","remedy":"plug it in","values":{"clients":2}}}"#
                )
                #expect(answer["error"] == nil)
                let status = try daemon.ask("status")
                let shown = try #require(status["companions"]?.array?.first)
                #expect(shown["report"]?["values"]?["clients"]?.number == 2)
                #expect(try #require(shown["age_s"]?.number) < 5)
                let checks = try #require(try daemon.ask("doctor").array)
                let check = try #require(checks.first { $0["name"]?.string == "eyes" })
                #expect(check["level"]?.string == "warn")
                #expect(check["remedy"]?.string == "plug it in")
                #expect(try daemon.control("status").output.contains("no camera"))
            }
            try daemon.status("the companion has disconnected") {
                $0["companions"]?.array?.isEmpty == true
            }
        }
    }

    @Test("a connected companion without reports is reported as hung")
    func hung() throws {
        let start = Instant(nanoseconds: 1_000_000_000)
        try companions.note(CompanionReport(name: "eyes"), from: 1, now: start)
        let late = try #require(companions.status(now: start.advanced(bySeconds: 5.5)).first)
        #expect(late.check.level == .warn)
        #expect(late.check.finding.contains("no report for 5 s"))
        let soon = try #require(companions.status(now: start.advanced(bySeconds: 4.5)).first)
        #expect(soon.check.level == .ok)
    }

    @Test("a video stream is offered while its companion reports it")
    func stream() throws {
        var report = CompanionReport(name: "eyes")
        report.stream = VideoStream(
            uri: "rtsp://h/s", width: 640, height: 480, rateHz: 30, bitrateKbps: 2000)
        let start = Instant(nanoseconds: 1_000_000_000)
        try companions.note(report, from: 1, now: start)
        #expect(companions.stream(now: start.advanced(bySeconds: 1)) == report.stream)
        #expect(companions.stream(now: start.advanced(bySeconds: 6)) == nil)
        companions.left(1)
        #expect(companions.stream(now: start) == nil)
    }

    @Test("a report from a restarted companion replaces the earlier report")
    func restarted() throws {
        try report(#"{"name":"eyes","finding":"first"}"#, from: 1)
        try report(#"{"name":"eyes","finding":"second"}"#, from: 2)
        companions.left(1)
        let status = companions.status(now: Instant(nanoseconds: 0))
        #expect(status.map(\.report.finding) == ["second"])
    }

    @Test("two companions with one name that replace each other's reports are a warning")
    func contested() throws {
        func note(_ client: Int, _ seconds: Double) throws {
            let now = Instant(seconds: seconds)
            try companions.note(CompanionReport(name: "eyes"), from: client, now: now)
        }
        func check(_ seconds: Double) throws -> DoctorCheck {
            try #require(companions.status(now: Instant(seconds: seconds)).first).check
        }
        try note(1, 1)
        try note(2, 1.25)
        #expect(try check(1.25).level == .ok, "a program that was restarted")
        try note(1, 1.5)
        try note(1, 1.75)
        let contested = try check(1.75)
        #expect(contested.level == .warn && contested.finding.contains("two programs"))
        #expect(!contested.remedy.isEmpty)
        companions.left(2)
        try note(1, 7)
        #expect(try check(7).level == .ok)
    }

    @Test("a companion that changes its name to another companion's name replaces both reports")
    func renamed() throws {
        try report(#"{"name":"eyes","finding":"first"}"#, from: 1)
        try report(#"{"name":"web"}"#, from: 2)
        try report(#"{"name":"eyes","finding":"second"}"#, from: 2)
        let status = companions.status(now: Instant(nanoseconds: 0))
        #expect(status.map(\.report.finding) == ["second"])
    }

    @Test("the number of companions is limited, and a disconnection frees a place")
    func limited() throws {
        for number in 1...Companions.limit { try report(#"{"name":"c\#(number)"}"#, from: number) }
        #expect(throws: Refusal.self) { try report(#"{"name":"more"}"#, from: 9) }
        companions.left(2)
        try report(#"{"name":"more"}"#, from: 9)
        #expect(companions.status(now: Instant(nanoseconds: 0)).count == Companions.limit)
    }

    @Test(
        "an invalid report is refused with the name of the parameter",
        arguments: [
            (#"{}"#, "name"),
            (#"{"name":"Eyes; rm"}"#, "name"),
            (#"{"name":"eyes","level":"great"}"#, "level"),
            (#"{"name":"eyes","values":{"a":"b"}}"#, "values"),
            (#"{"name":"eyes","values":[1]}"#, "values"),
            (#"{"name":"eyes","colour":1}"#, "colour"),
            (#"{"name":"eyes","stream":{"uri":"rtsp://h/s"}}"#, "stream"),
            (
                #"{"name":"eyes","stream":{"uri":"rtsp://h/ s","width":640,"height":480,"rate_hz":30,"bitrate_kbps":2000}}"#,
                "stream"
            ),
            (
                #"{"name":"eyes","finding":"\#(String(repeating: "x", count: Companions.textLimit + 1))"}"#,
                "finding"
            ),
            (
                #"{"name":"eyes","values":{\#((0...Companions.valueLimit).map { "\"v\($0)\":1" }.joined(separator: ","))}}"#,
                "values"
            ),
        ])
    func refused(_ params: String, _ field: String) throws {
        let refusal = try #require(throws: Refusal.self) { try report(params) }
        #expect(refusal.field == field)
        #expect(companions.status(now: Instant(nanoseconds: 0)).isEmpty)
    }

    @Test("a client without write access cannot report")
    func rights() throws {
        let refusal = try #require(throws: Refusal.self) {
            try report(#"{"name":"eyes"}"#, mayWrite: false)
        }
        #expect(refusal.code == .permissionDenied)
    }
}
