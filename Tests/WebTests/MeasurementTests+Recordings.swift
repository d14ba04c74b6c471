import Client
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

/// Recordings and their replay.
extension MeasurementTests {
    @Test(
        "in a replay of a recording, the slider, its keys, the clock and an event select the time")
    func replay() throws {
        try withView("recordings") { rig, page in
            // A turn ends with the connection of its client, so the connection stays open.
            let client = try DaemonClient(path: rig.socket, timeout: 5)
            _ = try client.json("point", ["yaw": 20, "duration": 0.5])
            #expect(eventually(within: 8) { (try? rig.number("attitude", "yaw_deg")) ?? 0 > 19.5 })
            try press("Save the last 60 s", page)
            try #require(try page.wait("document.querySelector('main li code')") != nil)
            try press("Replay", page)
            try #require(
                try page.wait("document.querySelectorAll('svg.plot').length === 3")
                    != nil)
            let slider = "document.querySelector('#replay-time')"
            let scene = "document.querySelector('.replay .scene')"
            func yaw() throws -> Double {
                let label = try page.value("\(scene).getAttribute('aria-label')").string ?? ""
                let part = label.split(separator: "yaw ").last?.prefix { $0 != "°" } ?? ""
                return Double(part.replacing("−", with: "-")) ?? .nan
            }
            let length = try page.value("Number(\(slider).max)").number ?? 0
            #expect(length > 1.5)
            let first = try page.value("\(scene).toDataURL()")
            try page.value(
                "\(slider).value = \(slider).max; \(slider).dispatchEvent(new Event('input'))")
            let last = try yaw()
            #expect(abs(last - 20) < 1, "\(last)")
            #expect(try page.value("\(scene).toDataURL()") != first)
            #expect(
                try page.value(
                    "[...document.querySelectorAll('.replay .legend li')].every((n) => /[0-9]/.test(n.textContent))"
                ) == true)
            #expect(try page.audit() == [])
            // An arrow key moves the slider back.
            try page.value("\(slider).focus()")
            for _ in 0..<50 { try page.key("ArrowLeft") }
            let place = try page.value("Number(\(slider).value)").number ?? 0
            #expect(abs(length - place - 0.5) < 0.03)
            // Selects an event, then plays to the end.
            try page.value("document.querySelector('main li button').focus()")
            try page.value(
                "[...document.querySelectorAll('ul.plain button')].find((b) => b.textContent.endsWith(' s')).click()"
            )
            #expect(try page.value("Number(\(slider).value)").number ?? 9 < length - 0.5)
            try page.value(
                "(() => { const s = document.querySelector('.replay select'); s.value = '5'; s.dispatchEvent(new Event('change')); })()"
            )
            try press("Play", page)
            // As texts, "2.8" and "2.80" would differ.
            #expect(
                try page.wait("Number(\(slider).value) === Number(\(slider).max)", within: 12)
                    != nil)
            #expect(
                try page.wait("document.querySelector('.replay button').textContent === 'Play'")
                    != nil)
            let picture = CommittedFile("etc/manual/pictures/web-replay.png")
            if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
                try page.value(
                    "\(slider).value = \(slider).max * 0.85; \(slider).dispatchEvent(new Event('input')); document.activeElement.blur(); document.querySelector('.replay').previousElementSibling.scrollIntoView()"
                )
                usleep(500_000)
                try write(try page.picture(), to: picture.path)
            }
            #expect(try bytes(of: picture.path).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }

    @Test("a recording can be made, listed, plotted, and downloaded as a file and as a table")
    func recordings() throws {
        try withView("recordings") { rig, page in
            try press("Save the last 60 s", page)
            try #require(try page.wait("document.querySelector('main li code')") != nil)
            let name =
                try page.value("document.querySelector('main li code').textContent").string ?? ""
            try press("Replay", page)
            try #require(
                try page.wait("document.querySelectorAll('svg.plot').length === 3")
                    != nil)
            let file = try bytes(
                of: rig.directory.appending("state").appending("recordings").appending(name))
            let size = try page.value(
                "fetch('/recordings/\(name)').then((r) => r.arrayBuffer()).then((b) => b.byteLength)"
            )
            #expect(size.int == file.count)
            let table = try page.value(
                "fetch('/recordings/\(name)?table=tick').then((r) => r.text()).then((t) => t.split('\\n').length)"
            )
            #expect(table.int ?? 0 > 500)
            let points = (table.int ?? 0) * 2 / 3
            let plotted = try page.value(
                "fetch('/recordings/\(name)?plot=\(points)').then((r) => r.json()).then((s) => s.t.length)"
            )
            #expect((plotted.int ?? .max) <= points, "\(plotted.text) of \(points)")
            let wrong = try page.value(
                "Promise.all(['?table=x', '?plot=1&x=../', '/../x.mcap'].map((q) => fetch('/recordings/\(name)' + q).then((r) => r.status)))"
            )
            #expect(wrong == [400, 200, 404])
            page.forgetErrors()
        }
    }
    @Test("the replay states the number of the events that it does not show")
    func manyEvents() throws {
        try withView("recordings") { rig, page in
            for _ in 0..<200 {
                for mode in ["pan_follow", "locked"] as [JSONValue] {
                    try setMode(mode, of: rig)
                }
            }
            try press("Save the last 60 s", page)
            try #require(try page.wait("document.querySelector('main li code')") != nil)
            try press("Replay", page)
            #expect(
                try page.wait(
                    "document.querySelector('main').textContent.includes('more events are not shown')"
                ) != nil)
        }
    }

    /// Sets the mode, again if the loop has not processed earlier requests yet. Throws after 10 s of refusals.
    private func setMode(_ mode: JSONValue, of rig: Rig) throws {
        for _ in 0..<1000 {
            do {
                _ = try rig.ask("mode", ["mode": mode])
                return
            } catch ClientError.refused(let refusal) where refusal.code == "refused" {
                usleep(10_000)
            }
        }
        _ = try rig.ask("mode", ["mode": mode])
    }

    @Test("the page shows that a recording cannot be read, because airframe-web has ended")
    func failedReplay() throws {
        try withView("recordings") { rig, page in
            try press("Save the last 60 s", page)
            try #require(try page.wait("document.querySelector('main li code')") != nil)
            rig.stopWeb()
            try press("Replay", page)
            #expect(
                try page.wait(
                    "document.querySelector('main').textContent.includes('cannot be read. Try again.')"
                ) != nil)
            page.forgetErrors()
        }
    }
}
