import Glibc
import SystemPackage
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
    private static let views = ["drive", "why", "tune", "setup", "recordings"]
    private static let windows = [
        (390, 844, true, false), (390, 844, true, true), (320, 568, true, false),
        (1280, 860, false, false), (1280, 860, false, true),
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
        let script = try CommittedFile("Tests/WebTests/audit.js").text()
        try withPage { rig, page in
            func check(_ place: String) throws {
                let problems = (try page.value(script).array ?? []).compactMap(\.string)
                #expect(problems == [], "\(place)")
            }
            for view in Self.views {
                try page.show(view)
                try prepare(view, page)
                for (width, height, isPhone, isDark) in Self.windows {
                    try page.resize(width, height, isPhone: isPhone, isDark: isDark)
                    try check("\(view), \(width) x \(height)\(isDark ? ", dark" : "")")
                }
                try page.resize(390, 844, isPhone: true)
            }
            // Checks that the audit detects deliberate faults.
            try page.value(
                "document.querySelector('main').insertAdjacentHTML('beforeend', '<h1>x</h1><button id=stop></button><p id=faint>faint</p>'); document.querySelector('#faint').style.color = '#888'; document.querySelector('#faint').style.background = '#777'"
            )
            let found = (try page.value(script).array ?? []).compactMap(\.string)
                .joined(separator: " ")
            for word in ["exactly one h1", "has no name", "occurs twice", "contrast of 1."] {
                #expect(found.contains(word), "\(word): \(found)")
            }
            try page.show("why")
            try page.value(
                "(() => { const b = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Pair'); b.focus(); b.click(); })()"
            )
            try #require(try page.wait("document.querySelector('#pairing').open") != nil)
            try check("pairing")
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

    /// Waits for a view's contents, and opens its folded sections.
    private func prepare(_ view: String, _ page: Chromium.Page) throws {
        switch view {
        case "why": _ = try page.wait("document.querySelectorAll('#checks li').length > 10")
        case "tune":
            _ = try page.wait("document.querySelector('[data-section=control]')")
            try page.value(
                "for (const s of ['control', 'tracking', 'filter', 'log', 'airos']) document.querySelector(`[data-section=${s}]`).open = true"
            )
            _ = try page.wait("document.querySelector('[data-key=\"log.level\"] select')")
        case "setup":
            try page.value("document.querySelector('[data-step=accelerometer]').open = true")
            _ = try page.wait("document.querySelectorAll('.pose').length === 6")
        default: usleep(300_000)
        }
    }

    @Test("the Tab key reaches every control of a view once, in the order of the page")
    func tabOrder() throws {
        try withPage { _, page in
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
        // Waits until the view no longer changes, because the key presses must apply to the same
        // controls.
        usleep(700_000)
        let controls =
            "[...document.querySelectorAll('button, a[href], input, select, summary, [tabindex=\"0\"]')].filter((n) => n.checkVisibility() && !n.disabled && n.tabIndex >= 0)"
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

    /// The pictures of etc/manual/web.md, which `make documents` writes.
    @Test("the manual's pictures exist, and show views of this page")
    func pictures() throws {
        let pictures: [(name: String, view: String, width: Int, height: Int)] = [
            ("web-drive", "drive", 390, 844), ("web-tune", "tune", 1280, 860),
            ("web-setup", "setup", 390, 844), ("web-why", "why", 390, 844),
        ]
        for picture in pictures {
            let file = CommittedFile("etc/manual/pictures/\(picture.name).png")
            if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
                try withPage { rig, page in
                    _ = try rig.ask("point", ["yaw": 25, "pitch": 12, "duration": 0.5])
                    try page.resize(
                        picture.width, picture.height, isPhone: picture.width < 600, scale: 1)
                    if picture.view == "why" {
                        // The view shows a reason for a stop, a refused request and a change of a
                        // setting.
                        _ = try? rig.ask("rate", ["yaw": 5000])
                        _ = try rig.ask("set", ["key": "tracking.max_rate_dps", "value": 60])
                        _ = try rig.ask("stop")
                    }
                    try page.show(picture.view)
                    try prepare(picture.view, page)
                    if picture.view == "tune" {
                        _ = try rig.ask("point", ["yaw": -10, "duration": 1])
                        try page.value(
                            "(() => { const s = document.querySelector('#search'); s.value = 'tracking.max'; s.dispatchEvent(new Event('input')); const i = document.querySelector('[data-key=\"tracking.max_rate_dps\"] input'); i.value = 60; i.dispatchEvent(new Event('change')); })()"
                        )
                    }
                    usleep(6_000_000)
                    try page.value(
                        "document.querySelector('#toast').textContent = ''; scrollTo(0, 0)")
                    try write(try page.picture(), to: file.path)
                }
            }
            let bytes = try bytes(of: file.path)
            #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let text = try CommittedFile("etc/manual/web.md").text()
            #expect(text.contains("pictures/\(picture.name).png"))
        }
    }
}
