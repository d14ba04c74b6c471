import GimbalCore
import Glibc
import Port
import Testing
import Wire

@testable import Daemon

@Suite("Orders to airframe-eyes")
struct CameraOrderTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func companions() throws -> Companions {
        let companions = Companions()
        var report = CompanionReport(name: "eyes")
        report.capture = CaptureState()
        try companions.note(report, from: 7, now: start)
        return companions
    }

    @Test(
        "orders are delivered in sequence, repeated until the companion acknowledges them, and expire"
    )
    func sequence() throws {
        let companions = try companions()
        let orders = companions.orders
        #expect(orders.next(for: 7, done: 0, now: start) == nil)
        #expect(try orders.add(.photo, for: companions, now: start) == 1)
        #expect(try orders.add(.set, ["video.width=320"], for: companions, now: start) == 2)
        for _ in 0..<2 { #expect(orders.next(for: 7, done: 0, now: start)?.action == .photo) }
        #expect(orders.next(for: 8, done: 0, now: start) == nil)
        let second = try #require(orders.next(for: 7, done: 1, now: start))
        #expect(second == CameraOrder(number: 2, action: .set, settings: ["video.width=320"]))
        let late = start.advanced(bySeconds: CameraOrders.seconds + 0.1)
        #expect(orders.next(for: 7, done: 1, now: late) == nil)
    }

    @Test("an order is refused without a companion that records, or if too many orders are waiting")
    func refused() throws {
        let nobody = Companions()
        #expect(throws: Refusal.self) {
            try nobody.orders.add(.photo, for: nobody, now: start)
        }
        let companions = try companions()
        for _ in 0..<CameraOrders.limit {
            _ = try companions.orders.add(.photo, for: companions, now: start)
        }
        let refusal = #expect(throws: Refusal.self) {
            try companions.orders.add(.photo, for: companions, now: start)
        }
        #expect(refusal?.code == .tooMany)
    }

    @Test("airframectl camera waits for the result, and reports the reason of a failure")
    func commandLine() throws {
        try withDaemon { daemon throws in
            let alone = try daemon.control("camera", "photo")
            #expect(alone.status != 0 && alone.errors.contains("airframe-eyes"), "\(alone)")
            #expect(try daemon.control("camera", "set").status == 64)
            let words = try daemon.control("camera", "set", "rate", "30")
            #expect(words.status == 64 && words.errors.contains("rate has no value."))
            #expect(!words.errors.contains("--set"), "\(words.errors)")
            #expect(try daemon.control("camera", "record", "video.width=1").status == 64)
            let companion = try SocketClient(daemon.socket)
            func report(
                _ order: Int, _ problem: String, isRecording: Bool = true
            ) throws -> JSONValue {
                try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":\#(isRecording),"photos":0,"order":\#(order),"problem":\#(problem)}}}"#
                )
            }
            #expect(try report(0, "null")["error"] == nil)
            let reply = try daemon.ask("camera", #"{"action":"set","settings":["a=1"]}"#)
            #expect(reply["number"]?.int == 1)
            let order = try report(0, "null")["result"]?["order"]
            #expect(order?["settings"]?.array?.first?.string == "a=1")
            // The result is reported before the request, so that the command does not wait.
            _ = try report(2, #""the disk is full""#, isRecording: false)
            let failed = try daemon.control("camera", "record")
            #expect(failed.status != 0 && failed.errors.contains("the disk is full"), "\(failed)")
            _ = try report(3, "null")
            #expect(try daemon.control("camera", "record").status == 0)
            // The problem of an earlier photo is not a problem of the recording.
            _ = try report(4, #""the photo cannot be stored""#)
            #expect(try daemon.control("camera", "record").status == 0)
            #expect(
                try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":1}}}"#
                )["error"]?["field"]?.string == "capture")
        }
    }

    @Test(
        "a recording that is attached to a connection ends with the connection, unless another client has requested a recording",
        arguments: [false, true])
    func attached(isRequestedByOther: Bool) throws {
        try withDaemon { daemon throws in
            do {
                let companion = try SocketClient(daemon.socket)
                let answer = try companion.ask(
                    #"{"id":1,"method":"record","params":{"action":"start","attached":true}}"#)
                #expect(answer["result"]?["recording"]?.bool == true)
                if isRequestedByOther { #expect(try daemon.control("record", "start").status == 0) }
                usleep(300_000)
                #expect(try daemon.ask("record")["recording"]?.bool == true)
            }
            usleep(500_000)
            #expect(try daemon.ask("record")["recording"]?.bool == isRequestedByOther)
        }
    }

    @Test(
        "an attached stop ends the connection's own recording, but not a recording that another client has requested",
        arguments: [false, true])
    func attachedStop(isRequestedByOther: Bool) throws {
        try withDaemon { daemon throws in
            let companion = try SocketClient(daemon.socket)
            _ = try companion.ask(
                #"{"id":1,"method":"record","params":{"action":"start","attached":true}}"#)
            if isRequestedByOther { #expect(try daemon.control("record", "start").status == 0) }
            let answer = try companion.ask(
                #"{"id":2,"method":"record","params":{"action":"stop","attached":true}}"#)
            #expect(answer["result"]?["recording"]?.bool == isRequestedByOther)
            #expect(try daemon.ask("record")["recording"]?.bool == isRequestedByOther)
        }
    }
}
