import Configuration
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Settings and links in README.md, CONTRIBUTING.md and etc/manual")
struct ManualTests {
    private static let pages =
        ["README.md", "CONTRIBUTING.md"]
        + [
            "README", "aerie", "apps", "assistants", "can", "commands", "controls", "eyes",
            "first-start", "mavlink", "metrics", "motor-board", "protocol", "python", "recorder",
            "ros2", "safety", "sensors", "servos", "shots", "simulators", "troubleshooting",
            "tuning", "web", "wiring", "xgo",
        ].map { "etc/manual/\($0).md" }

    @Test("the pages contain only existing settings", arguments: pages)
    func settings(page: String) throws {
        let tables = Set(Schema.tables.map(\.name))
        for match in try CommittedFile(page).text().matches(of: /[`=(' ]([a-z_]+(?:\.[a-z_]+)+)\b/)
        {
            let key = String(match.1)
            guard let first = key.split(separator: ".").first, tables.contains(String(first)),
                !Self.otherNames.contains(key)
            else { continue }
            // A table or a prefix such as `estimator.kalman_` is valid, too.
            let isThere = Schema.settings.contains {
                $0.key == key || $0.key.hasPrefix(key + ".")
                    || key.hasSuffix("_") && $0.key.hasPrefix(key)
            }
            #expect(isThere, "\(key)")
        }
    }

    /// Words that look like settings, but are not.
    private static let otherNames: Set = [
        "hardware.linux", "controls.md", "mavlink.md", "mavlink.newest", "rider.newest",
        "signals.conf",
    ]

    @Test("the pages link only to existing files", arguments: pages)
    func links(page: String) throws {
        let file = CommittedFile(page)
        for match in try file.text().matches(of: /\]\(([^)#:]+)\)/) {
            let target = file.path.removingLastComponent().pushing(.init(String(match.1)))
            #expect(access(target.string, F_OK) == 0, "\(match.1)")
        }
    }
}
