import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite(
    "The page in Chromium: charts, measurements and recordings", .serialized,
    .timeLimit(.minutes(1)),
    .enabled(
        if: Chromium.isInstalled && !Sanitizer.isActive,
        "Chromium is not installed: sudo apt install chromium"))
struct MeasurementTests {
    func withView(_ view: String, _ body: (Rig, Chromium.Page) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let browser = try Chromium.start()
            let page = try browser.page()
            try page.call("Network.clearBrowserCookies")
            try page.resize(1280, 860, isPhone: false)
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show(view)
            try body(rig, page)
            #expect(page.errors == [])
        }
    }

    func press(_ text: String, _ page: Chromium.Page) throws {
        let button =
            "[...document.querySelectorAll('main button')].find((b) => b.textContent === '\(text)' && !b.disabled)"
        try #require(try page.wait(button) != nil, "\(text)")
        try page.value("\(button).click()")
    }

    @Test("the axis returns from a step response before the user can send another command")
    func leftStep() throws {
        try withView("tune") { rig, page in
            let isShown =
                "[...document.querySelectorAll('main button')].some((b) => b.textContent === 'Step response')"
            try #require(try page.wait(isShown) != nil)
            try page.value(
                """
                (window.points = [], window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  if (JSON.parse(text).method === "point") window.points.push(performance.now());
                  window.send.call(this, text);
                }, 1)
                """)
            try press("Step response", page)
            try #require(try page.wait("window.points.length === 1") != nil)
            try page.value("window.left = performance.now()")
            try page.show("drive")
            try #require(try page.wait("window.points.length === 2") != nil)
            // Without the change of the view, the axis returns after 2 s.
            let delay = try page.value("window.points[1] - window.left").number ?? .infinity
            #expect(delay < 1000, "\(delay) ms")
            usleep(2_500_000)
            #expect(try page.value("window.points.length") == 2)
        }
    }

    @Test(
        "a button starts the measurement of step response and spectrum, and the page also states the results in words"
    )
    func measure() throws {
        try withView("tune") { rig, page in
            // A turn ends with the connection of its client, so the connection stays open.
            let client = try DaemonClient(path: rig.socket, timeout: 5)
            _ = try client.json("point", ["pitch": -15, "duration": 0.5])
            try #require(
                eventually(within: 8) { (try? rig.number("attitude", "pitch_deg")) ?? 0 < -14.5 })
            usleep(300_000)
            try press("Step response", page)
            // A second step would begin at the turned set-point.
            let button =
                "[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Step response')"
            #expect(try page.value("\(button).disabled") == true)
            try #require(
                try page.wait(
                    "document.querySelector('main').textContent.includes('overshoot')")
                    != nil)
            let note =
                try page.value(
                    "document.querySelector('svg.plot').getAttribute('aria-label')"
                ).string ?? ""
            #expect(note.contains("90 % after 0."), "\(note)")
            // The step begins and ends at the angle of the camera.
            #expect(
                eventually(within: 8) {
                    abs(((try? rig.number("attitude", "pitch_deg")) ?? 0) + 15) < 0.5
                })
            try press("Spectrum", page)
            try #require(
                try page.wait(
                    "document.querySelector('main').textContent.includes('Spectrum of the gyroscope')",
                    within: 12) != nil)
            #expect(
                try page.value("document.querySelectorAll('svg.plot path.curve').length").int == 3)
            #expect(try page.audit() == [])
        }
    }

    @Test("the charts show the last minute, can be paused, and can be saved as a table")
    func charts() throws {
        try withView("tune") { _, page in
            try page.value(
                "window.saved = null; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((t) => (saved = t)); return make(blob); }"
            )
            // Counts the messages of the stream of the charts, which has no attitude.
            try page.value(
                """
                (window.rows = 0, window.parse = JSON.parse, JSON.parse = (text) => {
                  const message = window.parse(text);
                  const names = Object.keys(message?.values ?? {});
                  if (names.includes("error.yaw") && !names.includes("attitude.yaw")) rows += 1;
                  return message;
                }, 1)
                """)
            try #require(try page.wait("rows >= 70") != nil)
            try press("Pause", page)
            try press("CSV", page)
            try #require(try page.wait("saved") != nil)
            let lines = (try page.value("saved").string ?? "").split(separator: "\n")
            #expect(
                lines.first
                    == "t,error.yaw,error.roll,error.pitch,rate.yaw,rate.roll,rate.pitch,torque.yaw,torque.roll,torque.pitch"
            )
            #expect(lines.count > 30)
            let times = lines.dropFirst().compactMap { Double($0.prefix { $0 != "," }) }
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            // The slider reaches the oldest value, for each time span of the chart.
            let select = "document.querySelector('[aria-label=\"Live charts\"] select')"
            for (span, most) in [("5", "55"), ("60", "0"), ("10", "50")] {
                try page.value(
                    "\(select).value = '\(span)'; \(select).dispatchEvent(new Event('change'))")
                let slider = "document.querySelector('[aria-label=\"Seconds back\"]')"
                #expect(try page.value("\(slider).max").string == most)
            }
            usleep(500_000)
            try press("CSV", page)
            usleep(200_000)
            let later = (try page.value("saved").string ?? "").split(separator: "\n")
            #expect(later.count == lines.count)
        }
    }

    @Test("tuning values can be stored, changed, restored and exported")
    func baselines() throws {
        try withView("tune") { rig, page in
            try #require(try page.wait("document.querySelector('[data-section=control]')") != nil)
            try page.value("document.querySelector('#baseline').value = 'good'")
            try press("Store the present tuning", page)
            try #require(
                try page.wait("document.querySelector('[aria-label=\"Restore good\"]')") != nil)
            _ = try rig.ask("set", ["key": "control.feed_forward", "value": 0.5])
            try page.value("document.querySelector('[data-section=control]').open = true")
            let field =
                "document.querySelector('[data-key=\"control.feed_forward\"] input[type=number]')?.value"
            try #require(try page.wait("\(field) === '0.5'") != nil)
            // The view reads everything again, but the sections and the buttons of the same tunings
            // stay.
            try page.value(
                "document.querySelector('[data-section=control]').dataset.old = document.querySelector('[aria-label=\"Restore good\"]').dataset.old = true"
            )
            try page.value("document.querySelector('[aria-label=\"Restore good\"]').click()")
            #expect(
                eventually(within: 8) {
                    (try? rig.ask("get", ["keys": ["control.feed_forward"]]))?.array?.first?[
                        "value"] == 1
                })
            try #require(try page.wait("\(field) === '1'") != nil)
            usleep(300_000)
            for node in ["[data-section=control]", "[aria-label=\"Restore good\"]"] {
                #expect(
                    try page.value("document.querySelector('\(node)').dataset.old").string == "true"
                )
            }
            // One press of Delete only asks; the second press deletes.
            try press("Delete", page)
            #expect(try rig.ask("baseline")["names"] == ["good"])
            try press("Delete good?", page)
            #expect(eventually(within: 8) { (try? rig.ask("baseline"))?["names"] == [] })
            // An import starts a trial for each line, and reports the invalid lines.
            try choose("[tracking]\\nmax_rate_dps = 50\\n# note\\nloop.rate_hz = 5\\n", page)
            #expect(
                try page.wait(
                    "document.querySelector('#trials').textContent.includes('tracking.max_rate_dps = 50')"
                ) != nil)
            #expect(
                try page.wait(
                    "document.querySelector('main').textContent.includes('tracking.loop.rate_hz')"
                ) != nil)
            // The export contains the newest change of another client.
            try page.value(
                "window.saved = null; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((t) => (saved = t)); return make(blob); }"
            )
            _ = try rig.ask("set", ["key": "control.feed_forward", "value": 0.25])
            try press("Export", page)
            try #require(try page.wait("saved") != nil)
            let saved = try page.value("saved").string ?? ""
            #expect(saved.contains("tracking.max_rate_dps = 50\n"), "\(saved)")
            #expect(saved.contains("control.feed_forward = 0.25\n"), "\(saved)")
        }
    }

    /// Chooses a file for the import, with this text of JavaScript.
    private func choose(_ text: String, _ page: Chromium.Page) throws {
        try page.value(
            """
            (() => {
              const data = new DataTransfer();
              data.items.add(new File(['\(text)'], 'x.toml'));
              const input = document.querySelector('input[type=file]');
              input.files = data.files;
              input.dispatchEvent(new Event('change'));
            })()
            """)
    }

    @Test("an import applies values that are valid only together with values on later lines")
    func importTogether() throws {
        try withView("tune") { rig, page in
            try #require(try page.wait("document.querySelector('[data-section=control]')") != nil)
            _ = try rig.ask("set", ["key": "commander.release_after_s", "value": 2])
            try choose("[commander]\\ndead_man_s = 3\\nrelease_after_s = 20\\n", page)
            let key: JSONValue = "commander.dead_man_s"
            let isApplied = eventually(within: 8) {
                (try? rig.ask("get", ["keys": [key]]))?.array?.first?["value"] == 3
            }
            #expect(isApplied)
            let toast = "document.body.textContent.includes('2 settings are temporarily changed')"
            #expect(try page.wait(toast) != nil)
        }
    }

    @Test("while a measurement runs, no other one can start, and a button cancels it")
    func oneAtATime() throws {
        try withView("tune") { _, page in
            func button(_ text: String) -> String {
                "[...document.querySelectorAll('main button')].find((b) => b.textContent === '\(text)')"
            }
            try press("Spectrum", page)
            try #require(try page.wait("!\(button("Cancel")).hidden") != nil)
            for other in ["Step response", "Spectrum", "Autotune"] {
                #expect(try page.value("\(button(other)).disabled") == true, "\(other)")
            }
            try press("Cancel", page)
            #expect(try page.wait("!\(button("Autotune")).disabled") != nil)
        }
    }

    @Test("for a servo, autotune on the page states its lag and gain, and no inertia")
    func servoAutotune() throws {
        try withView("drive") { _, page in
            let text = try page.value(
                """
                (async () => {
                  const { Measurements } = await import('/js/views/measurements.js');
                  const curve = [{ hz: 1, db: 0, deg: -10 }, { hz: 10, db: -6, deg: -60 }];
                  const axis = { axis: 'pitch', inertia_kg_m2: null, lag_ms: 12.5, gain: 0.97,
                    delay_ms: 8, gain_margin_db: 6, gain_margin_down_db: 9, phase_margin_deg: 45,
                    crossover_hz: 3, measured: [], model: curve, loop: curve };
                  const report = { state: 'done', sentence: '', axes: [axis], proposals: [] };
                  const link = { isOpen: true, request: async () => report };
                  const view = new Measurements({ link, measurement: 'autotune' }, () => {});
                  await view.show();
                  return view.output.textContent;
                })()
                """
            ).string
            let note = try #require(text)
            #expect(note.contains("Lag 12.50 ms, gain 0.97, delay 8.00 ms"), "\(note)")
            #expect(!note.contains("Inertia"), "\(note)")
        }
    }

    @Test("autotune on the page shows Bode plots with margins, and starts a trial of its proposals")
    func autotune() throws {
        try withView("tune") { rig, page in
            // The motors are on, and the camera's inertia is measured.
            #expect(
                eventually(within: 20) {
                    guard let status = try? rig.status() else { return false }
                    let notices = status["notices"]?.array?.compactMap { $0["name"]?.string } ?? []
                    return status["enabled"] == true && !notices.contains("inertia_unknown")
                })
            try press("Autotune", page)
            // Leaves the view and opens it again. The page still shows the measurement.
            let isRunning =
                "[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Cancel')?.checkVisibility()"
            try #require(try page.wait(isRunning) != nil)
            try page.show("why")
            try page.show("tune")
            #expect(try page.wait(isRunning) != nil)
            let time = try page.wait(
                "document.querySelector('main').textContent.includes('pitch: phase')", within: 40)
            let text = try page.value("document.querySelector('progress').parentNode.textContent")
            try #require(time != nil, "\(text)\n\(rig.daemon?.log ?? "")")
            #expect(text.string?.contains("--apply") == false, "\(text)")
            let label =
                try page.value(
                    "[...document.querySelectorAll('svg.plot')].at(-1).getAttribute('aria-label')"
                ).string ?? ""
            #expect(label.contains("Inertia") && label.contains("margins"), "\(label)")
            // The plots contain measured points, the model and the open loop, in amplitude and
            // phase.
            for (selector, least) in [("circle.dot", 20), ("path.curve", 4)] {
                let count = try page.value(
                    "document.querySelectorAll('svg.plot \(selector)').length")
                #expect(count.int ?? 0 >= least, "\(selector)")
            }
            #expect(try page.audit() == [])
            try press("Try for 120 s", page)
            #expect(
                try page.wait(
                    "document.querySelector('#trials').textContent.includes('reverts in')") != nil)
            let picture = CommittedFile("etc/manual/pictures/web-autotune.png")
            if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
                try page.value(
                    "[...document.querySelectorAll('figcaption')].find((n) => n.textContent === 'pitch: amplitude').scrollIntoView(); document.querySelector('#toast').textContent = ''; scrollBy(0, -185)"
                )
                usleep(500_000)
                try write(try page.picture(), to: picture.path)
            }
            #expect(try bytes(of: picture.path).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }
}
