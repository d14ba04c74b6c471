import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframectl shoot with a simulated gimbal") struct ShootTests {
    @Test(
        "a killed run can be resumed: each photo exists once, without motion and in its direction"
    )
    func killAndResume() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            let start = try daemon.ask("status").number("pointing", "target_deg", "yaw")
            let control = try Program.built("airframectl")
            let folder = daemon.directory
            // The shutter command saves the status of the gimbal as the photo, and adds its number
            // to a list.
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
            // Kills the run during the second exposure.
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
            let again = try daemon.control("shoot", "resume", "--state", state, "--json")
            #expect(again.status == 0)
            let complete = try JSONValue(parsing: Array(again.output.utf8))
            #expect(complete["complete"] == true)
            let sentence = complete["sentence"]?.string ?? ""
            #expect(sentence.contains("without --resume, begins it again"), "\(sentence)")
            #expect(!sentence.contains("--again"), "`shoot resume` has no option --again")
            let none = try daemon.control("shoot", "status", "--state", state + ".none", "--json")
            #expect(try JSONValue(parsing: Array(none.output.utf8))["active"] == false)
        }
    }

    @Test(
        "airframe-eyes takes each photo once, also after a pause and a change of the profile, and repeats a failed photo"
    )
    func eyes() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            for (preset, profile) in [("cinema", "calm"), ("sport", "quick")] {
                _ = try daemon.ask("set", #"{"key":"follow.preset","value":"\#(preset)"}"#)
                _ = try daemon.ask("baseline", #"{"action":"store","name":"\#(profile)"}"#)
            }
            let companion = try SocketClient(daemon.socket)
            var (photos, done, orders) = (0, 0, 0)
            // Simulates a companion program that reports its state, and fails at its second order.
            func serve() throws {
                let problem = orders == 2 && done == 2 ? #""the disk is full""# : "null"
                let reply = try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":false,"photos":\#(photos),"order":\#(done),"problem":\#(problem)}}}"#
                )
                #expect(reply["error"] == nil, "\(reply)")
                if let number = reply["result"]?["order"]?["number"]?.int, number > done {
                    (orders, done) = (orders + 1, number)
                    if orders != 2 { photos += 1 }
                }
            }
            try serve()
            let control = try Program.built("airframectl")
            let state = "\(daemon.directory)/shot.json"
            let common = [control, "--socket", daemon.socket, "shoot"]
            let run = try Program(
                common + [
                    "orbit", "--eyes", "--photos", "4", "--turn", "30", "--rate", "90", "--state",
                    state,
                ], in: daemon.directory)
            let deadline = Deadline(seconds: 20)
            var (isPaused, hasProfile) = (false, false)
            while !run.hasEnded(within: 0.05), !deadline.hasPassed {
                try serve()
                if photos == 1, !hasProfile {
                    hasProfile = true
                    #expect(try daemon.control("profile", "use", "calm").status == 0)
                }
                if photos == 2, !isPaused {
                    isPaused = true
                    let pause = try Program.run(
                        [control, "shoot", "pause", "--state", state], in: daemon.directory)
                    #expect(pause.status == 0, "\(pause.errors)")
                }
            }
            #expect(run.exitStatus == 0, "\(run.errors)")
            #expect(run.output.contains("Paused after 2 of 4 photos"), "\(run.output)")
            #expect(run.errors.contains("the disk is full"))

            let rest = try Program(
                common + ["resume", "--state", state], in: daemon.directory)
            while !rest.hasEnded(within: 0.05), !deadline.hasPassed { try serve() }
            #expect(rest.exitStatus == 0, "\(rest.errors)")
            #expect(photos == 4)
            #expect(orders == 5)
            #expect(rest.output.contains("Photo 4 of 4"), "\(rest.output)")
        }
    }

    @Test("a photo taken while airframe-eyes loses its connection to airframed is not repeated")
    func reconnection() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            try write(
                """
                rate_dps = 90
                [[frame]]
                [[frame]]
                yaw = 5
                [shutter]
                kind = "eyes"
                timeout_s = 0.5
                """, to: daemon.directory.appending("shot.toml"))
            var companion: SocketClient? = try SocketClient(daemon.socket)
            var (photos, done, orders) = (7, 0, 0)
            // Simulates a companion program that takes the first photo, and then has no connection
            // for 1.5 s.
            func serve() throws {
                let reply = try companion?.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":false,"photos":\#(photos),"order":\#(done),"problem":null}}}"#
                )
                guard let number = reply?["result"]?["order"]?["number"]?.int, number > done else {
                    return
                }
                (photos, done, orders) = (photos + 1, number, orders + 1)
                if orders == 1 { (companion, done) = (nil, 0) }
            }
            try serve()
            let run = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "shoot",
                    "\(daemon.directory)/shot.toml", "--state", "\(daemon.directory)/shot.json",
                ], in: daemon.directory)
            let deadline = Deadline(seconds: 20)
            while !run.hasEnded(within: 0.05), !deadline.hasPassed {
                try serve()
                guard companion == nil else { continue }
                usleep(1_500_000)
                companion = try SocketClient(daemon.socket)
            }
            #expect(run.exitStatus == 0, "\(run.errors)")
            #expect(orders == 2)
            #expect(!run.output.contains("double"), "\(run.output)")
        }
    }

    @Test("a photo that airframe-eyes stores after 5 s, while its camera opens, is not repeated")
    func slowCamera() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            try write(
                """
                rate_dps = 90
                [[frame]]
                [[frame]]
                yaw = 5
                [shutter]
                kind = "eyes"
                timeout_s = 0.5
                """, to: daemon.directory.appending("shot.toml"))
            let companion = try SocketClient(daemon.socket)
            var (photos, done, orders) = (7, 0, 0)
            var pending: [Deadline] = []
            // Simulates a companion program that stores the first photo 5 s after the command.
            func serve() throws {
                let count = pending.count
                pending.removeAll { $0.hasPassed }
                photos += count - pending.count
                let reply = try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":false,"photos":\#(photos),"order":\#(done),"problem":null}}}"#
                )
                guard let number = reply["result"]?["order"]?["number"]?.int, number > done else {
                    return
                }
                (done, orders) = (number, orders + 1)
                pending.append(Deadline(seconds: orders == 1 ? 5 : 0))
            }
            try serve()
            let run = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "shoot",
                    "\(daemon.directory)/shot.toml", "--state", "\(daemon.directory)/shot.json",
                ], in: daemon.directory)
            let deadline = Deadline(seconds: 20)
            while !run.hasEnded(within: 0.05), !deadline.hasPassed { try serve() }
            #expect(run.exitStatus == 0, "\(run.errors)")
            #expect(orders == 2)
        }
    }

    @Test("a shot waits while airframe-eyes hangs, and continues when airframe-eyes reports again")
    func hungEyes() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            let companion = try SocketClient(daemon.socket)
            var (photos, done) = (7, 0)
            func serve() throws {
                let reply = try companion.ask(
                    #"{"id":1,"method":"companion","params":{"name":"eyes","capture":{"recording":false,"photos":\#(photos),"order":\#(done),"problem":null}}}"#
                )
                guard let number = reply["result"]?["order"]?["number"]?.int, number > done else {
                    return
                }
                (photos, done) = (photos + 1, number)
            }
            // Simulates a companion program that keeps its connection, but sends no reports.
            try serve()
            try daemon.status("no recent report") {
                let age = $0["companions"]?.array?.first?["age_s"]?.number
                return age ?? 0 > CompanionStatus.silenceLimit
            }
            let run = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "shoot", "orbit",
                    "--eyes", "--photos", "2", "--turn", "5", "--rate", "90", "--state",
                    "\(daemon.directory)/shot.json",
                ], in: daemon.directory)
            let deadline = Deadline(seconds: 30)
            while !run.errors.contains("The shot waits: airframe-eyes"),
                !run.hasEnded(within: 0.05), !deadline.hasPassed
            {}
            while !run.hasEnded(within: 0.05), !deadline.hasPassed { try serve() }
            #expect(run.exitStatus == 0, "\(run.errors)")
            #expect(photos == 9)
        }
    }

    @Test("while another client is in control, the shot does not move the camera")
    func otherClient() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            let start = try daemon.ask("status").number("pointing", "target_deg", "yaw")
            let other = try SocketClient(daemon.socket)
            #expect(try other.ask(#"{"id":1,"method":"take"}"#)["error"] == nil)
            try write(
                "rate_dps = 90\n[[frame]]\nyaw = 20\n", to: daemon.directory.appending("shot.toml"))
            let run = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "shoot",
                    "\(daemon.directory)/shot.toml", "--state", "\(daemon.directory)/shot.json",
                ], in: daemon.directory)
            #expect(!run.hasEnded(within: 4), "\(run.output)")
            #expect(run.errors.contains("is in control"), "\(run.errors)")
            let held = try daemon.ask("status")
            #expect(abs(held.number("pointing", "target_deg", "yaw") - start) < 0.5)
            #expect(try other.ask(#"{"id":2,"method":"release"}"#)["error"] == nil)
            #expect(try run.wait() == 0, "\(run.errors)")
            let moved = try daemon.ask("status").number("pointing", "target_deg", "yaw")
            #expect(abs(moved - start - 20) < 0.5)
        }
    }

    @Test("a range that was narrowed during a shot ends the shot with the reason")
    func narrowed() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0.isFollowing }
            let other = try SocketClient(daemon.socket)
            #expect(try other.ask(#"{"id":1,"method":"take"}"#)["error"] == nil)
            try write(
                "rate_dps = 90\n[[frame]]\npitch = 20\n",
                to: daemon.directory.appending("shot.toml"))
            let run = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "shoot",
                    "\(daemon.directory)/shot.toml", "--state", "\(daemon.directory)/shot.json",
                ], in: daemon.directory)
            // The shot has checked the range, and waits for its first move.
            try #require(eventually(within: 10) { run.errors.contains("is in control") })
            let range = #"{"key":"motion.range_deg","value":[[-360,360],[-60,60],[-120,10]]}"#
            let changed = try other.ask(#"{"id":2,"method":"set","params":\#(range)}"#)
            #expect(changed["error"] == nil, "\(changed)")
            #expect(try other.ask(#"{"id":3,"method":"release"}"#)["error"] == nil)
            #expect(run.hasEnded(within: 10), "\(run.errors)")
            #expect(run.exitStatus == 1)
            #expect(
                run.errors.contains("Waypoint 1 is outside motion.range_deg")
                    && run.errors.contains("`airframectl shoot resume` continues"), "\(run.errors)")
        }
    }

    @Test("a GPIO line that cannot be used is an error with a remedy, before the camera moves")
    func missingLine() throws {
        try withDaemon { daemon in
            try daemon.status("running") { $0.isFollowing }
            try write(
                """
                [[frame]]
                yaw = 20
                [shutter]
                kind = "gpio"
                gpio_chip = "/dev/gpiochip-none"
                gpio_line = 4
                """, to: daemon.directory.appending("shot.toml"))
            let shot = try daemon.control(
                "shoot", "\(daemon.directory)/shot.toml", "--state", "\(daemon.directory)/s.json")
            #expect(shot.status == 66)
            #expect(
                shot.errors.contains("/dev/gpiochip-none cannot be used")
                    && shot.errors.contains("`gpiodetect` lists"), "\(shot.errors)")
            #expect(try daemon.ask("status").number("pointing", "target_deg", "yaw") < 10)
        }
    }
}
