import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Camera pictures for browsers", .serialized, .timeLimit(.minutes(1)))
struct VideoTests {
    private func withVideo(
        _ answer: FakeEyes.Answer = .picture(20_000), _ settings: [String] = [],
        _ body: (Rig, FakeEyes) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("pictures.sock").string
            let eyes = try FakeEyes(path: path, answer)
            defer { eyes.stop() }
            try body(try Rig(in: directory, ["eyes.socket=\"\(path)\""] + settings), eyes)
        }
    }

    /// WebSocket of a paired page that shows the video.
    private func viewer(_ rig: Rig, _ cookie: String, receiveBuffer: Int32? = nil) throws
        -> WebClient
    {
        let client = try WebClient(port: rig.port, receiveBuffer: receiveBuffer)
        try #require(try client.upgrade("/pictures", headers: [cookie]).status == 101)
        return client
    }

    /// Requests a picture, and returns its number.
    private func next(_ client: WebClient) throws -> Int {
        try client.send(message: "next")
        let frame = try client.frame()
        #expect(frame.opcode == 2)
        return Int(frame.payload[2]) << 8 | Int(frame.payload[3])
    }

    @Test(
        "each request gets one picture, newer than the previous one, and two pages share the pictures"
    )
    func pictures() throws {
        try withVideo { rig, eyes in
            let cookie = try rig.cookie()
            let (first, second) = (try viewer(rig, cookie), try viewer(rig, cookie))
            #expect(eyes.requests == 0)
            var numbers: [Int] = []
            for _ in 0..<20 {
                let picture = try next(first)
                let other = try next(second)
                #expect(other >= picture)
                numbers.append(picture)
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == 20)
            // Without a request from a page, airframe-web sends no picture and requests none from
            // airframe-eyes.
            let asked = eyes.requests
            usleep(200_000)
            #expect(try !first.hasMessage() && !second.hasMessage())
            #expect(eyes.requests == asked)
            #expect(
                try eventually(within: 3) { try rig.web("video_pages") == 2 })
        }
    }

    @Test("the page ignores the reports of companions at the same age as airframed")
    func silence() throws {
        let page = try CommittedFile("Sources/Web/Page/js/people.js").text()
        #expect(page.contains("const silence = \(Int(CompanionStatus.silenceLimit));"))
    }

    @Test("only paired browsers of this site get pictures, even if others can read values")
    func rights() throws {
        try withVideo { rig, eyes in
            let cookie = try rig.cookie()
            func status(_ headers: [String]) throws -> Int {
                try WebClient(port: rig.port).upgrade("/pictures", headers: headers).status
            }
            #expect(try status([]) == 401)
            #expect(
                try status(["Cookie: airframe_token=" + String(repeating: "0", count: 64)]) == 401)
            #expect(try status([cookie, "Origin: http://evil.example"]) == 403)
            #expect(try WebClient(port: rig.port).request("GET", "/pictures").status == 404)
            let page = try viewer(rig, cookie)
            _ = try next(page)
            _ = try rig.control("revoke", ["id": "all"])
            #expect(try page.closeCode() == 4001)
            #expect(try status([cookie]) == 401)
            #expect(eyes.requests > 0)
        }
    }

    @Test("pictures are not queued for a page that does not read, and another page is not delayed")
    func slow() throws {
        try withVideo(.picture(200_000)) { rig, eyes in
            let cookie = try rig.cookie()
            let slow = try viewer(rig, cookie, receiveBuffer: 4096)
            let fast = try viewer(rig, cookie)
            _ = try next(fast)
            let before = try rig.megabytes()
            let start = monotonicNow()
            for _ in 0..<60 {
                try slow.send(message: "next")
                _ = try next(fast)
            }
            // The simulated camera needs 20 ms for a picture. The limit of 6 s for 60 pictures
            // allows for a busy computer.
            #expect(monotonicNow() - start < 6)
            #expect(try rig.megabytes() - before < 8)
            // The slow page is still connected, and gets a new picture.
            #expect(try slow.frame().opcode == 2)
        }
    }

    @Test(
        "continuous requests, binary messages and long messages close the connection, and other pages still get pictures"
    )
    func hostile() throws {
        try withVideo { rig, _ in
            let cookie = try rig.cookie()
            let good = try viewer(rig, cookie)
            for attack in [
                WebClient.frame(2, [1]), WebClient.frame(1, [UInt8](repeating: 0x20, count: 17)),
                WebClient.frame(1, [UInt8](repeating: 0x20, count: 100_000)),
            ] {
                let bad = try viewer(rig, cookie)
                try? bad.send(attack)
                #expect(try bad.isClosed())
            }
            let flood = try viewer(rig, cookie)
            let ask = WebClient.frame(1, Array("next".utf8))
            do {
                for _ in 0..<2000 { try flood.send(ask) }
            } catch WebClient.Failure.closed {}
            #expect(try flood.isClosed())
            _ = try next(good)
        }
    }

    @Test(
        "if airframe-eyes refuses, sends invalid data or ends, the page shows the reason, and later recovers"
    )
    func failures() throws {
        try withVideo(.refusal("The camera sends no pictures.")) { rig, eyes in
            let page = try viewer(rig, try rig.cookie())
            try page.send(message: "next")
            #expect(try page.message() == "The camera sends no pictures.")
            eyes.answer(with: .nonsense)
            #expect(try page.message().contains("not a picture"))
            // A picture larger than the limit closes the connection to airframe-eyes, which is then
            // opened again.
            eyes.answer(with: .picture(PictureRelay.pictureLimit + 1))
            #expect(try page.message().contains("has closed the connection"))
            eyes.answer(with: .picture(1000))
            // The first request still waits, and now gets a picture.
            #expect(try page.frame().opcode == 2)
            eyes.stop()
            try page.send(message: "next")
            let isClosed = try page.message()
            #expect(isClosed.contains("has closed") || isClosed.contains("does not answer"))
            let other = try FakeEyes(path: eyes.path)
            defer { other.stop() }
            while true {
                let frame = try page.frame()
                if frame.opcode == 2 { break }
                #expect(frame.text.contains("Check that airframe-eyes is running."))
            }
            // The motors can still be starting.
            #expect(eventually(within: 10) { (try? rig.status()["enabled"]) == true })
        }
    }

    @Test("after a restart of airframe-eyes, each request of a page causes only one request")
    func restart() throws {
        // When airframe-eyes stops, it refuses the waiting request and closes the connection.
        try withVideo(.refusal("airframe-eyes is stopping.")) { rig, eyes in
            let page = try viewer(rig, try rig.cookie())
            try page.send(message: "next")
            #expect(try page.message() == "airframe-eyes is stopping.")
            eyes.stop()
            let other = try FakeEyes(path: eyes.path)
            defer { other.stop() }
            #expect(eventually(within: 5) { other.requests > 0 })
            // A second request would follow on the same connection, after the first answer.
            usleep(700_000)
            #expect(other.requests == 1)
        }
    }
}

@Suite("The page without video, in Chromium", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct RefusedVideoTests {
    @Test("a page whose video is refused shows the reason")
    func reason() throws {
        try withPage(["web.max_tabs=2"]) { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let cookie = try rig.cookie()
            let viewers = try (0..<2).map { _ in
                let viewer = try WebClient(port: rig.port)
                try #require(try viewer.upgrade("/pictures", headers: [cookie]).status == 101)
                return viewer
            }
            var report = CompanionReport(name: "eyes")
            report.stream = VideoStream(
                uri: "rtsp://127.0.0.1:8554/camera", width: 640, height: 480, rateHz: 30,
                bitrateKbps: 2000)
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            let isShown =
                "document.querySelector('.note')?.textContent.includes('Too many pages show the video')"
            // The page ignores a report that is older than 5 s.
            let isExplained = try eventually(within: 15) {
                _ = try eyes.json("companion", report.params)
                return try page.wait(isShown, within: 1) != nil
            }
            #expect(isExplained)
            withExtendedLifetime(viewers) {}
        }
    }
}

@Suite(
    "The video in Chromium", .serialized, .timeLimit(.minutes(1)),
    .enabled(
        if: Chromium.isInstalled && !Sanitizer.isActive,
        "Chromium is not installed: sudo apt install chromium"),
    .enabled(if: EyesProgram.isBuilt, "airframe-eyes is not built: make deps-eyes"))
struct VideoPageTests {
    @Test(
        "the page shows live video, a touch selects a person, and the video recovers after airframe-eyes is killed"
    )
    func video() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("pictures.sock").string
            let rig = try Rig(in: directory, ["eyes.socket=\"\(path)\""])
            let eyes = try EyesProgram(rig, pictures: path)
            let page = try Chromium.start().page()
            try page.call("Network.clearBrowserCookies")
            try page.resize(390, 844, isPhone: true)
            // Without a token, the page gets no pictures.
            try page.open(rig.address + "/")
            try #require(
                try page.wait(
                    "document.querySelector('.note')?.textContent.includes('Pair this browser')")
                    != nil)
            #expect(try page.value(EyesProgram.pictures) == 0)
            try page.open("about:blank")
            try page.open(rig.address + "/#pair=\(try rig.code())")
            try #require(try page.wait("\(EyesProgram.pictures) > 5") != nil)
            let frame = "document.querySelector('.video').toDataURL()"
            try page.value("window.before = \(frame)")
            #expect(try page.wait("\(frame) !== before") != nil)
            #expect(try page.value("document.querySelector('.note').textContent") == "")
            // The picture, the angles and the pad fit above the buttons at the bottom.
            let bottom = try page.value(
                "(() => { scrollTo(0, 0); return document.querySelector('.pad').getBoundingClientRect().bottom - document.querySelector('.bottom').getBoundingClientRect().top; })()"
            )
            #expect((bottom.number ?? .nan) <= 0)

            let picture = CommittedFile("etc/manual/pictures/web-video.png")
            if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
                try page.resize(390, 844, isPhone: true, scale: 1)
                let client = try DaemonClient(path: rig.socket, timeout: 5)
                _ = try client.json("point", ["yaw": 25, "pitch": 8, "duration": 0.5])
                usleep(5_000_000)
                _ = try client.json("ping")
                try write(try page.picture(), to: picture.path)
            }
            #expect(try bytes(of: picture.path).starts(with: [0x89, 0x50, 0x4E, 0x47]))

            let place = try page.middle(of: ".video")
            try page.touch("touchStart", (place.x + 40, place.y - 30))
            try page.touch("touchEnd")
            // The choice of the person and its effect each wait for a report of airframe-eyes.
            #expect(
                eventually(within: 10) {
                    let finding = try? rig.people()?["finding"]?.string
                    return finding != nil && finding != "no person is followed"
                })

            eyes.kill()
            #expect(
                try page.wait(
                    "document.querySelector('.note').textContent.includes('airframe-eyes')")
                    != nil)
            #expect(
                try page.wait("document.querySelector('.video').classList.contains('old')") != nil)
            let again = try EyesProgram(rig, pictures: path)
            let shown = try page.value(EyesProgram.pictures).int ?? 0
            #expect(try page.wait("\(EyesProgram.pictures) > \(shown + 3)") != nil)
            #expect(try page.value("document.querySelector('.note').textContent") == "")
            // The video also continues after a restart of airframe-web.
            rig.stopWeb()
            #expect(
                try page.wait("document.querySelector('.video').classList.contains('old')") != nil)
            try rig.startWeb()
            let later = try page.value(EyesProgram.pictures).int ?? 0
            #expect(try page.wait("\(EyesProgram.pictures) > \(later + 3)") != nil)
            // Another view requests no pictures, so the camera is switched off.
            try page.show("why")
            #expect(
                eventually(within: 6) {
                    (try? rig.eyes()?["finding"]?.string)?.contains("no client") == true
                }, "\(again.log)")
        }
    }
}
