import Configuration
import GimbalCore
import Realtime
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Checks of doctor for the computer") struct MachineDoctorTests {
    /// Status and facts of a computer without any problem.
    private var good: (Status, MachineFacts) {
        var status = Status()
        status.backend = "linux"
        let facts = MachineFacts(
            governor: "performance", directory: "/var/lib/airframe", freeBytes: 1 << 30,
            isWritable: true, watchdogSeconds: 2, isClockSynchronised: true)
        return (status, facts)
    }

    private func check(
        _ name: String, _ change: (inout Status, inout MachineFacts) -> Void
    ) throws -> DoctorCheck {
        var (status, facts) = good
        change(&status, &facts)
        let checks = MachineDoctor(status: status, facts: facts).checks
        return try #require(checks.first { $0.name == name })
    }

    @Test("a computer without problems causes no finding")
    func allWell() {
        for check in MachineDoctor(status: good.0, facts: good.1).checks {
            #expect(check.level == .ok && check.remedy.isEmpty, "\(check.name): \(check.finding)")
        }
    }

    @Test("each problem is a warning with a remedy")
    func troubles() throws {
        let found = [
            try check("governor") { $1.governor = "ondemand" },
            try check("disk") { $1.freeBytes = nil },
            try check("disk") { $1.freeBytes = 1 << 20 },
            try check("disk") { $1.isWritable = false },
            try check("wall clock") { $1.isClockSynchronised = false },
            try check("watchdog") { $1.watchdogSeconds = nil },
            try check("configuration") { status, _ in
                status.configuration.needsRestart = ["loop.rate_hz"]
            },
            try check("configuration") { $1.startProblem = "airframed.toml:3: ] is missing." },
            try check("configuration") { $1.unusedChips = "airframed simulates a gimbal." },
            try check("saved values") { status, _ in
                status.configuration.ignored = ["servo.direction"]
            },
        ]
        for check in found {
            #expect(check.level == .warn, "\(check.name): \(check.finding)")
            #expect(!check.remedy.isEmpty, "\(check.name)")
        }
    }

    @Test(
        "the remedy for an error in the files checks the files of this airframed",
        arguments: [
            ([], "`airframed --check-config`"),
            (["/etc/airframe/airframed.toml"], "`airframed --check-config`"),
            (["/etc/airframe/conf.d/10-motors.toml"], "`airframed --check-config`"),
            (["/home/pi/head.toml"], "`airframed --config /home/pi/head.toml --check-config`"),
        ])
    func checkCommand(files: [String], command: String) throws {
        let check = try check("configuration") { status, facts in
            status.configuration.files = files
            facts.startProblem = "head.toml:3: ] is missing."
        }
        #expect(check.remedy.contains(command), "\(check.remedy)")
    }

    @Test("the check of the configuration names the values in the files that the set-up overrides")
    func overridden() throws {
        let check = try check("configuration") { status, _ in
            status.configuration.overridden = ["motors.direction"]
        }
        #expect(check.level == .ok && check.finding.contains("motors.direction"))
    }

    @Test(
        "a missing CPU governor is not a problem, and a simulated gimbal passes all of these checks"
    )
    func simulated() throws {
        #expect(try check("governor") { $1.governor = nil }.level == .ok)
        let relaxed = try ["governor", "watchdog", "wall clock"].map { name in
            try check(name) {
                $0.backend = "simulated"
                $1 = MachineFacts(governor: "powersave", isClockSynchronised: false)
            }
        }
        #expect(relaxed.allSatisfy { $0.level == .ok })
    }

    @Test("without the kernel's report, systemd-timesyncd tells whether the clock is synchronised")
    func clock() throws {
        try withTemporaryDirectory { directory throws in
            let folder = directory.appending("timesync")
            func state(kernel: Bool? = nil) -> Bool? {
                MachineFacts.clockState(kernel: kernel, directory: folder.string)
            }
            #expect(state() == nil)
            try makeDirectory(folder)
            #expect(state() == false && state(kernel: true) == true)
            try write("", to: folder.appending("synchronized"))
            #expect(state() == true && state(kernel: false) == false)
        }
        let unknown = try check("wall clock") { $1.isClockSynchronised = nil }
        #expect(unknown.finding.hasPrefix("unknown"))
    }

    @Test("the facts are read from this computer")
    func facts() {
        var settings = Settings()
        settings.persistence.directory = "/tmp"
        let facts = MachineFacts.read(settings)
        #expect(facts.isWritable && (facts.freeBytes ?? 0) > 0)
        settings.persistence.directory = "/nonexistent/airframe"
        #expect(MachineFacts.read(settings).freeBytes == nil)
    }

    /// Result of a thread.
    private final class Found: Sendable {
        let governor = Mutex<String?>(nil)
    }

    @Test("a process that may use only one CPU reports the governor of this CPU")
    func onlyCPU() throws {
        try withTemporaryDirectory { directory throws in
            let cpu = try #require(RealtimeSetup.lastCPU)
            let folder = directory.appending("cpu\(cpu)")
            try makeDirectory(folder)
            try makeDirectory(folder.appending("cpufreq"))
            try write("ondemand\n", to: folder.appending("cpufreq").appending("scaling_governor"))
            let (found, cpus) = (Found(), directory.string)
            let thread = try RealtimeThread(
                ThreadConfiguration(name: "one-cpu", priority: nil, cpu: cpu)
            ) {
                let governor = MachineFacts.read(Settings(), cpus: cpus).governor
                found.governor.withLock { $0 = governor }
            }
            #expect(thread.join(until: MonotonicClock.now.advanced(bySeconds: 10)))
            #expect(found.governor.withLock { $0 } == "ondemand")
        }
    }
}
