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

    @Test(
        "the camera needs no disk: the drop-in for recordings on another disk is optional",
        arguments: [
            ("etc/manual/recorder.md", "/mnt/disk/recordings"),
            ("etc/manual/eyes.md", "/mnt/disk/videos"),
        ])
    func recordingsDisk(file: String, directory: String) throws {
        let page = try CommittedFile(file).text()
        let rest = try #require(page.split(separator: "```ini\n").dropFirst().first)
        let dropIn = try #require(rest.split(separator: "```").first)
        // systemd stops a service with its mount if the service requires the mount, and refuses the
        // start if a path without a hyphen is missing.
        #expect(dropIn == "[Service]\nReadWritePaths=-\(directory)\n")
    }

    @Test(
        "the table of bus errors contains the texts of the errors, as `doctor` shows them",
        arguments: [ENOENT, EACCES, ENXIO, EREMOTEIO, ETIMEDOUT, EBUSY])
    func busErrors(code: Int32) throws {
        let page = try CommittedFile("etc/manual/troubleshooting.md").text()
        let text = String(cString: strerror(code))
        #expect(page.contains("`\(text)`"), "\(text)")
    }

    /// Parameters of the overlays for controls (arch/arm/boot/dts/overlays/README in the kernel of
    /// the Raspberry Pi).
    private static let overlays: [String: Set<String>] = [
        "gpio-key": ["gpio", "active_low", "gpio_pull", "keycode", "label"],
        "gpio-led": ["gpio", "active_low", "label", "trigger"],
        "rotary-encoder": [
            "pin_a", "pin_b", "relative_axis", "linux_axis", "rollover", "steps-per-period",
            "steps", "wakeup", "encoding",
        ],
    ]

    @Test("the overlays of controls have existing parameters, and use no line of a profile")
    func controlOverlays() throws {
        var taken: Set<String> = []
        for name in [
            "bus-servo-head", "can-gimbal", "raspberry-pi-4", "raspberry-pi-5",
            "raspberry-pi-zero-2w", "simplefoc-gimbal",
        ] {
            let profile = try CommittedFile("etc/boards/\(name).toml").text()
            taken.formUnion(profile.matches(of: /GPIO ([0-9]+)/).map { String($0.1) })
        }
        #expect(taken.contains("17"))
        let page = try CommittedFile("etc/manual/controls.md").text()
        var used: [String] = []
        for match in page.matches(of: /dtoverlay=([^\s`]+)/) {
            let words = match.1.split(separator: ",")
            let known = try #require(Self.overlays[String(words[0])], "\(match.0)")
            for word in words.dropFirst() {
                let parts = word.split(separator: "=").map(String.init)
                #expect(known.contains(parts[0]), "\(match.0)")
                if ["gpio", "pin_a", "pin_b"].contains(parts[0]) { used += parts.dropFirst() }
            }
        }
        #expect(used.count == 4 && Set(used).count == 4, "\(used)")
        #expect(taken.isDisjoint(with: used), "\(used)")
    }

    @Test("a command that installs a built package replaces the same version", arguments: pages)
    func reinstallation(page: String) throws {
        // apt ignores a package with the version of the installed package if their sizes are equal.
        let text = try CommittedFile(page).text()
        for match in text.matches(of: /apt install [^`\n]*\.build[^`\n]*/) {
            #expect(match.0.contains(" --reinstall "), "\(match.0)")
        }
    }

    @Test("the pages link only to existing files and headings", arguments: pages)
    func links(page: String) throws {
        let file = CommittedFile(page)
        for match in try file.text().matches(of: /\]\(([^)#:]*)(?:#([^)]+))?\)/) {
            // A link that begins with # leads to a heading of the same page.
            let target =
                match.1.isEmpty
                ? file.path : file.path.removingLastComponent().pushing(.init(String(match.1)))
            #expect(access(target.string, F_OK) == 0, "\(match.1)")
            guard let anchor = match.2 else { continue }
            let anchors = try Self.anchors(of: target)
            #expect(anchors.contains(String(anchor)), "\(match.0)")
        }
    }

    /// Anchors of the headings of a page, by GitHub's rule: the text in lower case, without
    /// punctuation, with hyphens instead of spaces.
    private static func anchors(of page: FilePath) throws -> Set<String> {
        let text = String(decoding: try bytes(of: page), as: UTF8.self)
        var anchors: Set<String> = []
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, line.hasPrefix("#") else { continue }
            let heading = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
            let kept = heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            anchors.insert(String(kept.map { $0 == " " ? "-" : $0 }))
        }
        return anchors
    }
}
