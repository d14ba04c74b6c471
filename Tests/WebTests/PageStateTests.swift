import Client
import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("The page in Chromium: states", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct PageStateTests {
    @Test("while requests are refused, the pad shows the reason, and does not claim to turn")
    func refused() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            _ = try rig.ask("mode", ["mode": "inactive"])
            try page.touch("touchStart", try page.middle(of: ".pad"))
            let state = "document.querySelector('#pad-state').textContent"
            #expect(try page.wait("\(state).includes('motors are off')", within: 5) != nil)
            #expect(try page.value("document.querySelector('.pad.turning') === null") == true)
            try page.touch("touchEnd")
        }
    }

    @Test("the page and airframectl call the same reasons problems")
    func problems() throws {
        try withPage { _, _, page in
            for words in Conditions.catalogue
            where Supervisor.inhibiting.intersects(words.condition) {
                let reason = Inhibition(name: words.name, sentence: "A reason.")
                let headline = try page.value(
                    """
                    (async () => {
                      const { summary } = await import('/js/live.js');
                      const inhibitions = [{ name: '\(words.name)', sentence: 'A reason.' }];
                      return summary({ enabled: false, mode: 'locked', inhibitions }).headline;
                    })()
                    """)
                #expect(headline == (reason.isProblem ? "NOT MOVING" : "OFF"), "\(words.name)")
            }
        }
    }

    @Test("while the motors ramp down at a user's request, the page states that they stop")
    func stopping() throws {
        try withPage { _, _, page in
            let summary = try page.value(
                """
                (async () => {
                  const { summary } = await import('/js/live.js');
                  return summary({ enabled: true, state: 'soft stop', mode: 'inactive',
                    error_deg: { yaw: 0, roll: 0, pitch: 0 },
                    inhibitions: [{ name: 'inactive_mode', sentence: 'The mode is inactive.' }] });
                })()
                """)
            // The first line of `airframectl status` contains the same words.
            #expect(summary["headline"] == "STOPPING")
            #expect(
                summary["sentences"] == [
                    "The motors ramp down, and are then switched off.", "The mode is inactive.",
                ])
        }
    }

    @Test("a notice that moves the pad under the finger does not change the direction of the turn")
    func movedPad() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.value("scrollTo(0, 0)")
            let middle = try page.value(
                "(() => { const b = document.querySelector('.pad').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
            )
            let x = try #require(middle.array?.first?.number)
            let y = try #require(middle.array?.last?.number)
            // The knob is displaced by the fraction of the largest rate that the pad requests.
            let knob =
                "new DOMMatrixReadOnly(getComputedStyle(document.querySelector('.knob')).transform)"
            try page.touch("touchStart", (x, y))
            try page.touch("touchMove", (x + 80, y))
            try #require(try page.wait("\(knob).m41 > 50") != nil)
            // The bar with the temporary changes of all clients is above the pad.
            _ = try rig.ask("set", ["key": "tracking.max_rate_dps", "value": 50, "rollback": 20])
            try #require(try page.wait("!document.querySelector('#trials').hidden") != nil)
            try page.touch("touchMove", (x + 60, y))
            try #require(try page.wait("\(knob).m41 > 10 && \(knob).m41 < 50") != nil)
            let vertical = try page.value("\(knob).m42").number ?? .nan
            #expect(abs(vertical) < 1, "\(vertical)")
            try page.touch("touchEnd")
        }
    }

    @Test("the pad ends the following of a person, and turns the camera")
    func padWhileFollowing() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            // The mode must not end while a slow browser starts the touch.
            _ = try rig.ask("set", ["key": "tracking.timeout_s", "value": 5])
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            let following: [String: JSONValue] = ["active": true, "people": 1]
            _ = try eyes.json(
                "companion", ["name": "people", "following": .object(following)])
            _ = try rig.ask("follow", ["action": "on"])
            func isAiming() -> Bool { (try? eyes.json("aim", ["yaw": 0, "pitch": 0])) != nil }
            // The page reads the mode every half second.
            let mode =
                "document.querySelector('[data-mode=\"tracking\"]')?.getAttribute('aria-pressed') ?? ''"
            try #require(
                eventually(within: 5) {
                    let isFollowing = isAiming()
                    return isFollowing && (try? page.value(mode)) == "true"
                })
            let (x, y) = try page.middle(of: ".pad")
            try page.touch("touchStart", (x, y))
            try page.touch("touchMove", (x + 60, y))
            #expect(eventually(within: 3) { !isAiming() }, "the program still moves the camera")
            #expect(eventually(within: 3) { (try? rig.number("attitude", "yaw_deg")) ?? 0 > 3 })
            #expect(try page.value("document.querySelector('.pad.turning') !== null") == true)
            try page.touch("touchEnd")
            #expect(eventually(within: 10) { (try? rig.status())?["mode"] == "locked" })
        }
    }

    @Test("a stop that one of the two connections confirms is reported as confirmed")
    func halfConfirmedStop() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            // Without its cookie, the browser can stop the motors only over the open connection.
            try page.call("Network.clearBrowserCookies")
            try page.touch("touchStart", try page.middle(of: "#stop"))
            #expect(eventually(within: 5) { (try? rig.status())?["stopped_by"] != nil })
            let toast = "document.querySelector('#toast').textContent"
            #expect(try page.wait("/mergency stop|cannot stop/.test(\(toast))") != nil)
            // The answer of the other connection can arrive later.
            usleep(300_000)
            #expect(
                try page.value(toast)
                    == "Emergency stop: the motors stay off until the stop is reset.")
            try page.touch("touchEnd")
        }
    }

    @Test("the view Why requests the newest lines of the log first, and then the lines after them")
    func newestLog() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.value(
                """
                (window.logs = [], window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  const request = JSON.parse(text);
                  if (request.method === "log") logs.push(request.params);
                  return window.send.call(this, text);
                }, 1)
                """)
            try page.show("why")
            #expect(try page.wait("logs.length > 0") != nil)
            #expect(try page.value("logs[0].since === undefined") == true)
            try page.show("drive")
            try page.show("why")
            #expect(try page.wait("logs.length > 1") != nil)
        }
    }

    @Test("the view Drive leaves no elements and no listeners in memory")
    func leftView() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            func counters() throws -> (nodes: Int, listeners: Int) {
                try page.call("HeapProfiler.collectGarbage")
                let answer = try page.call("Memory.getDOMCounters")
                return (answer["nodes"]?.int ?? 0, answer["jsEventListeners"]?.int ?? 0)
            }
            func visit() throws {
                for view in ["why", "drive"] { try page.show(view) }
                try #require(try page.wait("document.querySelector('[data-mode]')") != nil)
            }
            try visit()
            let start = try counters()
            for _ in 0..<5 { try visit() }
            // Each leaked view would add about 170 nodes and 38 listeners. A request that has not
            // been answered can keep a view for a short time.
            var end = start
            let isFreed = try eventually(within: 5) {
                end = try counters()
                return end.nodes < start.nodes + 400 && end.listeners < start.listeners + 90
            }
            #expect(isFreed, "\(start), then \(end)")
        }
    }

    @Test("the answer to an earlier choice of a recording does not replace the newest replay")
    func lateReplay() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            for count in 1...2 {
                _ = try rig.ask("record", ["action": "last", "seconds": 2])
                let isSaved = eventually(within: 10) {
                    (try? rig.ask("record"))?["files"]?.int == count
                }
                try #require(isSaved)
            }
            try page.show("recordings")
            let buttons =
                "[...document.querySelectorAll('main button')].filter((b) => b.textContent === 'Replay')"
            try #require(try page.wait("\(buttons).length === 2") != nil)
            // The answer to the first choice arrives after the answer to the second.
            try page.value(
                """
                (window.plots = 0, window.load = window.fetch,
                window.fetch = async (...request) => {
                  const isFirst = String(request[0]).includes("plot=") && plots++ === 0;
                  const answer = await window.load(...request);
                  if (isFirst) await new Promise((resolve) => (window.deliver = resolve));
                  return answer;
                }, \(buttons).forEach((button) => button.click()), 1)
                """)
            let title = "document.querySelector('[aria-label=Replay] h2')?.textContent"
            try #require(try page.wait("window.deliver && \(title)") != nil)
            let newest = try page.value(title)
            try page.value("window.deliver()")
            #expect(try page.wait("\(title) !== \(newest.text)", within: 1) == nil)
        }
    }

    @Test("the button that resets a stop is shown only while an emergency stop is latched")
    func reset() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("why")
            try #require(
                try page.wait("document.querySelector('main .big').textContent !== ''") != nil)
            let buttons =
                "[...document.querySelectorAll('button')].filter((b) => b.textContent === 'Reset the stop' && b.checkVisibility())"
            #expect(try page.value("\(buttons).length") == 0)
            _ = try rig.ask("stop")
            // The alarm, the reason and the section Control each have the button.
            #expect(try page.wait("\(buttons).length === 3") != nil)
            _ = try rig.ask("reset_stop")
            #expect(try page.wait("\(buttons).length === 0") != nil)
        }
    }

    @Test("a pasted search shows only the settings that contain it")
    func pastedSearch() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("tune")
            try #require(try page.wait("document.querySelector('[data-section=control]')") != nil)
            // A paste is a single event, and the section is still closed.
            try page.value(
                "(() => { const s = document.querySelector('#search'); s.value = 'attitude_gain'; s.dispatchEvent(new Event('input')); })()"
            )
            let forms = "[...document.querySelectorAll('.setting')]"
            try #require(try page.wait("\(forms).length > 0") != nil)
            let shown = "\(forms).filter((n) => n.checkVisibility()).map((n) => n.dataset.key)"
            #expect(try page.value(shown) == ["control.attitude_gain"])
            try page.value(
                "(() => { const s = document.querySelector('#search'); s.value = ''; s.dispatchEvent(new Event('input')); })()"
            )
            #expect(try page.value("\(shown).length === \(forms).length") == true)
        }
    }

    @Test("the buttons of a recording are in one row, next to a name of any length")
    func longNames() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let folder = rig.directory.appending("state").appending("recordings")
            if access(folder.string, F_OK) != 0 { try makeDirectory(folder) }
            let lengths = Array(stride(from: 40, through: 90, by: 2))
            for length in lengths {
                let name = String(repeating: "a", count: length) + ".mcap"
                try write("", to: folder.appending(name))
            }
            try page.resize(1280, 860, isPhone: false)
            try page.show("recordings")
            let files = "[...document.querySelectorAll('main li')]"
            try #require(try page.wait("\(files).length === \(lengths.count)") != nil)
            let rows =
                "\(files).map((n) => new Set([...n.querySelectorAll('button, a')].map((b) => b.offsetTop)).size)"
            #expect(try page.value("\(rows).every((count) => count === 1)") == true)
        }
    }

    @Test("the pressed preset follows another client's change and the end of this change")
    func preset() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let pressed =
                "document.querySelector('[data-preset][aria-pressed=true]')?.dataset.preset"
            try #require(try page.wait("\(pressed) === 'normal'") != nil)
            _ = try rig.ask("set", ["key": "follow.preset", "value": "sport", "rollback": 4])
            #expect(try page.wait("\(pressed) === 'sport'") != nil)
            #expect(try page.wait("\(pressed) === 'normal'") != nil)
        }
    }

    @Test("after a lost connection, old values are shown as old until the page is connected again")
    func old() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("why")
            let isOld = "document.documentElement.classList.contains('old')"
            #expect(try page.value(isOld) == false)
            rig.stopWeb()
            #expect(try page.wait(isOld) != nil)
            try rig.startWeb()
            #expect(try page.wait("!\(isOld)") != nil)
        }
    }

    @Test("a page that the server refuses shows the reason")
    func refusedPage() throws {
        try withPage(["web.max_tabs=1"]) { rig, browser, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let second = try browser.page()
            try second.open(rig.address + "/")
            let text = "document.querySelector('#alarm').textContent"
            #expect(try second.wait("\(text).includes('All 1 pages are open')") != nil)
        }
    }

    @Test("the page hides the people in the last report of a companion that hangs")
    func hungCompanion() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            _ = try eyes.json(
                "companion", ["name": "eyes", "following": ["active": true, "people": 1]])
            let isShown = "document.querySelector('.frame').checkVisibility()"
            try #require(try page.wait(isShown) != nil)
            #expect(try page.wait("!\(isShown)") != nil)
            // The connection of the companion is still open.
            _ = try eyes.json("ping")
        }
    }

    @Test("the longest headline fits into the narrowest window", arguments: [320, 375, 390])
    func narrow(width: Int) throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.resize(width, 640, isPhone: true)
            let size = try page.value(
                "(() => { document.querySelector('#headline').textContent = 'MOVING, WITH A PROBLEM'; return document.querySelector('#theme').getBoundingClientRect().right; })()"
            )
            #expect(size.number ?? 999 <= Double(width), "\(size.text)")
        }
    }
}
