import Client
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

/// Condition of the suites: Debian's Chromium is installed. Otherwise they are skipped with a
/// notice.
let hasBrowser: ConditionTrait = .enabled(
    if: Chromium.isInstalled && !Sanitizer.isActive,
    "Chromium is not installed: sudo apt install chromium")

/// Runs `body` with both programs, a browser and its first tab, which has the window size of a
/// phone.
func withPage(
    isHeld: Bool = false, _ settings: [String] = [],
    isPaired: Bool = true, _ body: (Rig, Chromium, Chromium.Page) throws -> Void
) throws {
    try withTemporaryDirectory { directory in
        let rig = try Rig(in: directory, isHeld: isHeld, settings)
        let browser = try Chromium.start()
        let page = try browser.page()
        try page.call("Network.clearBrowserCookies")
        try page.resize(390, 844, isPhone: true)
        try page.open(rig.address + (isPaired ? "/#pair=\(try rig.code())" : "/"))
        try body(rig, browser, page)
    }
}

extension Chromium.Page {
    /// True if the page is connected and permitted to move the camera.
    static let isReady =
        "document.querySelector('.pad')?.getAttribute('aria-disabled') === 'false' && document.documentElement.dataset.live"

    /// Shows a view.
    func show(_ view: String) throws {
        try value("location.hash = '\(view)'")
        try #require(
            try wait("document.querySelector('.bottom nav a[aria-current]').hash === '#\(view)'")
                != nil)
    }
}

@Suite("The page in Chromium: steering", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct SteeringTests {
    @Test("a finger on the pad turns the camera, and the camera stops when the finger is lifted")
    func touch() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let middle = try page.middle(of: ".pad")
            let before = try rig.number("attitude", "yaw_deg")
            try page.touch("touchStart", middle)
            try page.touch("touchMove", (middle.x + 80, middle.y))
            #expect(
                eventually(within: 3) {
                    (try? rig.number("attitude", "yaw_deg")) ?? 0 > before + 10
                })
            let holder = try rig.status()["holder"]?.string ?? ""
            #expect(holder.contains("web, Chrome"), "\(holder)")
            try page.touch("touchEnd")
            try expectRest(rig)
            #expect(page.errors == [])
        }
    }

    @Test("the camera stops when the tab is hidden")
    func hidden() throws {
        try withPage { rig, browser, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try holdPad(page, rig)
            let other = try browser.page()
            try other.call("Page.bringToFront")
            try #require(try page.wait("document.hidden") != nil)
            try expectRest(rig)
        }
    }

    @Test("the camera stops when the connection is lost, although the finger stays on the pad")
    func lost() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try holdPad(page, rig)
            if let web = rig.web { kill(web.process, SIGKILL) }
            try expectRest(rig)
            #expect(
                try page.wait(
                    "document.querySelector('#alarm').textContent.includes('No connection')")
                    != nil)
        }
    }

    @Test("one touch of STOP switches the motors off, even if the WebSocket is blocked")
    func stop() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            // Simulates a lost connection: the page's WebSocket no longer sends anything.
            try page.value("WebSocket.prototype.send = () => {}")
            try page.touch("touchStart", try page.middle(of: "#stop"))
            #expect(
                eventually(within: 2) {
                    (try? rig.status())?["inhibitions"]?.array?.contains {
                        $0["name"] == "emergency_stop"
                    } == true
                })
            #expect(try rig.status()["stopped_by"]?.string?.contains("web, Chrome") == true)
            // Suspends the process airframe-web, so that nothing confirms the next stop.
            let web = try #require(rig.web).process
            kill(web, SIGSTOP)
            defer { kill(web, SIGCONT) }
            try page.touch("touchEnd")
            try page.touch("touchStart", try page.middle(of: "#stop"))
            #expect(
                try page.wait(
                    "document.querySelector('#toast').textContent.includes('is not confirmed')",
                    within: 4) != nil)
        }
    }

    @Test(
        "the second Tab key focuses STOP, arrow keys turn the camera, and Escape stops the motors")
    func keyboard() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.value("document.activeElement.blur()")
            try page.key("Tab")
            try page.key("Tab")
            #expect(try page.value("document.activeElement.id") == "stop")
            let isPad = "document.activeElement.classList.contains('pad')"
            for _ in 0..<20 where try page.value(isPad) == false { try page.key("Tab") }
            try #require(try page.value(isPad) == true)
            let before = try rig.number("attitude", "pitch_deg")
            try page.key("ArrowUp", isDown: true)
            #expect(
                eventually(within: 3) {
                    (try? rig.number("attitude", "pitch_deg")) ?? 0 > before + 5
                })
            try page.key("ArrowUp", isDown: false)
            try expectRest(rig)
            try page.key("Escape")
            #expect(eventually(within: 2) { (try? rig.status())?["stopped_by"] != nil })
        }
    }

    /// Turns the camera with a finger, which stays on the pad.
    private func holdPad(_ page: Chromium.Page, _ rig: Rig) throws {
        let middle = try page.middle(of: ".pad")
        try page.touch("touchStart", middle)
        try page.touch("touchMove", (middle.x + 60, middle.y))
        try #require(eventually(within: 3) { abs((try? rig.number("rate_dps", "yaw")) ?? 0) > 4 })
    }

    /// The camera comes to rest within the daemon's dead-man time of 1 s and the time to brake.
    private func expectRest(_ rig: Rig) throws {
        #expect(
            eventually(within: 1.5) {
                let axes = ["yaw", "roll", "pitch"].map {
                    (try? rig.number("rate_dps", $0)) ?? .nan
                }
                return axes.allSatisfy { abs($0) < 2 }
            })
        let yaw = try rig.number("attitude", "yaw_deg")
        usleep(500_000)
        #expect(abs(try rig.number("attitude", "yaw_deg") - yaw) < 1)
    }
}

@Suite("The page in Chromium: views", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct ViewTests {
    @Test("a slider starts a trial of a value, which counts down and reverts")
    func trial() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("tune")
            try #require(try page.wait("document.querySelector('#trial')") != nil)
            try page.value(
                "(() => { const t = document.querySelector('#trial'); t.value = '5'; t.dispatchEvent(new Event('change')); const s = document.querySelector('#search'); s.value = 'tracking.max_rate'; s.dispatchEvent(new Event('input')); })()"
            )
            let row = "[data-key=\\\"tracking.max_rate_dps\\\"]"
            try #require(try page.wait("document.querySelector(\"\(row)\")") != nil)
            try page.value(
                "(() => { const i = document.querySelector(\"\(row) input[type=range]\"); i.value = 500; i.dispatchEvent(new Event('change')); })()"
            )
            #expect(
                try page.wait(
                    "!document.querySelector('#trials').hidden && document.querySelector('#trials').textContent.includes('reverts in')"
                ) != nil)
            #expect(
                try rig.ask("get", ["keys": ["tracking.max_rate_dps"]]).array?.first?["value"] != 45
            )
            let history = try rig.ask("history").text
            #expect(history.contains("web, Chrome"), "\(history)")
            #expect(try page.wait("document.querySelector('#trials').hidden") != nil)
            #expect(
                try rig.ask("get", ["keys": ["tracking.max_rate_dps"]]).array?.first?["value"] == 45
            )
            #expect(
                try page.wait(
                    "document.querySelector(\"\(row) input[type=number]\").value === '45'") != nil)
            try expectOthersTrial(rig, page)
        }
    }

    @Test("the view Why states the reason for a stop, and its buttons remove the reasons")
    func remedies() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("why")
            try page.touch("touchStart", try page.middle(of: "#stop"))
            try page.touch("touchEnd")
            let button = { (text: String) in
                "[...document.querySelectorAll('[aria-label=State] button')].find((b) => b.textContent === '\(text)')"
            }
            try #require(try page.wait(button("Reset the stop")) != nil)
            #expect(try page.value("\(button("Switch on (locked)")) === undefined") == true)
            try page.value("\(button("Reset the stop")).click()")
            try #require(try page.wait(button("Switch on (locked)")) != nil)
            #expect(try rig.status()["enabled"] == false)
            try page.value("\(button("Switch on (locked)")).click()")
            #expect(eventually(within: 3) { (try? rig.status())?["enabled"] == true })
            #expect(
                try page.wait("document.querySelector('#headline').textContent === 'MOVING'") != nil
            )
            #expect(page.errors == [])
        }
    }

    /// Shows another client's trial with the saved value and the default. The slider of an integer
    /// setting sends integers.
    private func expectOthersTrial(_ rig: Rig, _ page: Chromium.Page) throws {
        let key = "control.feed_forward"
        _ = try rig.ask("set", ["key": .string(key), "value": 0.75])
        _ = try rig.ask("save")
        let difference = "document.querySelector('[data-difference=\"\(key)\"]')?.textContent"
        func expect(_ texts: String...) throws {
            let isShown = texts.map { "\(difference)?.includes('\($0)')" }
                .joined(separator: " && ")
            let time = try page.wait(isShown)
            let text = try page.value(difference)
            #expect(time != nil, "\(texts): \(text.text)")
        }
        try expect("\(key) = 0.75", "Default 1;", "origin of the present value: saved")
        // A change to the default value differs from the saved value.
        _ = try rig.ask("set", ["key": .string(key), "value": 1, "rollback": 60])
        try expect("\(key) = 1temporary", "Saved value 0.75, default 1;")
        _ = try rig.ask("set", ["key": .string(key), "value": 0.5, "rollback": 60])
        try expect("\(key) = 0.5temporary", "Saved value 0.75, default 1;")
        #expect(
            try page.wait(
                "document.querySelector('#trials').checkVisibility() && document.querySelector('#trials').textContent.includes('control.feed_forward')"
            ) != nil)
        try page.value(
            "(() => { const s = document.querySelector('#search'); s.value = 'low_pass_order'; s.dispatchEvent(new Event('input')); })()"
        )
        let slider =
            "document.querySelector('[data-key=\"filter.low_pass_order\"] input[type=range]')"
        try #require(try page.wait(slider) != nil)
        // The type in the daemon decides which sliders are limited to integers.
        let wrong = try page.value(
            "(async () => { const { kind } = await import('/js/settings.js'); const s = new WebSocket(location.origin.replace('http', 'ws') + '/socket', 'airframe'); s.onopen = () => s.send(JSON.stringify({ id: 1, method: 'keys' })); const all = await new Promise((resolve) => (s.onmessage = (e) => resolve(JSON.parse(e.data).result))); return all.filter((one) => { const { type, low, high, bounds, isWhole } = kind(one); const isNumber = ['integer', 'number', 'triple', 'pid'].includes(one.type); return !one.type || (isWhole ?? false) !== (one.type === 'integer') || (isNumber && !(bounds ?? [[low, high]]).every(([a, b]) => a < b)); }).map((one) => one.key); })()"
        )
        #expect(wrong == .array([]))
        try page.value("\(slider).value = 300; \(slider).dispatchEvent(new Event('change'))")
        #expect(
            eventually(within: 2) {
                (try? rig.ask("get", ["keys": ["filter.low_pass_order"]]))?.array?.first?["value"]
                    == 1
            })
    }

    @Test("after a restart of the daemon the page shows live values again within 2 s")
    func reconnect() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            rig.stopDaemon()
            try #require(
                try page.wait("document.querySelector('#headline').textContent === 'NO CONNECTION'")
                    != nil)
            try rig.startDaemon()
            let wait = try page.wait(
                "document.querySelector('#headline').textContent === 'MOVING'", within: 2)
            #expect(wait != nil)
            print(
                "web: live \(String(format: "%.2f", wait ?? .nan)) s after the daemon's motors are on (bar 2 s)"
            )
        }
    }

    @Test("a request while the WebSocket closes is refused, and the page connects again")
    func requestWhileClosing() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let codes = try page.value(
                """
                (async () => {
                  const { Link } = await import('/js/link.js');
                  const link = new Link(location.origin.replace('http', 'ws') + '/socket');
                  const opened = () => new Promise((resolve) => link.addEventListener('open', resolve, { once: true }));
                  let open = opened();
                  link.connect();
                  await open;
                  open = opened();
                  link.restart();
                  const codes = [await link.request('status').then(() => 'answered', (error) => error.code)];
                  await open;
                  codes.push(await link.request('status').then(() => 'answered', (error) => error.code));
                  return codes;
                })()
                """)
            #expect(codes == .array(["lost", "answered"]))
            #expect(page.errors == [])
        }
    }

    @Test("without a token, the page shows values but cannot change anything")
    func unpaired() throws {
        try withPage(isPaired: false) { rig, _, page in
            try #require(try page.wait("document.documentElement.dataset.live") != nil)
            #expect(
                try page.value("document.querySelector('.pad').getAttribute('aria-disabled')")
                    == "true")
            try page.touch("touchStart", try page.middle(of: "#stop"))
            #expect(
                try page.wait(
                    "document.querySelector('#toast').textContent.includes('pair this page first')")
                    != nil
            )
            #expect(try rig.status()["stopped_by"] == nil)
            let answer = try page.value(
                "new Promise((resolve) => { const s = new WebSocket(location.origin.replace('http', 'ws') + '/socket', 'airframe'); s.onopen = () => s.send(JSON.stringify({ id: 1, method: 'mode', params: { mode: 'inactive' } })); s.onmessage = (e) => resolve(JSON.parse(e.data).error.code); })"
            )
            #expect(answer == "permission_denied")
            #expect(try rig.status()["mode"] == "locked")
            // Everyone can read the list of recordings. Files, tables and plots need a paired
            // browser.
            let statuses = try page.value(
                "Promise.all(['', '/x.mcap', '/x.mcap?table=tick', '/x.mcap?plot=9'].map((p) => fetch('/recordings' + p).then((r) => r.status)))"
            )
            #expect(statuses == [200, 401, 401, 401])
        }
    }

    @Test("a touch in the video selects the person that a companion follows")
    func follow() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            #expect(
                try page.value("Boolean(document.querySelector('.frame').checkVisibility())")
                    == false)
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            let report: [String: JSONValue] = [
                "name": "eyes",
                "following": ["active": true, "people": 2, "box": [0.25, 0.5, 0.5, 1]],
            ]
            _ = try eyes.json("companion", report)
            try #require(try page.wait("document.querySelector('.frame').checkVisibility()") != nil)
            #expect(
                try page.wait(
                    "document.querySelector('main').textContent.includes('2 people are in the picture')"
                ) != nil)
            let box = try page.value(
                "(() => { const b = document.querySelector('.person').getBoundingClientRect(), f = document.querySelector('.frame').getBoundingClientRect(); return Math.round(100 * b.width / f.width); })()"
            )
            #expect(abs((box.int ?? 0) - 25) <= 1)
            try page.tap(".frame")
            var choice: JSONValue?
            #expect(
                eventually(within: 2) {
                    choice = (try? eyes.json("companion", report))?["choice"]
                    return choice != nil
                })
            #expect(choice?["action"] == "point")
            #expect(abs((choice?["x"]?.number ?? 0) - 0.5) < 0.05)
            #expect(eventually(within: 2) { (try? rig.status()["mode"]) == "tracking" })
        }
    }

    @Test(
        "with web.read_without_token = false, a browser without a token gets only the pairing form")
    func closed() throws {
        try withPage(["web.read_without_token=false"], isPaired: false) { rig, _, page in
            #expect(try page.wait("document.querySelector('#pairing').open") != nil)
            #expect(try page.value("fetch('/recordings').then((r) => r.status)") == 401)
            let code = try rig.code()
            try page.value(
                "document.querySelector('#code').value = '\(code)'; document.querySelector('#pairing form').requestSubmit()"
            )
            #expect(try page.wait(Chromium.Page.isReady) != nil)
        }
    }
}
