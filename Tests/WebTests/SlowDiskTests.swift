import Client
import Dispatch
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframe-web with a slow disk", .serialized, .timeLimit(.minutes(1)))
struct SlowDiskTests {
    @Test("the requests of a page do not wait while the removal of a browser waits for the disk")
    func revocation() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let cookie = try rig.cookie()
            let page = try WebClient(port: rig.port, timeout: 3)
            try #require(try page.upgrade("/socket", headers: [cookie]).status == 101)
            // A pipe without a reader blocks a change of the list, as a slow disk does.
            let pipe = "\(directory)/web/browsers.json.new"
            #expect(mkfifo(pipe, 0o600) == 0)
            let path = rig.controlPath
            let isAnswered = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? DaemonClient(path: path, timeout: 10).json("revoke", ["id": "all"])
                isAnswered.signal()
            }
            usleep(300_000)
            defer {
                // The reader lets the change end, so that airframe-web can end.
                let reader = open(pipe, O_RDONLY | O_NONBLOCK)
                #expect(isAnswered.wait(timeout: .now() + 5) == .success)
                close(reader)
            }
            try page.send(message: #"{"id":1,"method":"ping"}"#)
            #expect(try page.message().contains("pong"))
        }
    }
}
