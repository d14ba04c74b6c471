import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Shots that airframe-web runs", .serialized, .timeLimit(.minutes(1)))
struct ShotTests {
    /// Three photos in about 3 s.
    private static let short =
        "rate_dps = 120\n[orbit]\nphotos = 3\nturn = 30\n[still]\nseconds = 0.2\n"
    /// Two photos per second for 20 s.
    private static let long =
        "[timelapse]\nphotos = 40\ninterval_s = 0.5\n[[frame]]\nyaw = 5\n[still]\nseconds = 0.1\n"

    private func post(
        _ path: String, _ body: String = "", _ rig: Rig, _ headers: [String]
    ) throws -> (status: Int, value: JSONValue) {
        let answer = try WebClient(port: rig.port).request(
            "POST", path, headers: headers, body: body)
        return (answer.status, (try? JSONValue(parsing: answer.body)) ?? .null)
    }

    private func shot(_ rig: Rig) throws -> JSONValue {
        try JSONValue(parsing: WebClient(port: rig.port).request("GET", "/shot").body)
    }

    private func text(_ rig: Rig) -> String { (try? shot(rig).text) ?? "no answer" }

    private func reaches(_ state: String, photos: Int = 0, _ rig: Rig) -> Bool {
        eventually(within: 15) {
            guard let shot = try? shot(rig) else { return false }
            return shot["state"]?.string == state && shot["done"]?.int ?? 0 >= photos
        }
    }

    @Test("a shot runs to its end without a page, and airframed names the browser that started it")
    func complete() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie(name: "phone of Ada")
            #expect(try shot(rig)["state"] == "none")
            let (status, report) = try post("/shot/start", Self.short, rig, [cookie])
            #expect(status == 200 && report["state"] == "active")
            #expect(try post("/shot/start", Self.short, rig, [cookie]).status == 409)
            #expect(
                eventually(within: 5) {
                    (try? rig.status()["holder"]?.string)?.contains("phone of Ada") == true
                })
            #expect(reaches("complete", photos: 3, rig), "\(text(rig))")
            #expect(try shot(rig)["title"] == "Orbit")
            // A complete shot does not prevent a new one.
            #expect(try post("/shot/start", Self.long, rig, [cookie]).status == 200)
            #expect(try shot(rig)["title"] != "Orbit")
            #expect(
                eventually(within: 5) { (try? shot(rig))?["photos"]?.int == 40 }, "\(text(rig))")
        }
    }

    @Test("pause, resume and cancel; an unfinished shot is only discarded on request")
    func pause() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            #expect(try post("/shot/resume", rig, [cookie]).status == 409)
            _ = try post("/shot/start", Self.long, rig, [cookie])
            try #require(reaches("active", photos: 2, rig), "\(text(rig))")
            _ = try post("/shot/pause", rig, [cookie])
            try #require(reaches("paused", photos: 2, rig), "\(text(rig))")
            let done = try shot(rig)["done"]?.int ?? 0
            #expect(try post("/shot/start", Self.long, rig, [cookie]).status == 409)
            #expect(try post("/shot/resume", rig, [cookie]).status == 200)
            try #require(reaches("active", photos: done + 1, rig), "\(text(rig))")
            _ = try post("/shot/cancel", rig, [cookie])
            #expect(reaches("none", rig), "\(text(rig))")
            #expect(try shot(rig)["problem"] == "")
        }
    }

    private func post(_ path: String, _ rig: Rig, _ headers: [String]) throws -> (
        status: Int, value: JSONValue
    ) { try post(path, "", rig, headers) }

    @Test("a restart of airframe-web, also after kill -9, continues the shot")
    func restart() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            _ = try post("/shot/start", Self.long, rig, [cookie])
            try #require(reaches("active", photos: 1, rig), "\(text(rig))")
            rig.stopWeb()
            // The run ends together with airframe-web.
            let state = directory.appending("web").appending("shot.json")
            let saved = try bytes(of: state)
            usleep(1_000_000)
            #expect(try bytes(of: state) == saved)
            try rig.startWeb()
            try #require(reaches("active", photos: 3, rig), "\(text(rig))")
            // A killed airframe-web leaves its run, which the next one observes.
            if let web = rig.web { kill(web.process, SIGKILL) }
            rig.stopWeb()
            try rig.startWeb()
            try #require(reaches("active", photos: 4, rig), "\(text(rig))")
            let revoked = try rig.control("revoke", ["id": "all"])
            #expect(revoked.array?.count == 1)
            #expect(reaches("paused", rig), "\(text(rig))")
        }
    }

    @Test("a shot whose browser is no longer paired pauses, and the page shows the reason")
    func unpaired() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let (cookie, other) = (try rig.cookie(), try rig.cookie(name: "other"))
            _ = try post("/shot/start", Self.long, rig, [cookie])
            try #require(reaches("active", photos: 1, rig), "\(text(rig))")
            let browsers = try rig.control("browsers").array ?? []
            let id = try #require(browsers.first { $0["name"] == "test" }?["id"]?.string)
            _ = try rig.control("revoke", ["id": .string(id)])
            try #require(reaches("paused", photos: 1, rig), "\(text(rig))")
            let problem = try shot(rig)["problem"]?.string ?? ""
            #expect(problem.contains("the browser that started it is no longer paired"))
            #expect(try post("/shot/resume", rig, [other]).status == 200)
            #expect(try shot(rig)["problem"] == "")
            _ = try post("/shot/cancel", rig, [other])
        }
    }

    @Test("the reason of an unpaired browser stays when its run then fails to reach airframed")
    func unpairedWithoutDaemon() throws {
        try withTemporaryDirectory { directory in
            // airframectl waits for an airframed that does not answer, and ends after its timeout.
            let (tool, running) = (directory.appending("tool"), directory.appending("running"))
            try write(
                """
                #!/bin/sh
                case "$2" in
                status) echo '{"photos":2,"done":1,"active":false,"complete":false}' ;;
                *)
                    trap '' TERM
                    : > "$6"
                    : > \(running)
                    while [ -e \(running) ]; do sleep 0.02; done
                    exit 75 ;;
                esac

                """, to: tool)
            #expect(chmod(tool.string, 0o755) == 0)
            let host = ShotHost(
                ControlTool(socket: "\(directory)/d.sock", program: tool.string),
                directory: directory.string)
            defer { unlink(running.string) }
            let owner = ShotHost.Owner(name: "phone", browser: "1")
            host.begin([], for: owner, isNew: true) { _ in }
            try #require(eventually(within: 10) { access(running.string, F_OK) == 0 })
            host.tick(paired: [])
            func hasReason() -> Bool {
                host.report["problem"]?.string?.contains("no longer paired") == true
            }
            #expect(eventually(within: 10) { hasReason() }, "\(host.report.text)")
            unlink(running.string)
            try #require(
                eventually(within: 10) { host.report["state"] == "paused" }, "\(host.report.text)")
            // The answer arrives after the work that follows the end of the run.
            let answered = directory.appending("answered").string
            host.begin([], for: owner, isNew: false) { _ in close(creat(answered, 0o600)) }
            #expect(eventually(within: 10) { access(answered, F_OK) == 0 })
            #expect(hasReason(), "\(host.report.text)")
        }
    }

    @Test("a shot without photos can be paused and resumed, and is complete at its end")
    func moves() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            let frames = [20, -20, 20].map { "[[frame]]\nyaw = \($0)\nshutter = false\n" }
            let shot = "rate_dps = 60\n" + frames.joined()
            #expect(try post("/shot/start", shot, rig, [cookie]).status == 200)
            let state = "\(directory)/web/shot.json"
            try #require(eventually(within: 5) { access(state, F_OK) == 0 }, "\(text(rig))")
            _ = try post("/shot/pause", rig, [cookie])
            try #require(reaches("paused", rig), "\(text(rig))")
            #expect(try post("/shot/start", shot, rig, [cookie]).status == 409)
            #expect(try post("/shot/resume", rig, [cookie]).status == 200)
            #expect(reaches("complete", rig), "\(text(rig))")
        }
    }

    @Test("a shot without mode locked is refused with the reason")
    func refused() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            _ = try rig.ask("mode", ["mode": "inactive"])
            _ = try post("/shot/start", Self.short, rig, [cookie])
            #expect(
                eventually(within: 5) {
                    (try? shot(rig)["problem"]?.string)?.contains("mode \"locked\"") == true
                }, "\(text(rig))")
            #expect(try shot(rig)["state"] == "none")
        }
    }

    @Test("descriptions with errors, and shutters that run commands or use devices, are refused")
    func descriptions() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            let shutter = "[orbit]\nphotos = 3\n[shutter]\nkind = "
            for (text, word) in [
                ("[orbit]\nphotos = 1\n", "photos"), ("[orbit", "TOML"), ("\u{0}", ""),
                (shutter + "\"command\"\ncommand = [\"touch\", \"x\"]\n", "shutter \"command\""),
                (shutter + "\"gpio\"\ngpio_line = 4\n", "shutter \"gpio\""),
            ] {
                for path in ["/shot/start", "/shot/plan"] {
                    let (status, value) = try post(path, text, rig, [cookie])
                    #expect(status == 422, "\(path) \(text)")
                    #expect(value["message"]?.string?.contains(word) == true, "\(value.text)")
                }
            }
            #expect(try shot(rig)["state"] == "none")
        }
    }

    @Test("browsers without a token, and pages of other sites, can neither start nor end a shot")
    func rights() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            for path in ToolRequests.paths where path != "/shot/plan.svg" {
                #expect(try post(path, Self.short, rig, []).status == 401, "\(path)")
                let evil = [cookie, "Origin: http://evil.example"]
                #expect(try post(path, Self.short, rig, evil).status == 403, "\(path)")
                let get = try WebClient(port: rig.port).request("GET", path, headers: [cookie])
                #expect(get.status == 405, "\(path)")
            }
            let picture = try WebClient(port: rig.port).request("GET", "/shot/plan.svg")
            #expect(picture.status == 401)
            #expect(try shot(rig)["state"] == "none")
        }
    }

    @Test("the import reads TOML and the config.yaml of the rider's driver, and reports bad lines")
    func imports() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            let yaml = "motors:\n  command_timeout: 0.5\nlogging:\n  level: INFO\n"
            var (status, value) = try post("/import?name=config.yaml", yaml, rig, [cookie])
            #expect(status == 200)
            #expect(value["pairs"]?.text == #"[["drive.dead_man_s","0.5"]]"#, "\(value.text)")
            let notes = value["notes"]?.string ?? ""
            #expect(notes.hasPrefix("config.yaml:4: logging.level is ignored"), "\(notes)")
            let toml = "[tracking]\nmax_rate_dps = 50\nno_such_key = 1\n"
            (status, value) = try post("/import?name=x.toml", toml, rig, [cookie])
            #expect(status == 200)
            #expect(value["pairs"]?.text == #"[["tracking.max_rate_dps","50"]]"#, "\(value.text)")
            #expect(value["notes"]?.string?.contains("x.toml:3") == true, "\(value.text)")
            (status, value) = try post("/import?name=x.yml", "a: [", rig, [cookie])
            #expect(status == 422, "\(value.text)")
            (status, value) = try post(
                "/import?name=x.toml", String(repeating: "#", count: 70_000), rig, [cookie])
            #expect(status == 413)
        }
    }
}

@Suite("The page in Chromium: shots", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct ShotPageTests {
    private func press(_ text: String, _ page: Chromium.Page) throws {
        let button =
            "[...document.querySelectorAll('main button')].find((b) => b.textContent === '\(text)' && b.checkVisibility() && !b.disabled)"
        try #require(try page.wait(button) != nil, "\(text)")
        try page.value("\(button).click()")
    }

    private func state(_ text: String, _ page: Chromium.Page) throws -> Bool {
        try page.wait("document.querySelector('main .big').textContent.includes('\(text)')") != nil
    }

    @Test(
        "the view plans, starts, pauses, resumes and cancels a time-lapse, which survives a reload")
    func timelapse() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("shots")
            try #require(try page.wait("document.querySelector('#shot-fov_width')") != nil)
            try page.value(
                "(() => { const k = document.querySelector('#shot-kind'); k.value = 'timelapse'; k.dispatchEvent(new Event('change')); })()"
            )
            for (id, value) in [("shot-photos", 30), ("shot-interval_s", 1), ("end-yaw", 8)] {
                try page.value("document.querySelector('#\(id)').value = '\(value)'")
            }
            try press("Show the plan", page)
            try #require(
                try page.wait(
                    "document.querySelector('img.plan')?.complete && document.querySelector('img.plan').naturalWidth > 300"
                ) != nil)
            let plan = try page.value("document.querySelector('main pre').textContent")
            #expect(plan.string?.contains("Time-lapse: 30 photos") == true, "\(plan.text)")
            try press("Start", page)
            #expect(try state("of 30 photos", page))
            try page.call("Page.reload")
            try #require(try page.wait("document.querySelector('main .big')") != nil)
            #expect(try state("of 30 photos", page))
            try press("Pause", page)
            #expect(try state("paused after", page))
            try press("Resume", page)
            #expect(try state("left", page))
            try press("Cancel the shot", page)
            try press("Cancel the shot?", page)
            #expect(try state("No shot has been started", page))
            #expect(page.errors == [])
        }
    }

    @Test(
        "a request whose answer was lost does not prevent later requests for state and recordings")
    func lostAnswer() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            // The first answer to each request is lost. The time limit of this request, which the page
            // has just set, ends after 300 ms.
            try page.value(
                """
                (window.lost = new Set(), window.load = window.fetch,
                AbortSignal.timeout = () => {
                  window.limit = new AbortController();
                  return window.limit.signal;
                },
                window.fetch = (path, options) => {
                  if (lost.has(path)) return window.load(path, options);
                  lost.add(path);
                  const limit = window.limit;
                  setTimeout(() => limit?.abort(), 300);
                  return new Promise((_, reject) =>
                    options?.signal?.addEventListener("abort", () => reject(options.signal.reason)));
                }, 1)
                """)
            try page.show("shots")
            #expect(try state("No shot has been started", page))
            #expect(try page.wait("document.querySelector('#shot-fov_width')") != nil)
            try page.show("recordings")
            let isListed =
                "document.querySelector('main').textContent.includes('No recording is on the disk')"
            #expect(try page.wait(isListed) != nil)
            #expect(try page.value("lost.has('/shot') && lost.has('/recordings')") == true)
            #expect(page.errors == [])
        }
    }

    @Test("the fields and the plan of a shot stay while the user opens another view")
    func fields() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("shots")
            try #require(try page.wait("document.querySelector('#shot-fov_width')") != nil)
            try page.value(
                "(() => { const k = document.querySelector('#shot-kind'); k.value = 'orbit'; k.dispatchEvent(new Event('change')); })()"
            )
            // A shot from a file does not use the rate, so a wrong rate does not prevent it.
            let kind = "document.querySelector('#shot-kind')"
            func choose(_ name: String) throws {
                try page.value(
                    "(\(kind).value = '\(name)', \(kind).dispatchEvent(new Event('change')), 1)")
            }
            let rate = "document.querySelector('#shot-rate_dps')"
            try page.value("(\(rate).dataset.usual = \(rate).value, \(rate).value = '0')")
            #expect(try page.value("\(kind).form.checkValidity()") == false)
            try choose("file")
            #expect(try page.value("\(kind).form.checkValidity()") == true)
            try choose("orbit")
            #expect(try page.value("\(kind).form.checkValidity()") == false)
            try page.value("\(rate).value = \(rate).dataset.usual")
            try page.value("document.querySelector('#shot-photos').value = '7'")
            try press("Show the plan", page)
            let plan = "document.querySelector('main pre')?.textContent"
            try #require(try page.wait("\(plan)?.includes('7 photos')") != nil)
            try page.show("drive")
            try #require(try page.wait("!document.querySelector('#shot-photos')") != nil)
            try page.show("shots")
            #expect(try page.value("document.querySelector('#shot-kind').value") == "orbit")
            #expect(try page.value("document.querySelector('#shot-photos').value") == "7")
            #expect(try page.value("\(plan)?.includes('7 photos')") == true)
            // The view still shows the state of the shot.
            try press("Start", page)
            #expect(try state("of 7 photos", page))
            #expect(page.errors == [])
        }
    }
}
