import Glibc
import TestSupport
import Testing
import Wire

@Suite("The page in Chromium: pairing", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct PagePairingTests {
    @Test("a pairing address in an open tab pairs this tab")
    func pairing() throws {
        try withPage(isPaired: false) { rig, _, page in
            try #require(try page.wait("document.querySelector('.pad')") != nil)
            try page.value("location.hash = 'pair=\(try rig.code())'")
            #expect(try page.wait(Chromium.Page.isReady) != nil)
            #expect(try page.value("location.hash") == "")
        }
    }

    @Test("a browser that keeps no cookies is not called paired, and the page states the remedy")
    func blockedCookies() throws {
        try withPage(isPaired: false) { rig, _, page in
            try #require(try page.wait("document.querySelector('.pad')") != nil)
            // Without credentials, the browser ignores the cookie in the answer.
            try page.value(
                "window.kept = window.fetch; window.fetch = (path, options) => window.kept(path, { ...options, credentials: 'omit' }); true"
            )
            try page.value("location.hash = 'pair=\(try rig.code())'")
            let text = "document.querySelector('#toast').textContent"
            #expect(try page.wait("\(text).includes('Permit cookies for this page')") != nil)
        }
    }

    @Test("the list of paired browsers names the browser and its system")
    func browserNames() throws {
        try withPage(isPaired: false) { rig, _, page in
            try #require(try page.wait("document.querySelector('.pad')") != nil)
            for (agent, name) in [
                ("Mozilla/5.0 (Linux; Android 10; K) Chrome/126 Safari/537", "Chrome, Android"),
                ("Mozilla/5.0 (Windows NT 10.0) Chrome/126 Safari/537 Edg/126", "Edge, Windows"),
                ("Mozilla/5.0 (X11; Linux) Chrome/126 Safari/537 OPR/112", "Opera, Linux"),
            ] {
                try page.call("Emulation.setUserAgentOverride", ["userAgent": .string(agent)])
                try page.value("location.hash = 'pair=\(try rig.code())'")
                var names: [String] = []
                let isListed = eventually(within: 8) {
                    names = ((try? rig.control("browsers"))?.array ?? [])
                        .compactMap { $0["name"]?.string }
                    return names.contains(name)
                }
                #expect(isListed, "\(name): \(names)")
                // airframe-web refuses pairing attempts in quick succession.
                usleep(600_000)
            }
        }
    }

    @Test("a pairing address closes the form of a page that cannot be read without a pairing")
    func pairingForm() throws {
        try withPage(["web.read_without_token=false"], isPaired: false) { rig, _, page in
            let form = "document.querySelector('#pairing').open"
            try #require(try page.wait(form) != nil)
            try page.value("location.hash = 'pair=\(try rig.code())'")
            #expect(try page.wait(Chromium.Page.isReady) != nil)
            let isUsable = "!\(form) && !document.querySelector('#view').inert"
            #expect(try page.wait(isUsable) != nil)
        }
    }

    /// Condition that the view Drive permits or refuses to steer.
    private static func canSteer(_ isPermitted: Bool) -> String {
        "document.querySelector('.pad')?.getAttribute('aria-disabled') === '\(!isPermitted)'"
    }

    @Test("a page that the server closes shows the reason")
    func closedPage() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            // After the pairing, the page connects again with its new rights.
            try #require(try page.wait(Self.canSteer(true)) != nil)
            _ = try rig.control("revoke", ["id": "all"])
            let text = "document.querySelector('#toast').textContent"
            #expect(try page.wait("\(text).includes('The pairing has ended.')") != nil)
        }
    }

    @Test("a browser that the user forgets shows no error")
    func unpairing() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Self.canSteer(true)) != nil)
            try page.show("why")
            let button =
                "[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith('Forget this browser'))"
            try #require(try page.wait("\(button) != null") != nil)
            try page.value("(\(button).click(), \(button).click(), 1)")
            try page.show("drive")
            #expect(try page.wait(Self.canSteer(false)) != nil)
            let isBad = "document.querySelector('#toast').classList.contains('bad')"
            #expect(try page.value(isBad) == false)
        }
    }
}
