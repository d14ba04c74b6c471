import ArgumentParser
import Client
import Glibc
import Shots
import SystemPackage
import TestSupport
import Testing
import Wire

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
            #expect(try ShotStore(path).activeRun == getpid())
            // The end of the run.
            store = nil
            try ShotStore(path).take(patience: 0.3) { seconds in
                usleep(UInt32(seconds * 1e6))
                return true
            }
        }
    }

    @Test("the end of a run removes its lock, although a starting process still has the descriptor")
    func startingProcess() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            var store: ShotStore? = ShotStore(path)
            try store?.take(patience: 0) { _ in true }
            // A duplicate keeps the lock in the same way as a process between fork(2) and exec(2).
            var lock = stat()
            try #require(stat(path + ".lock", &lock) == 0)
            // The search ends before the first duplicate exists, so it finds no duplicates.
            let descriptors = (Int32(3)..<4096).filter { descriptor in
                var file = stat()
                return fstat(descriptor, &file) == 0 && file.st_ino == lock.st_ino
                    && file.st_dev == lock.st_dev
            }
            let duplicates = descriptors.map { dup($0) }
            defer { for duplicate in duplicates { close(duplicate) } }
            #expect(duplicates.count == 1)
            #expect(try ShotStore(path).activeRun == getpid())
            // The end of the run.
            store = nil
            #expect(try ShotStore(path).activeRun == nil)
        }
    }

    @Test(
        "the run of another user is active, and a pause of it names the remedy",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func foreignRun() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/shot.json"
            let store = ShotStore(path)
            try store.take(patience: 0) { _ in true }
            try write("{}", to: directory.appending("shot.json"))
            chmod(directory.string, 0o755)
            for suffix in ["", ".lock"] { chmod(path + suffix, 0o644) }
            await #expect(processExitsWith: .success) {
                [path = path as String, run = getpid() as Int32] in
                // The user must not have the right to end the process of the tests.
                guard setuid(65534) == 0 else { exit(1) }
                #expect(try ShotStore(path).activeRun == run)
                let pause = try ShootPauseCommand.parse(["--state", path])
                let refusal = #expect(throws: ClientError.self) { try pause.run() }
                let message = refusal?.requestError.message ?? ""
                #expect(message.contains("another user. Repeat the command with sudo"))
            }
            withExtendedLifetime(store) {}
        }
    }

    @Test("a run whose lock cannot be read does not count as ended")
    func unreadable() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            try write("{}", to: directory.appending("shot.json"))
            #expect(try ShotStore(path).activeRun == nil)
            // Unlike missing permissions, a link to itself is also an obstacle for root.
            symlink("\(path).lock", "\(path).lock")
            let error = #expect(throws: ClientError.self) { try ShotStore(path).activeRun }
            let message = error?.requestError.message ?? ""
            #expect(message.contains("the lock of the shot cannot be read"), "\(message)")
            let pause = try ShootPauseCommand.parse(["--state", path])
            #expect(throws: ClientError.self) { try pause.run() }
        }
    }
}
