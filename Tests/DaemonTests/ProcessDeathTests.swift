import CLinuxShim
import Configuration
import Glibc
import GimbalCore
import Hardware
import Realtime
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Daemon

@Suite("Watchdog and end of the process")
struct ProcessDeathTests {
    final class Count: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func increase() { number.withLock { $0 += 1 } }
    }

    @Test(
        "the watchdog is notified while loop and bus make progress, and not when one of them hangs"
    )
    func progress() {
        let fed = Count()
        var feeder = WatchdogFeeder(patience: 2) { fed.increase() }
        var progress = WatchdogFeeder.Progress(ticks: 0, periods: 0)
        func run(_ seconds: Double, from start: Double, loop: Bool, bus: Bool) {
            for step in 0..<Int(seconds * 200) {
                if loop { progress.ticks += 5 }
                if bus { progress.periods += 5 }
                feeder.look(at: progress, now: start + Double(step) * 0.005)
            }
        }
        run(10, from: 0, loop: true, bus: true)
        #expect((19...21).contains(fed.value))
        for (loop, bus) in [(false, true), (true, false), (false, false)] {
            run(1, from: 100, loop: false, bus: false)
            let before = fed.value
            run(10, from: 200, loop: loop, bus: bus)
            #expect(fed.value <= before + 1)
        }
        let before = fed.value
        run(2, from: 300, loop: true, bus: true)
        #expect(fed.value > before)
    }

    @Test("systemd receives READY, WATCHDOG and STOPPING on its socket")
    func socket() throws {
        try withTemporaryDirectory { try hear(at: "\($0.string)/notify") }
    }

    @Test("in lockstep the watchdog is notified, also while no simulator is connected")
    func lockstep() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/notify"
            let socket = try NotificationSocket(path)
            let daemon = try RunningDaemon(
                in: directory, Simulator.arguments(in: directory),
                through: ["env", "NOTIFY_SOCKET=\(path)", "WATCHDOG_USEC=400000"])
            var count = 0
            let isFed = eventually(within: 5) {
                if socket.next() == "WATCHDOG=1" { count += 1 }
                return count == 3
            }
            #expect(isFed, "\(count) notifications: \(daemon.log)")
        }
    }

    private func hear(at path: String) throws {
        let socket = try NotificationSocket(path)
        let manager = ServiceManager { name in
            ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000"][name]
        }
        manager.ready()
        var feeder = try #require(manager.feeder)
        feeder.look(at: .init(ticks: 1, periods: 1), now: 0)
        feeder.look(at: .init(ticks: 2, periods: 2), now: 1)
        manager.stopping()
        let heard = (0..<3).map { _ in socket.next() }
        #expect(heard == ["READY=1", "WATCHDOG=1", "STOPPING=1"])
    }

    @Test("without a watchdog, or with the watchdog of another process, no notifications are sent")
    func noWatchdog() {
        #expect(ServiceManager { _ in nil }.feeder == nil)
        let other = ServiceManager { ["WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"][$0] }
        #expect(other.feeder == nil)
    }

    final class StubbornBus: OutputBus, @unchecked Sendable {
        private var failures: Int

        init(failures: Int) { self.failures = failures }

        func write(_ output: MotorOutput, now: Instant) throws(BusError) {}
        func allOff() throws(BusError) {
            guard failures > 0 else { return }
            failures -= 1
            throw BusError(operation: .off, address: 0x40, code: EIO)
        }
    }

    @Test("outputs are turned off despite intermittent bus errors, and a dead bus is reported")
    func outputsOff() throws {
        let bus: any OutputBus = StubbornBus(failures: 5)
        #expect(try OutputsOff.run([bus]) == "The motors are off.")
        let dead: any OutputBus = StubbornBus(failures: .max)
        #expect(throws: DaemonError.self) { try OutputsOff.run([bus, dead]) }
    }

    @Test("in lockstep, airframed --outputs-off does not access the board of the wheels")
    func lockstepWheels() throws {
        var settings = Settings()
        settings.drive.board = .rider
        settings.drive.bus = "/dev/bus-that-does-not-exist"
        #expect(throws: DaemonError.self) { try OutputsOff.run(settings, isComplete: true) }
        settings.hardware.backend = .lockstep
        let sentence = try OutputsOff.run(settings, isComplete: true)
        #expect(sentence == "Backend lockstep drives no motors: nothing to turn off.")
    }

    @Test("servos that have not reported that they are off are named")
    func unconfirmed() throws {
        let warning = try #require(OutputsOff.warning(DriveReports(), servos: [.yaw, .pitch]))
        #expect(warning.contains("have not confirmed them: yaw, pitch. "))
        #expect(OutputsOff.warning(DriveReports(), servos: []) == nil)
    }

    @Test("drives whose supply is off need not confirm that they are off")
    func supplyOff() throws {
        let supply: any OutputBus = StubbornBus(failures: 5)
        let dead: any OutputBus = StubbornBus(failures: .max)
        #expect(try OutputsOff.run([dead], supply: supply) == "The motors are off.")
        #expect(throws: DaemonError.self) { try OutputsOff.run([], supply: dead) }
        #expect(throws: DaemonError.self) { try OutputsOff.run([dead], supply: dead) }
    }
}
