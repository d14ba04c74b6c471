import Client
import Glibc
import TestSupport
import Testing
import Wire

@testable import Web

@Suite(
    "Accessibility of the page", .serialized, .timeLimit(.minutes(1)),
    .enabled(
        if: Chromium.isInstalled && !Sanitizer.isActive,
        "Chromium is not installed: sudo apt install chromium"))
struct AccessibilityTests {
    private static let views = ["drive", "why", "tune", "setup", "shots", "recordings"]
    private static let windows = [
        (390, 844, true, false), (390, 844, true, true), (320, 568, true, false),
        (844, 390, true, false), (1280, 860, false, false), (1280, 860, false, true),
    ]

    private func withPage(_ body: (Rig, Chromium.Page) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let browser = try Chromium.start()
            let page = try browser.page()
            try page.call("Network.clearBrowserCookies")
            try page.resize(390, 844, isPhone: true)
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try body(rig, page)
        }
    }

    @Test(
        "all controls have names, labels, contrast, order and size, in every view and window size")
    func audit() throws {
        try withPage { _, page in
            for view in Self.views {
                try page.show(view)
                try page.prepare(view)
                try check(view, page)
            }
            try expectFaults(page)
        }
    }

    @Test("every step of the set-up and the form of all requests pass the audit in every window")
    func steps() throws {
        try withPage { _, page in
            try page.show("setup")
            let names = "[...document.querySelectorAll('[data-step]')].map((n) => n.dataset.step)"
            let steps = (try page.value(names).array ?? []).compactMap(\.string)
            #expect(steps.count == 9)
            for step in steps {
                try page.value("document.querySelector('[data-step=\(step)]').open = true")
                let button = "document.querySelector('[data-step=\(step)] button')"
                try #require(try page.wait("\(button)?.checkVisibility()") != nil, "\(step)")
                if step == "sensors" {
                    try page.value("\(button).click()")
                    #expect(
                        try page.wait("document.querySelector('[data-step=sensors] pre')") != nil)
                }
                try check("setup, \(step)", page)
            }
            try page.show("why")
            try page.openRequests("record")
            try check("all requests", page)
        }
    }

    @Test("alarm, trial, camera, people and the form for the code pass the audit in every window")
    func states() throws {
        try withPage { rig, page in
            // Reports of a companion program expire after some seconds, so they are repeated.
            let eyes = try DaemonClient(path: rig.socket, timeout: 5)
            func report() throws {
                let report: [String: JSONValue] = [
                    "name": "eyes",
                    "following": ["active": true, "people": 2, "box": [0, 0, 1, 1]],
                    "capture": ["recording": true, "photos": 3, "order": 0, "free_mb": 1200],
                ]
                _ = try eyes.json("companion", report)
            }
            _ = try rig.ask(
                "set", ["key": "control.feed_forward", "value": 0.5, "rollback": 120])
            try report()
            try #require(
                try page.wait(
                    "document.querySelector('#trials').checkVisibility() && document.querySelector('.frame').checkVisibility()"
                ) != nil)
            try check("trial, camera and people", page, before: report)
            _ = try rig.ask("stop")
            try #require(try page.wait("document.querySelector('#alarm button')") != nil)
            try check("alarm", page)
            try page.show("why")
            try page.prepare("why")
            try check("alarm, why", page)
            _ = try rig.ask("reset_stop")
            try page.value(
                "(() => { const b = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Pair'); b.focus(); b.click(); })()"
            )
            try #require(try page.wait("document.querySelector('#pairing').open") != nil)
            try check("pairing", page)
            // Escape closes the form, and does not stop the motors.
            try page.key("Escape")
            #expect(try page.wait("!document.querySelector('#pairing').open") != nil)
            #expect(try rig.status()["stopped_by"] == nil)
            #expect(try page.value("document.activeElement.textContent") == "Pair")
            // While the form is open, STOP works and the rest of the page is inert.
            try page.key("Enter")
            try #require(try page.wait("document.querySelector('#pairing').open") != nil)
            #expect(try page.value("document.querySelector('main').inert") == true)
            try page.touch("touchStart", try page.middle(of: "#stop"))
            #expect(eventually(within: 2) { (try? rig.status())?["stopped_by"] != nil })
            #expect(page.errors == [])
        }
    }

    /// Audits the present page in every window size.
    private func check(
        _ place: String, _ page: Chromium.Page, before: () throws -> Void = {}
    ) throws {
        for (width, height, isPhone, isDark) in Self.windows {
            try before()
            try page.resize(width, height, isPhone: isPhone, isDark: isDark)
            let problems = try page.audit()
            #expect(problems == [], "\(place), \(width) x \(height)\(isDark ? ", dark" : "")")
        }
        try page.resize(390, 844, isPhone: true)
    }

    /// Checks that the audit detects deliberate faults.
    private func expectFaults(_ page: Chromium.Page) throws {
        try page.value(
            "document.querySelector('main').insertAdjacentHTML('beforeend', '<h1>x</h1><button id=stop></button><p id=faint>faint</p><p id=far>far</p>'); document.querySelector('#faint').style.color = '#888'; document.querySelector('#faint').style.background = '#777'; document.querySelector('#far').style.marginLeft = '-20px'"
        )
        let found = try page.audit().joined(separator: " ")
        for word in [
            "exactly one h1", "has no name", "occurs twice", "contrast of 1.", "outside the window",
        ] {
            #expect(found.contains(word), "\(word): \(found)")
        }
    }

    @Test("the Tab key reaches every control of a view once, in the order of the page")
    func tabOrder() throws {
        try withPage { _, page in
            for view in Self.views { try reachAll(view, page) }
            try page.resize(1280, 860, isPhone: false)
            for view in Self.views { try reachAll(view, page) }
            // The skip link moves the focus to the contents of the view, and does not change the
            // view.
            try page.value("document.querySelector('.skip').focus()")
            try page.key("Enter")
            #expect(try page.wait("document.activeElement.id === 'view'") != nil)
            #expect(
                try page.value("document.querySelector('.bottom nav a[aria-current]').hash")
                    == "#recordings")
            // A focus ring is visible.
            try page.value("document.querySelector('#stop').focus()")
            #expect(
                try page.value(
                    "parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2")
                    == true)
        }
    }

    private func reachAll(_ view: String, _ page: Chromium.Page) throws {
        try page.show(view)
        let controls =
            "[...document.querySelectorAll('button, a[href], input, select, summary, [tabindex=\"0\"]')].filter((n) => n.checkVisibility() && !n.disabled && n.tabIndex >= 0)"
        // Waits until the controls have been the same six times in sequence, because the key
        // presses must apply to the same controls. In a pause of the computer, nothing is counted.
        try page.value("[window.controls, window.same] = [[], 0]")
        let isSame =
            "[controls, controls = \(controls)].reduce((old, now) => old.length === now.length && old.every((n, i) => n === now[i]))"
        for _ in 0..<100 {
            usleep(90_000)
            if try page.value("same = \(isSame) ? same + 1 : 0").int ?? 0 >= 6 { break }
        }
        let count =
            try page.value(
                """
                window.reached = [];
                window.isWatched || document.addEventListener('focusin', (e) => reached.push(e.target));
                window.isWatched = true;
                document.activeElement.blur();
                document.querySelector('.skip').focus();
                \(controls).length
                """
            ).int ?? 0
        #expect(count > 8, "\(view)")
        for _ in 0..<(count + 12) {
            try page.key("Tab")
            if try page.value("reached.length > 2 && reached.at(-1) === reached[0]") == true {
                break
            }
        }
        let missed = try page.value(
            """
            \(controls).filter((n) => !reached.includes(n) && !(n.type === 'radio' && reached.some((r) => r.name === n.name)))
              .map((n) => n.outerHTML.slice(0, 80))
            """)
        #expect(missed == .array([]), "\(view): \(missed.text)")
        #expect(
            try page.value(
                "reached.every((n, i) => !i || n === reached[0] || Boolean(reached[i - 1].compareDocumentPosition(n) & Node.DOCUMENT_POSITION_FOLLOWING))"
            ) == true, "\(view)")
    }

    @Test("changes of state, alarm, trial and answers are announced in live regions")
    func announced() throws {
        try withPage { _, page in
            for (selector, role) in [
                ("#headline", "status"), ("#alarm", "alert"), ("#toast", "status"),
                ("#pad-state", "status"),
            ] {
                #expect(
                    try page.value("document.querySelector('\(selector)').getAttribute('role')")
                        .string == role)
            }
            let label =
                try page.value("document.querySelector('canvas.scene').getAttribute('aria-label')")
                .string ?? ""
            #expect(label.contains("pitch") && label.contains("°"), "\(label)")
        }
    }
}
