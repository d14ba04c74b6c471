import TestSupport
import Testing
import Wire

@testable import Web

@Suite("The page of a browser that is not paired", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct UnpairedPageTests {
    private static let views = ["drive", "why", "tune", "setup", "shots", "recordings"]
    private static let phones = [(390, 844, false), (320, 568, true), (844, 390, false)]
    private static let hasNotice = "document.querySelector('#rights button')?.checkVisibility()"

    @Test("every view has one notice that the browser can only watch, and passes the audit")
    func notice() throws {
        try withPage(isPaired: false) { _, _, page in
            let notices =
                "[...document.querySelectorAll('p')].filter((n) => n.textContent.includes('can only watch') && n.checkVisibility())"
            for view in Self.views {
                try page.show(view)
                #expect(try page.wait(Self.hasNotice) != nil, "\(view)")
                try page.prepare(view)
                #expect(try page.value("\(notices).length") == 1, "\(view)")
                for (width, height, isDark) in Self.phones {
                    try page.resize(width, height, isPhone: true, isDark: isDark)
                    #expect(try page.audit() == [], "\(view), \(width) x \(height)")
                }
                try page.resize(1280, 860, isPhone: false)
                #expect(try page.audit() == [], "\(view), 1280 x 860")
            }
            #expect(page.errors == [])
        }
    }

    @Test("STOP looks unavailable until the browser is paired, also while airframed is away")
    func stop() throws {
        try withPage(isPaired: false) { rig, _, page in
            let text = "document.querySelector('#stop').textContent"
            let colour = "getComputedStyle(document.querySelector('#stop')).backgroundColor"
            let isUnavailable =
                "document.querySelector('#stop').ariaDisabled === 'true' && \(text).includes('pair to use')"
            #expect(try page.wait(isUnavailable) != nil)
            let grey = try page.value(colour)
            rig.stopDaemon()
            try #require(
                try page.wait("document.documentElement.classList.contains('old')") != nil)
            #expect(try page.value(isUnavailable) == true)
            try rig.startDaemon()
            try page.value("location.hash = 'pair=\(try rig.code())'")
            #expect(try page.wait("\(text).includes('motors off')") != nil)
            #expect(try page.value("document.querySelector('#stop').ariaDisabled") == "false")
            #expect(try page.value(colour) != grey)
        }
    }

    @Test(
        "STOP names the missing pairing, also if the limit of requests refuses the stop",
        arguments: [401, 429])
    func refusedStop(status: Int) throws {
        try withPage(isPaired: false) { _, _, page in
            try #require(try page.wait(Self.hasNotice) != nil)
            try page.value(
                "window.fetch = () => Promise.resolve(new Response('', { status: \(status) })); document.querySelector('#stop').click()"
            )
            let toast = "document.querySelector('#toast').textContent"
            #expect(try page.wait("\(toast).includes('because it is not paired')") != nil)
        }
    }

    @Test("STOP also looks unavailable on a page that cannot be read without a pairing")
    func closed() throws {
        try withPage(["web.read_without_token=false"], isPaired: false) { _, _, page in
            let isGrey = try page.wait("document.querySelector('#stop').ariaDisabled === 'true'")
            #expect(isGrey != nil)
        }
    }

    @Test("a refusal names the pairing, and after the pairing the notice disappears")
    func refusal() throws {
        try withPage(isPaired: false) { rig, _, page in
            try page.show("recordings")
            try #require(try page.wait(Self.hasNotice) != nil)
            try page.value(
                "[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Save the last 60 s').click()"
            )
            let toast = "document.querySelector('#toast').textContent"
            #expect(try page.wait("\(toast).includes('This browser is not paired')") != nil)
            #expect(try page.value("\(toast).includes('root')") == false)
            try page.value("document.querySelector('#rights button').click()")
            try page.value(
                "document.querySelector('#code').value = '\(try rig.code())'; document.querySelector('#pairing form').requestSubmit()"
            )
            #expect(try page.wait("document.querySelector('#rights').hidden") != nil)
            #expect(page.errors == [])
        }
    }
}
