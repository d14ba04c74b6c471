import TestSupport
import Testing
import Wire

@Suite("The page in Chromium: values of settings", .serialized, .timeLimit(.minutes(1)), hasBrowser)
struct SettingTextTests {
    @Test(
        "every text can be tried and reverted, also a text that is not a word of TOML",
        arguments: ["8BitDo", "Ada's \\ gimbal", "12"])
    func text(value: String) throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("tune")
            try #require(try page.wait("document.querySelector('#search')") != nil)
            try page.value(
                "(() => { const s = document.querySelector('#search'); s.value = 'rbl.name'; s.dispatchEvent(new Event('input')); })()"
            )
            let row = "document.querySelector('[data-key=\"rbl.name\"]')"
            try #require(try page.wait(row) != nil)
            let old = try name(rig)
            try page.value(
                "(() => { const r = \(row); r.querySelector('input[type=text]').value = \(JSONValue.string(value).text); [...r.querySelectorAll('button')].find((b) => b.textContent === 'Try').click(); })()"
            )
            #expect(eventually(within: 5) { (try? name(rig)) == value })
            let revert =
                "[...document.querySelectorAll('#trials button')].find((b) => b.textContent.includes('Revert'))"
            let isOnTrial = "!document.querySelector('#trials').hidden"
            try #require(try page.wait("\(isOnTrial) && \(revert)") != nil)
            try page.value("\(revert).click()")
            #expect(eventually(within: 5) { (try? name(rig)) == old })
        }
    }

    @Test("a change of one axis keeps the change of another axis that is not answered yet")
    func axes() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("tune")
            try #require(try page.wait("document.querySelector('[data-section=motion]')") != nil)
            try page.value("document.querySelector('[data-section=motion]').open = true")
            let inputs =
                "[...document.querySelectorAll('[data-key=\"motion.max_rate_dps\"] input[type=number]')]"
            try #require(try page.wait("\(inputs).length === 3") != nil)
            // Both changes are sent before the answer to the first of them.
            try page.value(
                "\(inputs).slice(0, 2).forEach((n, i) => { n.value = 91 + i; n.dispatchEvent(new Event('change')); })"
            )
            var rates: [Double] = []
            let isSet = eventually(within: 8) {
                let setting = (try? rig.ask("get", ["keys": ["motion.max_rate_dps"]]))?.array?.first
                rates = setting?["value"]?.array?.compactMap(\.number) ?? []
                return rates.dropFirst().first == 92
            }
            #expect(isSet && rates.first == 91, "\(rates)")
            let shown = "\(inputs).map((n) => Number(n.value)).slice(0, 2).join()"
            #expect(try page.wait("\(shown) === '91,92'") != nil)
        }
    }

    @Test("typed digits stay in their field when the page connects again")
    func typedDigits() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("tune")
            try #require(try page.wait("document.querySelector('[data-section=tracking]')") != nil)
            try page.value("document.querySelector('[data-section=tracking]').open = true")
            let field =
                "document.querySelector('[data-key=\"tracking.max_rate_dps\"] input[type=number]')"
            try #require(try page.wait(field) != nil)
            try page.value("(\(field).focus(), \(field).select())")
            try page.insert("77")
            // The view requests the stored tunings after it has shown the settings.
            try page.value(
                """
                (window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  if (JSON.parse(text).method === "baseline") window.loads += 1;
                  return window.send.call(this, text);
                }, 1)
                """)
            rig.stopWeb()
            try #require(
                try page.wait("document.documentElement.classList.contains('old')") != nil)
            try page.value("window.loads = 0")
            try rig.startWeb()
            try #require(try page.wait("window.loads > 0") != nil)
            #expect(try page.value("\(field).value") == "77")
            #expect(try page.value("document.activeElement === \(field)") == true)
        }
    }

    @Test("the remedy for a setting that needs a restart depends on the origin of its value")
    func remedy() throws {
        try withPage { _, _, page in
            for (origin, place) in [
                ("saved", "view Set up"), ("--set", "command line"),
                ("default", "configuration file"),
            ] {
                let setting: [String: JSONValue] = [
                    "key": "motors.pole_pairs", "value": 7, "default": 7, "type": "integer",
                    "range": "1...50", "unit": "", "summary": "Pole pairs.", "live": false,
                    "origin": .string(origin),
                ]
                let text = try page.value(
                    "(async () => { const { SettingForm } = await import('/js/settings.js'); return new SettingForm(\(JSONValue.object(setting).text), {}).node.textContent; })()"
                )
                let remedy = try #require(text.string)
                #expect(remedy.contains(place), "\(remedy)")
                #expect(remedy.contains("a restart of airframed applies"))
            }
        }
    }

    private func name(_ rig: Rig) throws -> String? {
        try rig.ask("get", ["keys": ["rbl.name"]]).array?.first?["value"]?.string
    }
}
