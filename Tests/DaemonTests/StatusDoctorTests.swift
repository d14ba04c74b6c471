import GimbalCore
import Testing
import Wire

@testable import Daemon

@Suite("Checks of doctor that compare two statuses")
struct StatusDoctorTests {
    private func healthy() -> Status {
        var status = Status()
        status.t = 100
        status.backend = "linux"
        status.isEnabled = true
        status.mode = "locked"
        status.attitude.quaternion = [1, 0, 0, 0]
        status.estimator.isConverged = true
        status.estimator.isAtRest = true
        status.imu.accelMS2 = VectorNumbers(x: 0.02, y: -0.01, z: -9.81)
        status.imu.samples = 1000
        status.imu.ageMs = 0.5
        status.imu.rateHz = 1000
        status.loop.rateHz = 1000
        status.loop.achievedHz = 999.9
        status.realtime.policy = "SCHED_FIFO"
        status.realtime.isMemoryLocked = true
        return status
    }

    private func check(
        _ name: String, _ change: (inout Status) -> Void
    ) throws -> DoctorCheck {
        let first = healthy()
        var second = healthy()
        second.t = 101
        change(&second)
        let checks = StatusDoctor.checks(first, second, elapsed: 1)
        return try #require(checks.first { $0.name == name })
    }

    @Test("a healthy machine passes all checks")
    func nothing() {
        var second = healthy()
        second.t = 101
        let checks = StatusDoctor.checks(healthy(), second, elapsed: 1)
        #expect(checks.allSatisfy { $0.level == .ok && $0.remedy.isEmpty })
        #expect(checks.count == 8)
    }

    @Test("an unknown status causes a failure, but no crash")
    func unknown() {
        let checks = StatusDoctor.checks(Status(), Status(), elapsed: 0)
        #expect(checks.contains { $0.level == .fail })
        #expect(!checks.contains { ($0.finding + $0.remedy).lowercased().contains("nan") })
    }

    @Test(
        "a loop clock that is stopped or wrong is reported",
        arguments: [(100.0, DoctorCheck.Level.fail), (100.5, .warn), (101.05, .ok)])
    func clock(t: Double, level: DoctorCheck.Level) throws {
        #expect(try check("clock") { $0.t = Number(t) }.level == level)
    }

    @Test("a loop that misses its rate is reported")
    func rate() throws {
        #expect(try check("loop rate") { $0.loop.achievedHz = 940 }.level == .fail)
        #expect(try check("loop rate") { $0.loop.overruns = 3 }.level == .warn)
    }

    @Test(
        "the remedy for overruns depends on the duration of the loop's work",
        arguments: [
            (31.0, "Stop other programs", "longest wake-up took 2474 µs"),
            (900.0, "Lower loop.rate_hz:", "takes 900 µs of the period of 1000 µs"),
        ])
    func overruns(work: Double, start: String, figures: String) throws {
        let remedy = try check("loop rate") {
            $0.loop.overruns = 3
            $0.loop.stages = [
                StageTiming(name: "wake", p50Us: 50, p99Us: 400, maxUs: 2474),
                StageTiming(name: "control", p50Us: 20, p99Us: Number(work), maxUs: 2000),
            ]
        }.remedy
        #expect(remedy.hasPrefix(start) && remedy.contains(figures), "\(remedy)")
    }

    @Test("missing kernel permissions are reported with the daemon's remedy")
    func realtime() throws {
        let check = try check("real time") {
            $0.realtime.policy = "SCHED_OTHER"
            $0.realtime.sentences = ["Add LimitRTPRIO."]
        }
        #expect(check.level == .warn)
        #expect(check.remedy == "Add LimitRTPRIO.")
        #expect(try self.check("memory lock") { $0.realtime.isMemoryLocked = false }.level == .warn)
    }

    @Test("a silent sensor is reported")
    func silent() throws {
        #expect(try check("imu samples") { $0.imu.ageMs = 500 }.level == .fail)
        #expect(try check("imu samples") { $0.imu.samples = 0 }.level == .fail)
    }

    @Test("a sensor that is slower than the loop is a warning with both rates")
    func slow() throws {
        let check = try check("imu samples") {
            $0.imu.rateHz = 200
            $0.notices = [Inhibition(name: "samples_slow", sentence: "Lower loop.rate_hz.")]
        }
        #expect(check.level == .warn)
        #expect(check.finding.hasPrefix("200 Hz") && check.finding.contains("1000 per second"))
        #expect(check.remedy.contains("hardware.iio.rate_hz"))
    }

    @Test(
        "a wrong range of the accelerometer is reported",
        arguments: [
            (-9.6, true, DoctorCheck.Level.ok), (-8.9, true, .warn), (-4.9, true, .fail),
            (-6.0, false, .ok), (-39.2, false, .fail),
        ])
    func accelerometer(z: Double, isAtRest: Bool, level: DoctorCheck.Level) throws {
        let check = try check("accelerometer") {
            $0.imu.accelMS2 = VectorNumbers(x: 0, y: 0, z: Number(z))
            $0.estimator.isAtRest = isAtRest
        }
        #expect(check.level == level)
    }

    @Test("an IMU that is mounted upside down or on its side is reported")
    func mounting() throws {
        let up = try check("level frame") {
            $0.imu.accelMS2 = VectorNumbers(x: 0, y: 0, z: 9.81)
        }
        #expect(up.level == .warn)
        #expect(up.finding.contains("upside down"))
        let side = try check("level frame") {
            $0.imu.accelMS2 = VectorNumbers(x: 0, y: 9.81, z: 0)
        }
        #expect(side.finding.contains("tilted"))
        #expect(side.remedy.contains("imu.mounting_deg"))
    }

    @Test("the doctor names a calibration of the mounting that replaces imu.mounting_deg")
    func calibratedMounting() throws {
        for z in [9.81, 0] {
            var status = healthy()
            status.imu.accelMS2 = VectorNumbers(x: 0, y: Number(9.81 - z), z: Number(z))
            let checks = StatusDoctor.checks(
                nil, status, elapsed: 0, isMountingCalibrated: true)
            let frame = try #require(checks.first { $0.name == "level frame" })
            #expect(frame.remedy.contains("calibration of the mounting replaces"), "\(frame)")
        }
    }

    @Test(
        "saturated readings are a warning, and a failure if their number grows")
    func fullScale() throws {
        var first = healthy()
        first.imu.gyroSaturatedSamples = 3
        var second = first
        second.t = 101
        func find() -> DoctorCheck? {
            StatusDoctor.checks(first, second, elapsed: 1).first { $0.name == "full scale" }
        }
        #expect(find()?.level == .warn)
        second.imu.accelClippedSamples = 1
        #expect(find()?.level == .fail)
        first = healthy()
        second = healthy()
        #expect(find() == nil)
    }

    @Test(
        "a vibration that is too strong for the sensor is reported",
        arguments: [
            (0.3, 0.5, DoctorCheck.Level.ok), (6, 0.5, .warn), (0.3, 40, .warn),
        ])
    func vibration(accel: Double, gyro: Double, level: DoctorCheck.Level) throws {
        let check = try check("vibration") {
            $0.imu.accelVibrationMS2 = Number(accel)
            $0.imu.gyroVibrationDps = Number(gyro)
        }
        #expect(check.level == level)
        #expect(check.remedy.isEmpty == (level == .ok))
    }

    @Test("broken lines of a robot's motors are reported; without motors, there is no check")
    func robot() throws {
        var robot = RobotStatus(
            motors: [StepperStatus(axis: "x", positionSteps: 12, homing: "done")])
        let fine = try check("robot") { $0.robot = robot }
        #expect(fine.level == .ok && fine.finding == "steps of x 12 from home; 0 line errors")
        robot.problem = "Device or resource busy"
        let check = try check("robot") { $0.robot = robot }
        #expect(check.level == .fail && check.finding.contains("Device or resource busy"))
        #expect(StatusDoctor.robot(Status()) == nil)
    }

    @Test("an invalid attitude is reported")
    func attitude() throws {
        #expect(try check("attitude") { $0.attitude.quaternion[0] = 2 }.level == .fail)
        #expect(try check("attitude") { $0.attitude.quaternion[0] = .unknown }.level == .fail)
        #expect(try check("attitude") { $0.estimator.isConverged = false }.level == .warn)
    }

    @Test("unsaved changes are reported")
    func unsaved() throws {
        let check = try check("settings") { $0.configuration.unsaved = ["control.pitch.kp"] }
        #expect(check.finding == "not saved: control.pitch.kp")
    }

    @Test(
        "a simulator whose rate differs from loop.rate_hz is a warning",
        arguments: [
            (1000, DoctorCheck.Level.ok), (900, .ok), (250, .warn), (2000, .warn), (9000, .warn),
        ])
    func lineRate(lines: Int, level: DoctorCheck.Level) throws {
        var first = healthy()
        first.backend = "lockstep"
        first.lockstep = LockstepStatus()
        first.lockstep?.state = "connected"
        first.lockstep?.t = 7
        first.lockstep?.lines = 500
        var second = first
        second.t = 101
        second.lockstep?.t = 9
        second.lockstep?.lines = 500 + 2 * lines
        let checks = StatusDoctor.checks(first, second, elapsed: 3)
        let check = try #require(checks.first { $0.name == "lockstep" })
        #expect(check.level == level, "\(check.finding)")
        #expect(check.remedy.contains("to \(min(lines, 4000)):") == (level == .warn))
        second.lockstep?.connections = 1
        #expect(
            StatusDoctor.checks(first, second, elapsed: 3).first { $0.name == "lockstep" }?.level
                == .ok)
    }

    @Test("in lockstep, doctor checks the simulator and its connection")
    func lockstep() {
        var first = Status()
        first.backend = "lockstep"
        first.lockstep = LockstepStatus()
        first.lockstep?.socket = "/run/x.sock"
        let waiting = StatusDoctor.checks(first, first, elapsed: 1)
        #expect(waiting.map(\.name) == ["lockstep"])
        #expect(waiting.last?.finding == "waiting for a simulator at /run/x.sock")

        first.lockstep?.state = "connected"
        func verdict(_ second: Status) -> DoctorCheck.Level? {
            StatusDoctor.checks(first, second, elapsed: 1).first { $0.name == "lockstep" }?.level
        }
        #expect(verdict(first) == .ok)
        var second = first
        second.lockstep?.errors = 1
        #expect(verdict(second) == .fail)
        second = first
        second.lockstep?.state = "silent"
        #expect(verdict(second) == .fail)
    }

    @Test(
        "doctor compares with a status that is 0.5 s to 10 s old; without one, it does not check the clock"
    )
    func looks() {
        let looks = StatusHistory()
        var status = healthy()
        func check(_ name: String, at seconds: Double) -> DoctorCheck.Level? {
            status.t = Number(100 + seconds)
            let now = Instant(nanoseconds: 0).advanced(bySeconds: seconds)
            let before = looks.note(status, now: now)
            let checks = StatusDoctor.checks(
                before?.status, status, elapsed: before?.elapsed ?? 0)
            return checks.first { $0.name == name }?.level
        }
        #expect(check("clock", at: 0) == nil)
        // A request of another client does not replace the earlier status.
        #expect(check("clock", at: 0.6) == .ok)
        status.loop.overruns = 3
        #expect(check("clock", at: 1) == .ok)
        #expect(check("loop rate", at: 1.2) == .warn)
        #expect(check("clock", at: 60) == nil)
    }
}
