import Glibc
import TestSupport
import Testing
import Wire

// Views of the page, for the tests.
extension Chromium.Page {
    /// Waits for a view's contents, and opens its folded sections.
    func prepare(_ view: String) throws {
        switch view {
        case "why": _ = try wait("document.querySelectorAll('#checks li').length > 10")
        case "tune":
            _ = try wait("document.querySelector('[data-section=control]')")
            try value(
                "for (const s of ['control', 'tracking', 'filter', 'log', 'airos']) document.querySelector(`[data-section=${s}]`).open = true"
            )
            _ = try wait("document.querySelector('[data-key=\"log.level\"] select')")
        case "setup":
            // The view opens its first step after the daemon's answer.
            _ = try wait("document.querySelector('details[data-step][open] button')")
            try value("document.querySelector('[data-step=accelerometer]').open = true")
            _ = try wait("document.querySelectorAll('.pose').length === 6")
        case "shots":
            _ = try wait("document.querySelector('#shot-fov_width')")
            try value(
                "(() => { const k = document.querySelector('#shot-kind'); k.value = 'timelapse'; k.dispatchEvent(new Event('change')); })()"
            )
        default: usleep(300_000)
        }
    }

    /// Opens the form of a request in the view Why.
    func openRequests(_ method: String) throws {
        try value("document.querySelector('#requests details').open = true")
        try #require(try wait("document.querySelector('#method option')") != nil)
        try value(
            "(() => { const s = document.querySelector('#method'); s.value = '\(method)'; s.dispatchEvent(new Event('change')); })()"
        )
    }

    /// Audits the present page for accessibility (Tests/WebTests/audit.js).
    ///
    /// - Returns: A sentence for each problem.
    func audit() throws -> [String] {
        let script = try CommittedFile("Tests/WebTests/audit.js").text()
        return (try value(script).array ?? []).compactMap(\.string)
    }

    /// Presses the Tab key until the focused control fulfils a condition about `n`.
    func tab(to condition: String) throws {
        let isThere = "((n) => Boolean(\(condition)))(document.activeElement)"
        for _ in 0..<160 {
            if try value(isThere) == true { return }
            try key("Tab")
        }
        throw Chromium.Problem(description: "The Tab key does not reach \(condition).")
    }

    /// Types a text into the focused control.
    func insert(_ text: String) throws { try call("Input.insertText", ["text": .string(text)]) }
}
