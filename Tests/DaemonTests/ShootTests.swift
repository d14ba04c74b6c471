import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframectl shoot, at the simulated gimbal") struct ShootTests {
    @Test("a run that is killed continues: each photo exists once, sharp and in its direction")
    func killAndResume() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            let start = try daemon.ask("status").number("pointing", "target_deg", "yaw")
            let control = try Program.built("airframectl")
            let folder = daemon.directory
            // The "photo" is the state of the gimbal; a list contains every exposure.
            try write(
                """
                rate_dps = 90
                [[frame]]
                yaw = -10
                pitch = -15
                [[frame]]
                yaw = 10
                pitch = 5
                [[frame]]
                yaw = 20
                [still]
                seconds = 0.3
                [shutter]
                kind = "command"
                command = ["sh", "-c", "echo {number} >> \(folder)/list; \(control) --socket \(daemon.socket) --json status > {file}; sleep 0.3"]
                file = "photo-{number}.json"
                """, to: folder.appending("shot.toml"))
            let state = "\(folder)/shot.json"
            let first = try spawn([
                "sh", "-c",
                "cd \(folder) && exec \(control) --socket \(daemon.socket) shoot shot.toml --state \(state) > out 2>&1",
            ])
            // The kill hits the run while the second photo is taken.
            let isExposed = eventually(within: 15) {
                let list = try? String(decoding: bytes(of: folder.appending("list")), as: UTF8.self)
                return list?.contains("00002") == true
            }
            kill(first, SIGKILL)
            waitpid(first, nil, 0)
            let output = String(decoding: try bytes(of: folder.appending("out")), as: UTF8.self)
            #expect(isExposed, "\(output)")
            let held = try daemon.ask("status")
            #expect(held["enabled"]?.bool == true && held["mode"]?.string == "locked")
            let refused = try Program.run(
                [
                    control, "--socket", daemon.socket, "shoot", "\(folder)/shot.toml", "--state",
                    state,
                ], in: folder)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("shoot resume"))

            let resumed = try Program.run(
                [control, "--socket", daemon.socket, "shoot", "resume", "--state", state],
                in: folder)
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(resumed.output.contains("Photo 3 of 3"))
            for (number, place) in [(1, (-10.0, -15.0)), (2, (10, 5)), (3, (20, 0))] {
                let photo = try JSONValue(
                    parsing: try bytes(of: folder.appending("photo-0000\(number).json")))
                #expect(abs(photo.number("attitude", "yaw_deg") - start - place.0) < 0.5)
                #expect(abs(photo.number("attitude", "pitch_deg") - place.1) < 0.5)
                #expect(abs(photo.number("rate_dps", "yaw")) < 1)
            }
            let status = try Program.run(
                [control, "shoot", "status", "--state", state], in: folder)
            #expect(status.output.contains("complete: 3 of 3 photos"))
        }
    }
}
