import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Shots of airframe-web without an answer of airframectl", .timeLimit(.minutes(1)))
struct ShotHostTests {
    @Test(
        "while airframectl does not answer, a new shot does not replace a paused one, whose state appears later"
    )
    func unread() throws {
        try withTemporaryDirectory { directory in
            let (tool, saved) = (directory.appending("tool"), directory.appending("shot.json"))
            try write("{}", to: saved)
            let host = ShotHost(
                ControlTool(socket: "\(directory)/d.sock", program: tool.string),
                directory: directory.string)
            // The program does not exist, so it gives no answer.
            let refused = directory.appending("refused").string
            let owner = ShotHost.Owner(name: "phone", browser: "1")
            host.begin([], for: owner, isNew: false) { problem in
                guard problem?.contains("does not answer") == true else { return }
                close(creat(refused, 0o600))
            }
            #expect(eventually(within: 10) { access(refused, F_OK) == 0 })
            #expect(access(saved.string, F_OK) == 0)
            try write(
                """
                #!/bin/sh
                echo '{"photos":2,"done":1,"active":false,"complete":false}'

                """, to: tool)
            #expect(chmod(tool.string, 0o755) == 0)
            let isPaused = eventually(within: 15) {
                host.tick(paired: [])
                return host.report["state"] == "paused"
            }
            #expect(isPaused, "\(host.report.text)")
        }
    }

    @Test("an airframectl that ends without an answer does not show that there is no shot")
    func silent() throws {
        try withTemporaryDirectory { directory in
            let (tool, saved) = (directory.appending("tool"), directory.appending("shot.json"))
            try write("{}", to: saved)
            try write("#!/bin/sh\nkill -KILL $$\n", to: tool)
            #expect(chmod(tool.string, 0o755) == 0)
            let host = ShotHost(
                ControlTool(socket: "\(directory)/d.sock", program: tool.string),
                directory: directory.string)
            let (began, resumed) = (
                directory.appending("began").string, directory.appending("resumed").string
            )
            let owner = ShotHost.Owner(name: "phone", browser: "1")
            host.begin([], for: owner, isNew: false) { problem in
                guard problem?.contains("does not answer") == true else { return }
                close(creat(began, 0o600))
            }
            host.resume(for: owner) { problem in
                guard problem?.contains("does not answer") == true else { return }
                close(creat(resumed, 0o600))
            }
            // The second answer follows the first one.
            #expect(eventually(within: 20) { access(resumed, F_OK) == 0 })
            #expect(access(began, F_OK) == 0)
            #expect(access(saved.string, F_OK) == 0)
        }
    }
}
