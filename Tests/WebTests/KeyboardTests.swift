import Glibc
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("The page by keyboard alone", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct KeyboardTests {
    /// Runs `body` with a page in the window size of a computer.
    private func withDesktop(
        isPaired: Bool = true, _ body: (Rig, Chromium.Page) throws -> Void
    ) throws {
        try withPage(isPaired: isPaired) { rig, _, page in
            try page.resize(1280, 860, isPhone: false)
            let ready = isPaired ? Chromium.Page.isReady : "document.documentElement.dataset.live"
            try #require(try page.wait(ready) != nil)
            try body(rig, page)
            #expect(page.errors == [])
        }
    }

    /// Opens a view with its link.
    private func open(_ view: String, _ page: Chromium.Page) throws {
        try page.tab(to: "n.hash === '#\(view)'")
        try page.key("Enter")
        try #require(
            try page.wait(
                "document.querySelector('.bottom nav a[aria-current]').hash === '#\(view)'")
                != nil)
    }

    @Test("the keyboard pairs the browser, selects a mode, and resets a stop")
    func drive() throws {
        try withDesktop(isPaired: false) { rig, page in
            try page.tab(to: "n.textContent === 'Pair'")
            try page.key("Enter")
            try #require(try page.wait("document.activeElement.id === 'code'") != nil)
            try page.insert(try rig.code())
            try page.key("Enter")
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            for mode in ["inactive", "locked"] {
                try page.tab(to: "n.dataset.mode === '\(mode)'")
                try page.key(" ")
                #expect(eventually(within: 8) { (try? rig.status())?["mode"]?.string == mode })
            }
            try page.tab(to: "n.id === 'pitch'")
            try page.value("document.activeElement.select()")
            try page.insert("-12")
            try page.key("Enter")
            #expect(
                eventually(within: 8) {
                    abs(((try? rig.number("attitude", "pitch_deg")) ?? 0) + 12) < 1
                })
            try page.key("Escape")
            try #require(try page.wait("document.querySelector('#alarm button')") != nil)
            try page.tab(to: "n.textContent === 'Reset the stop'")
            try page.key("Enter")
            #expect(eventually(within: 8) { (try? rig.status())?["stopped_by"] == nil })
        }
    }

    @Test("the keyboard moves the slider of a setting, and keeps the change")
    func tune() throws {
        try withDesktop { rig, page in
            try open("tune", page)
            try page.tab(to: "n.id === 'search'")
            try page.insert("tracking.max_rate")
            let slider =
                "n.type === 'range' && n.closest('[data-key=\"tracking.max_rate_dps\"]')"
            try page.tab(to: slider)
            try page.key("ArrowRight")
            try #require(
                try page.wait("document.querySelector('#trials').checkVisibility()") != nil)
            // The form is drawn again with the new value, and the slider keeps the focus.
            #expect(
                try page.wait("((n) => Boolean(\(slider)))(document.activeElement)") != nil)
            try page.tab(to: "n.textContent === 'Keep'")
            try page.key("Enter")
            #expect(try page.wait("document.querySelector('#trials').hidden") != nil)
            let setting = try rig.ask("diff").array?.first { $0["key"] == "tracking.max_rate_dps" }
            #expect(setting?["unsaved"] != true && setting?["saved"]?.number ?? 0 > 45)
        }
    }

    @Test(
        "each press of an arrow key changes the value of a slider, and an unchanged value starts no trial",
        arguments: [
            ("mcp.max_travel_deg", "ArrowRight"), ("servo.delay_ms", "ArrowRight"),
            ("filter.low_pass_order", "ArrowLeft"),
        ])
    func slider(key: String, arrow: String) throws {
        try withDesktop { rig, page in
            func value() throws -> JSONValue {
                try rig.ask("get", ["keys": [.string(key)]]).array?.first?["value"] ?? .null
            }
            try open("tune", page)
            try page.tab(to: "n.id === 'search'")
            try page.insert(key)
            let slider = "document.querySelector('[data-key=\"\(key)\"] input[type=range]')"
            try #require(try page.wait(slider) != nil)
            try page.tab(to: "n.type === 'range' && n.closest('[data-key=\"\(key)\"]')")
            try page.value(
                """
                (window.changes = [], window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  const request = JSON.parse(text);
                  if (request.method === "set") changes.push(request.params.value);
                  return window.send.call(this, text);
                }, 1)
                """)
            let before = try value()
            try page.value("document.activeElement.dispatchEvent(new Event('change'))")
            try page.key(arrow)
            #expect(eventually(within: 5) { ((try? value()) ?? before) != before })
            let changes = try page.value("changes")
            #expect(changes.array?.count == 1, "\(changes.text)")
        }
    }

    @Test("fast presses of an arrow key on a slider are not lost while answers arrive")
    func fastPresses() throws {
        try withDesktop { rig, page in
            let key = "tracking.max_rate_dps"
            try open("tune", page)
            try page.tab(to: "n.id === 'search'")
            try page.insert(key)
            let slider = "n.type === 'range' && n.closest('[data-key=\"\(key)\"]')"
            try page.tab(to: slider)
            // A network that delays each request.
            try page.value(
                """
                (window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  setTimeout(() => this.readyState === WebSocket.OPEN && window.send.call(this, text), 100);
                }, 1)
                """)
            let before = try page.value("Number(document.activeElement.value)").int ?? 0
            for _ in 0..<30 {
                try page.key("ArrowRight")
                usleep(60_000)
            }
            #expect(try page.value("((n) => Boolean(\(slider)))(document.activeElement)") == true)
            #expect(try page.value("Number(document.activeElement.value)").int == before + 30)
            // airframed gets the last value.
            let shown = try page.value(
                "Number(document.querySelector('[data-key=\"\(key)\"] [type=number]').value)")
            #expect(
                eventually(within: 5) {
                    let setting = (try? rig.ask("get", ["keys": [.string(key)]]))?.array?.first
                    return setting?["value"]?.number == shown.number
                })
        }
    }

    @Test("on a small screen, the buttons at the bottom do not cover the control with the focus")
    func uncovered() throws {
        try withPage { _, _, page in
            try page.resize(320, 568, isPhone: true)
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let isVisible =
                "!document.activeElement.closest('main') || document.activeElement.getBoundingClientRect().bottom <= document.querySelector('.bottom').getBoundingClientRect().top"
            for view in ["drive", "shots"] {
                try page.show(view)
                try page.prepare(view)
                for _ in 0..<40 {
                    try page.key("Tab")
                    let name = try page.value("document.activeElement.outerHTML.slice(0, 80)")
                    #expect(try page.wait(isVisible, within: 1) != nil, "\(view): \(name.text)")
                }
            }
        }
    }

    @Test("the mouse above the pad does not change the direction of a held arrow key")
    func hoveringMouse() throws {
        try withDesktop { _, page in
            let middle = try page.middle(of: ".pad")
            func mouse(_ type: String, up: Double = 0) throws {
                let isPress = type == "mousePressed"
                try page.call(
                    "Input.dispatchMouseEvent",
                    [
                        "type": .string(type), "x": .double(middle.x),
                        "y": .double(middle.y - up),
                        "button": .string(type == "mouseMoved" ? "none" : "left"),
                        "buttons": .int(isPress ? 1 : 0), "clickCount": 1,
                    ])
            }
            // The click gives the focus to the pad.
            try mouse("mousePressed")
            try mouse("mouseReleased")
            try page.value(
                "document.querySelector('.pad').addEventListener('pointermove', () => { window.hasMoved = true; })"
            )
            try page.key("ArrowRight", isDown: true)
            let place = "document.querySelector('.pad.turning .knob')?.style.transform ?? ''"
            let held = try page.value(place)
            #expect(held != "")
            try mouse("mouseMoved", up: 60)
            try #require(try page.wait("window.hasMoved") != nil)
            #expect(try page.value(place) == held)
            try page.key("ArrowRight", isDown: false)
        }
    }

    @Test("the keyboard walks through every step of the set-up, and replays a recording")
    func wizard() throws {
        try withDesktop { rig, page in
            try open("setup", page)
            let finished = "document.querySelector('main').textContent"
            for number in 1...9 {
                try page.tab(to: "n.textContent === 'Skip this step'")
                try page.key("Enter")
                let text = number == 9 ? "All steps are finished" : "\(number) of 9 steps"
                try #require(try page.wait("\(finished).includes('\(text)')") != nil, "\(text)")
            }
            var others: [JSONValue] = []
            #expect(
                eventually(within: 4) {
                    let steps = (try? rig.ask("setup"))?["steps"]?.array ?? []
                    others = steps.filter { $0["state"] != "skipped" }
                    return steps.count == 9 && others.isEmpty
                }, "\(others.map(\.text))")
            try open("recordings", page)
            try page.tab(to: "n.textContent === 'Save the last 60 s'")
            try page.key("Enter")
            try #require(try page.wait("document.querySelector('main li code')") != nil)
            try page.tab(to: "n.textContent === 'Replay'")
            try page.key("Enter")
            try #require(try page.wait("document.querySelector('#replay-time')") != nil)
            try page.tab(to: "n.id === 'replay-time'")
            for _ in 0..<20 { try page.key("ArrowRight") }
            let time = try page.value("Number(document.querySelector('#replay-time').value)")
            #expect(abs((time.number ?? 0) - 0.2) < 0.02)
        }
    }

    @Test("the keyboard plans, starts and cancels a shot")
    func shots() throws {
        try withDesktop { rig, page in
            try open("shots", page)
            try #require(
                try page.wait("document.querySelector('form:not([hidden]) #shot-kind')") != nil)
            try page.tab(to: "n.id === 'shot-kind'")
            try page.key("ArrowDown")
            try page.key("ArrowDown")
            #expect(try page.value("document.activeElement.value") == "orbit")
            try page.tab(to: "n.id === 'shot-photos'")
            try page.insert("12")
            try page.tab(to: "n.textContent === 'Show the plan'")
            try page.key("Enter")
            try #require(try page.wait("document.querySelector('img.plan')?.complete") != nil)
            try page.tab(to: "n.textContent === 'Start'")
            try page.key("Enter")
            try #require(
                try page.wait("document.querySelector('main progress:not([hidden])')") != nil)
            try page.tab(to: "n.textContent === 'Cancel the shot'")
            try page.key("Enter")
            try page.key("Enter")
            #expect(
                try page.wait(
                    "document.querySelector('main .big').textContent.startsWith('No shot')") != nil)
        }
    }
}
