import Configuration
import Testing
import Wire

@testable import Daemon

@Suite("Checks of doctor in the daemon") struct DoctorTests {
    /// Status of a machine without any problem.
    private var healthy: Status {
        var status = Status()
        status.imu.samples = 1000
        status.loop.ticks = 1000
        return status
    }

    private func check(_ name: String, _ change: (inout Status) -> Void) -> DoctorCheck? {
        var status = healthy
        change(&status)
        return Doctor(status: status).checks.first { $0.name == name }
    }

    @Test("all checks pass on a healthy machine")
    func allWell() {
        for check in Doctor(status: healthy).checks {
            #expect(check.level == .ok, "\(check.name): \(check.finding)")
            #expect(check.remedy.isEmpty)
        }
    }

    @Test("the recorder's files are counted in the singular or the plural", arguments: [1, 2])
    func recorderFiles(count: Int) {
        let found = check("recorder") {
            $0.recorder.isEnabled = true
            $0.recorder.files = count
        }
        let files = count == 1 ? "1 file" : "2 files"
        #expect(found?.finding == "0 s in memory, \(files) on disk")
    }

    @Test("each fault is reported with a remedy")
    func faults() {
        let found: [(DoctorCheck?, DoctorCheck.Level)] = [
            (check("samples") { $0.faults.rejectedSamples = ["imu_frozen": 3] }, .warn),
            (check("deadline") { $0.loop.lateSamples = 50 }, .warn),
            (check("drops") { $0.faults.telemetryDrops = 1 }, .warn),
            (check("bus") { $0.faults.busErrors = 1 }, .warn),
            (
                check("bus") {
                    $0.faults.busErrors = 1
                    $0.inhibitions = [Inhibition(name: "imu_missing", sentence: "Nothing answers.")]
                }, .fail
            ),
            (
                check("motion") {
                    $0.inhibitions = [Inhibition(name: "imu_stale", sentence: "Check its bus.")]
                }, .fail
            ),
        ]
        for (check, level) in found {
            #expect(check?.level == level, "\(check?.name ?? "missing"): \(check?.finding ?? "")")
            #expect(check?.remedy.isEmpty == false, "\(check?.name ?? "missing")")
        }
    }

    @Test(
        "motors that are off at a user's request are a warning, not a failure",
        arguments: ["inactive_mode", "retracted", "calibrating"])
    func request(name: String) throws {
        let found = try #require(
            check("motion") {
                $0.inhibitions = [Inhibition(name: name, sentence: "Select another mode.")]
            })
        #expect(found.level == .warn)
        #expect(!found.remedy.isEmpty)
    }

    @Test("the remedy for a failed self-test is a still camera, not another address")
    func selfTest() throws {
        let failed = try #require(
            check("sensor") {
                $0.imu.setUpFailure = "failed the self-test of its gyroscope"
            })
        #expect(failed.level == .fail)
        #expect(failed.remedy.contains("Hold the camera still"))
        let other = try #require(
            check("sensor") { $0.imu.setUpFailure = "is not an MPU-6050 (WHO_AM_I)" })
        #expect(other.remedy.contains("the sensor's address"))
    }

    @Test("settings that the sensor's driver cannot use are a warning with a remedy for each")
    func sensorSettings() throws {
        #expect(check("sensor settings") { _ in } == nil)
        let found = try #require(
            check("sensor settings") {
                $0.imu.ignoredSettings = ["hardware.iio.low_pass_hz", "hardware.iio.trigger"]
            })
        #expect(found.level == .warn)
        #expect(found.finding.hasSuffix("hardware.iio.low_pass_hz and hardware.iio.trigger"))
        #expect(found.remedy.contains("set hardware.iio.low_pass_hz to 0"))
        #expect(found.remedy.contains("Remove hardware.iio.trigger"))
    }

    @Test("a sensor on the handle that delivers no samples is reported with the reason")
    func handleSensor() {
        func found(_ failure: String?, isMissing: Bool = true) -> DoctorCheck? {
            check("handle sensor") {
                $0.imu.handleFaults = ["failed_transfer": 7]
                $0.imu.handleSetUpFailure = failure
                if isMissing {
                    $0.notices = [Inhibition(name: "handle_imu_missing", sentence: "No samples.")]
                }
            }
        }
        #expect(check("handle sensor") { _ in } == nil)
        #expect(found(nil, isMissing: false)?.level == .ok)
        let silent = found(nil)
        #expect(silent?.level == .fail)
        #expect(silent?.finding == "the sensor on the handle delivers no samples")
        #expect(silent?.remedy.contains("handle_address") == true)
        #expect(found("is not an MPU-6050 (WHO_AM_I)")?.finding.contains("is not an") == true)
    }

    @Test("late edges of the data-ready line are not a fault of the sensor, and name the line")
    func dataReady() {
        #expect(check("data ready") { $0.imu.faults = ["late_edge": 0] } == nil)
        #expect(check("data ready") { $0.imu.faults = ["late_edge": 5] }?.level == .ok)
        let found = check("data ready") { $0.imu.faults = ["late_edge": 900] }
        #expect(found?.level == .warn)
        #expect(found?.finding.hasPrefix("900 of 1000 periods") == true)
        #expect(found?.remedy.contains("data_ready_line") == true)
        #expect(check("sensor") { $0.imu.faults = ["late_edge": 900] }?.level == .ok)
        #expect(check("sensor") { $0.imu.faults = ["stall": 1] }?.level == .warn)
    }

    @Test("after weeks, late samples and late edges of the last seconds are a warning")
    func lateAfterWeeks() {
        var earlier = healthy
        earlier.loop.ticks = 4_000_000_000
        earlier.loop.lateSamples = 300
        earlier.imu.faults = ["late_edge": 300]
        func level(_ name: String, late: Int, since: Status?) -> DoctorCheck.Level? {
            var status = earlier
            status.loop.ticks += 1000
            status.loop.lateSamples += late
            status.imu.faults["late_edge"] = 300 + late
            let checks = Doctor(status: status, earlier: since).checks
            return checks.first { $0.name == name }?.level
        }
        for name in ["deadline", "data ready"] {
            #expect(level(name, late: 1000, since: earlier) == .warn)
            #expect(level(name, late: 20, since: earlier) == .ok)
            #expect(level(name, late: 1000, since: nil) == .ok)
        }
        // A restarted loop counts its ticks from 0 again.
        var restarted = healthy
        restarted.loop.ticks = 100
        let found = Doctor(status: restarted, earlier: earlier).checks
        #expect(found.first { $0.name == "deadline" }?.level == .ok)
    }

    @Test("doctor reports whether the motors can be switched off if a bus hangs")
    func cutOff() {
        #expect(check("cut-off") { $0.motors.cutOff = nil } == nil)
        let none = check("cut-off") { $0.motors.cutOff = MotorStatus.noCutOff }
        #expect(none?.level == .warn)
        #expect(none?.finding.contains("cannot be switched off if the bus hangs") == true)
        #expect(none?.remedy.contains("hardware.linux.power_line") == true)
        #expect(check("cut-off") { $0.motors.cutOff = "line 17 of /dev/gpiochip0" }?.level == .ok)
    }

    @Test("the cut-off follows from the settings, and simulated motors have no cut-off")
    func cutOffOfSettings() {
        var settings = Settings()
        #expect(settings.cutOff == nil)
        settings.hardware.backend = .linux
        #expect(settings.cutOff == MotorStatus.noCutOff)
        settings.hardware.linux.motors = .pwm
        #expect(settings.cutOff == "the board drives the PWM outputs directly, so no bus can hang")
        settings.hardware.linux.powerLine = 17
        #expect(settings.cutOff == "line 17 of /dev/gpiochip0")
        settings.hardware.linux.motors = .none
        #expect(settings.cutOff == nil)
    }

    @Test("doctor reports whether airframed sets the watchdogs of the drives")
    func watchdogs() {
        func found(sets: Bool, cutOff: String?) -> DoctorCheck? {
            check("watchdogs") {
                var can = CANStatus(interface: "can0", protocolName: "odrive")
                can.setsWatchdogs = sets
                $0.can = can
                $0.motors.cutOff = cutOff
            }
        }
        #expect(check("watchdogs") { _ in } == nil)
        #expect(found(sets: true, cutOff: nil)?.level == .ok)
        let unset = found(sets: false, cutOff: "the drives' watchdogs, if they are configured")
        #expect(unset?.level == .warn && unset?.finding.contains("odrive") == true)
        #expect(unset?.remedy.contains("can.md") == true)
        #expect(found(sets: false, cutOff: "line 17 of /dev/gpiochip0")?.level == .ok)
    }

    @Test("doctor names the drives that have not confirmed their watchdogs, with their firmware")
    func unguarded() {
        let found = check("watchdogs") {
            var can = CANStatus(interface: "can0", protocolName: "odrive")
            can.setsWatchdogs = true
            can.unguarded = ["yaw", "pitch"]
            can.drives = ["yaw", "roll", "pitch"].map { DriveStatus(axis: $0, id: 1, state: "off") }
            can.drives[0].firmware = "0.6.8"
            $0.can = can
        }
        #expect(found?.level == .fail)
        #expect(found?.finding.hasSuffix(": yaw (firmware 0.6.8), pitch") == true)
        #expect(found?.remedy.contains("odrive_firmware") == true)
    }

    @Test(
        "doctor does not advise to change the firmware or the watchdog of a silent drive",
        arguments: [["yaw", "pitch"], ["yaw", "roll", "pitch"]])
    func silentUnguarded(silent: [String]) {
        let found = check("watchdogs") {
            var can = CANStatus(interface: "can0", protocolName: "cybergear")
            can.setsWatchdogs = true
            can.unguarded = ["yaw", "pitch"]
            can.drives = ["yaw", "roll", "pitch"].map {
                DriveStatus(axis: $0, id: 1, state: silent.contains($0) ? "silent" : "off")
            }
            $0.can = can
        }
        #expect(found?.level == .warn)
        #expect(found?.finding.hasSuffix(": yaw, pitch") == true)
        #expect(found?.remedy.contains("firmware") == false)
        let mixed = check("watchdogs") {
            var can = CANStatus(interface: "can0", protocolName: "cybergear")
            can.setsWatchdogs = true
            can.unguarded = ["yaw", "pitch"]
            can.drives = ["yaw", "roll", "pitch"].map {
                DriveStatus(axis: $0, id: 1, state: $0 == "yaw" ? "silent" : "off")
            }
            $0.can = can
        }
        #expect(mixed?.level == .fail && mixed?.finding.hasSuffix(": pitch") == true)
    }

    @Test("limits of a supply voltage that nothing measures are a warning with a remedy")
    func supply() {
        func found(_ source: String, _ voltage: Number) -> DoctorCheck? {
            check("supply") { $0.supply = SupplyStatus(source: source, voltageV: voltage) }
        }
        #expect(check("supply") { _ in } == nil)
        #expect(found("motors", 11.1)?.level == .ok)
        let motors = found("motors", .unknown)
        #expect(motors?.level == .warn && motors?.finding.contains("no effect") == true)
        #expect(motors?.remedy.contains("supply.source") == true)
        #expect(found("battery", .unknown)?.remedy.contains("battery.device") == true)
    }

    @Test("doctor reports a serial adapter whose driver refuses the low-latency mode")
    func latency() {
        func found(_ problem: String?) -> DoctorCheck? {
            check("serial") {
                var serial = SerialStatus(
                    port: "/dev/ttyUSB0", baud: 1_000_000, protocolName: "feetech")
                serial.replies = 100
                serial.latencyProblem = problem
                $0.serial = serial
            }
        }
        #expect(found(nil)?.level == .ok)
        let refused = found("Operation not permitted")
        #expect(refused?.level == .warn && refused?.remedy.contains("16 ms") == true)
        #expect(refused?.finding.contains("Operation not permitted") == true)
    }

    @Test("only reasons with a count above zero are listed for rejected samples")
    func reasons() {
        let finding = check("samples") {
            $0.faults.rejectedSamples = ["imu_stale": 2, "imu_gap": 0, "imu_frozen": 1]
        }?.finding
        #expect(finding == "rejected samples since the start: imu_frozen 1, imu_stale 2")
    }
}
