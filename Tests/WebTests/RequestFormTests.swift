import Client
import Glibc
import TestSupport
import Testing
import Wire

@testable import Web

@Suite(
    "The page in Chromium: requests and camera", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct RequestFormTests {
    @Test("the page has a form for each of the daemon's methods, which sends any request")
    func requests() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("why")
            try page.openRequests("point")
            let offered = try page.value(
                "[...document.querySelectorAll('#method option')].map((n) => n.value)")
            let methods = (try rig.ask("methods").array ?? []).compactMap { $0["name"]?.string }
            let missing = Set(methods).subtracting(
                (offered.array ?? []).compactMap(\.string))
            #expect(missing == ["client", "companion", "subscribe", "unsubscribe"])
            func fill(_ name: String, _ value: String) throws {
                try page.value("document.querySelector('#parameter-\(name)').value = '\(value)'")
            }
            func send() throws -> String {
                try page.value("document.querySelector('#requests form').requestSubmit()")
                let answer = "document.querySelector('#requests pre:not([hidden])')?.textContent"
                try #require(try page.wait(answer) != nil)
                return try page.value(answer).string ?? ""
            }
            try fill("pitch", "-10")
            try fill("duration", "0.5")
            #expect(try send().contains("The camera turns"))
            #expect(
                eventually(within: 8) {
                    abs(((try? rig.number("attitude", "pitch_deg")) ?? 0) + 10) < 1
                })
            // A list, and a refusal of the daemon.
            try page.openRequests("get")
            try fill("keys", "loop.rate_hz tracking")
            let settings = try send()
            #expect(
                settings.contains("loop.rate_hz") && settings.contains("tracking.max_rate_dps"))
            try page.openRequests("pair")
            try fill("action", "allow")
            #expect(try send().contains("Bluetooth is off"))
            #expect(page.errors == [])
        }
    }

    @Test("buttons take a photo and record video while a companion program reports a camera")
    func camera() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            func report(_ isRecording: Bool, done: Int) throws -> JSONValue {
                let capture: JSONValue = [
                    "recording": .bool(isRecording), "photos": .int(done), "order": .int(done),
                ]
                return try eyes.json("companion", ["name": "eyes", "capture": capture])
            }
            func button(_ text: String) -> String {
                "[...document.querySelectorAll('main button')].find((b) => b.textContent === '\(text)' && b.checkVisibility())"
            }
            func order(_ isRecording: Bool, done: Int) -> String? {
                var action: String?
                _ = eventually(within: 8) {
                    action = (try? report(isRecording, done: done))?["order"]?["action"]?.string
                    return action != nil
                }
                return action
            }
            _ = try report(false, done: 0)
            try #require(try page.wait(button("Take a photo")) != nil)
            try page.value("\(button("Take a photo")).click()")
            #expect(order(false, done: 0) == "photo")
            try page.value("\(button("Record video")).click()")
            #expect(order(false, done: 1) == "record")
            _ = try report(true, done: 2)
            try #require(try page.wait(button("End the video")) != nil)
            try page.value("\(button("End the video")).click()")
            #expect(order(true, done: 2) == "stop")
        }
    }

    @Test("on a phone in landscape, STOP is at the side, and attitude and pad fit into the window")
    func landscape() throws {
        try withPage { _, _, page in
            try page.resize(844, 390, isPhone: true)
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let boxes =
                (try page.value(
                    "['.scene', '.pad', '#stop', '.bottom nav'].map((s) => { const b = document.querySelector(s).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
                ).array ?? []).map { ($0.array ?? []).compactMap(\.number) }
            try #require(boxes.allSatisfy { $0.count == 4 } && boxes.count == 4)
            for box in boxes {
                #expect(box[0] >= 0 && box[1] >= 0 && box[2] <= 844 && box[3] <= 390, "\(box)")
            }
            // The pad is at the right of the drawn gimbal, and STOP at the left of both.
            #expect(boxes[0][2] <= boxes[1][0] && boxes[2][2] <= boxes[0][0])
        }
    }
}
