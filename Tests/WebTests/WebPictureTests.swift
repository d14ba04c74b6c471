import Glibc
import TestSupport
import Testing
import Wire

@testable import Web

/// The pictures of etc/manual/web.md, which `make documents` writes.
// Without AIRFRAME_WRITE_DOCUMENTS the test takes no time.
@Suite("Generated pictures of the manual: page", .serialized, .timeLimit(.minutes(3)), hasBrowser)
struct WebPictureTests {
    private struct Picture {
        let name: String
        let view: String
        let isPhone: Bool
    }

    private static let pictures = [
        Picture(name: "web-drive", view: "drive", isPhone: true),
        Picture(name: "web-tune", view: "tune", isPhone: false),
        Picture(name: "web-setup", view: "setup", isPhone: true),
        Picture(name: "web-why", view: "why", isPhone: true),
        Picture(name: "web-why-desktop", view: "why", isPhone: false),
        Picture(name: "web-shots", view: "shots", isPhone: false),
    ]

    @Test("the manual's pictures exist, and the manual shows them")
    func pictures() throws {
        for picture in Self.pictures {
            let file = CommittedFile("etc/manual/pictures/\(picture.name).png")
            if getenv("AIRFRAME_WRITE_DOCUMENTS") != nil {
                try withPage { rig, _, page in
                    try #require(try page.wait(Chromium.Page.isReady) != nil)
                    try arrange(picture, rig, page)
                    try write(try page.picture(), to: file.path)
                }
            }
            #expect(try bytes(of: file.path).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let text = try CommittedFile("etc/manual/web.md").text()
            #expect(text.contains("pictures/\(picture.name).png"))
        }
    }

    private func arrange(_ picture: Picture, _ rig: Rig, _ page: Chromium.Page) throws {
        _ = try rig.ask("point", ["yaw": 25, "pitch": 12, "duration": 0.5])
        let (width, height) = picture.isPhone ? (390, 844) : (1280, 860)
        try page.resize(width, height, isPhone: picture.isPhone, scale: 1)
        if picture.view == "why" {
            // The view shows a reason for a stop, a refused request and a change of a setting.
            _ = try? rig.ask("rate", ["yaw": 5000])
            _ = try rig.ask("set", ["key": "tracking.max_rate_dps", "value": 60])
            _ = try rig.ask("stop")
        }
        try page.show(picture.view)
        try page.prepare(picture.view)
        if picture.view == "tune" {
            _ = try rig.ask("point", ["yaw": -10, "duration": 1])
            try page.value(
                "(() => { const s = document.querySelector('#search'); s.value = 'tracking.max'; s.dispatchEvent(new Event('input')); const i = document.querySelector('[data-key=\"tracking.max_rate_dps\"] input'); i.value = 60; i.dispatchEvent(new Event('change')); })()"
            )
        }
        if picture.view == "shots" {
            for (id, value) in [("shot-photos", "60"), ("shot-interval_s", "2"), ("end-yaw", "40")]
            {
                try page.value("document.querySelector('#\(id)').value = '\(value)'")
            }
            try page.value(
                "[...document.querySelectorAll('main form button')].forEach((b) => b.click())")
            _ = try page.wait(
                "document.querySelector('main .big').textContent.includes('1 of 60 photos')",
                within: 20)
        }
        usleep(6_000_000)
        try page.value("document.querySelector('#toast').textContent = ''; scrollTo(0, 0)")
    }
}
