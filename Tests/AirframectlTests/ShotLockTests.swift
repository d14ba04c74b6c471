import Glibc
import Shots
import SystemPackage
import TestSupport
import Testing

@testable import airframectl

@Suite("Locks of a shot")
struct ShotLockTests {
    @Test(
        "a program that the shutter's command leaves in the background does not prevent the next run"
    )
    func background() throws {
        try withTemporaryDirectory { directory throws in
            let (path, file) = ("\(directory)/shot.json", directory.appending("process"))
            var settings = ShutterSettings()
            settings.kind = .command
            settings.command = ["sh", "-c", "sleep 60 & echo $! > \(file)"]
            var store: ShotStore? = ShotStore(path)
            try store?.take(patience: 0) { _ in true }
            let shutter = CommandShutter(settings) { usleep(UInt32($0 * 1e6)) }
            #expect(try shutter.shoot(1, at: Pose()) == nil)
            let text = String(decoding: try bytes(of: file), as: UTF8.self)
            let process = try #require(pid_t(text.filter(\.isNumber)))
            defer { kill(process, SIGKILL) }
            #expect(kill(process, 0) == 0)
            #expect(ShotStore(path).activeRun == getpid())
            // The end of the run.
            store = nil
            try ShotStore(path).take(patience: 0.3) { seconds in
                usleep(UInt32(seconds * 1e6))
                return true
            }
        }
    }
}
