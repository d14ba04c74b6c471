import CMallocCounter
import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

/// Sensor on a simulated sysfs tree, with a clock that the test advances.
private final class Bench {
    let kernel = MadeUpIIO()
    let report = SensorReport()
    var wiring = IIOWiring()
    private var sensor: IIOSensor?
    private(set) var now = Instant(nanoseconds: 5_000_000_000)
    private(set) var errors: [BusError] = []
    var areMotorsOn = true

    init() {
        wiring.tree = kernel.tree
        wiring.request.rate = 500
    }

    /// Executes periods of 2 ms.
    @discardableResult
    func run(_ periods: Int, each action: (Int64) -> Void = { _ in }) -> [IMUSample] {
        let sensor = self.sensor ?? IIOSensor(wiring, report: report)
        self.sensor = sensor
        var samples: [IMUSample] = []
        for _ in 0..<periods {
            now = now.advanced(bySeconds: 0.002)
            action(now.nanoseconds)
            var batch = SampleBatch()
            do throws(BusError) {
                try sensor.read(into: &batch, time: now, now: now)
            } catch {
                errors.append(error)
            }
            if !areMotorsOn { sensor.findMissingParts(now: now) }
            for index in 0..<batch.count { samples.append(batch[index]) }
        }
        return samples
    }
}

@Suite("A sensor with a driver in the kernel")
struct IIOSensorTests {
    /// Scan of an MPU-6050 at rest: 1 g along z, 25 °C, 0.01 rad/s about x.
    private static func rest(_ time: Int64) -> [UInt8] {
        MadeUpIIO.scan([0, 0, 2049, -3920, 9, 0, 0], time: time)
    }

    @Test("range, rate, filter, clock and channels are set, and samples have the driver's times")
    func oneDevice() throws {
        let bench = Bench()
        bench.wiring.request.lowPass = 100
        bench.kernel.addMPU(files: [
            "in_anglvel_filter_low_pass_3db_frequency": "20",
            "in_anglvel_filter_low_pass_3db_frequency_available": "20 42 98 188",
        ])
        #expect(bench.run(20).isEmpty)
        #expect(bench.report.isRunning, "\(bench.report.lastFailure ?? "") \(bench.errors)")
        func text(_ file: String) -> String? { bench.kernel.text("iio:device0/\(file)") }
        #expect(text("current_timestamp_clock") == "monotonic")
        #expect(text("in_anglvel_scale") == "0.001064724" && text("in_accel_scale") == "0.004785")
        #expect(text("sampling_frequency") == "500")
        #expect(text("in_anglvel_filter_low_pass_3db_frequency") == "188")
        #expect(text("buffer/enable") == "1" && text("buffer/length") == "128")
        #expect(text("scan_elements/in_anglvel_x_en") == "1")
        let samples = bench.run(10) { now in
            bench.kernel.deliver(Self.rest(now - 1_300_000) + Self.rest(now - 300_000), from: 0)
        }
        #expect(samples.count == 20)
        let last = try #require(samples.last)
        #expect(last.time.nanoseconds == bench.now.nanoseconds - 300_000)
        // The mount matrix turns x into y.
        #expect((last.gyro - Vector3(0, 9 * 0.001064724, 0)).lengthForTest < 1e-9)
        #expect((last.accel - Vector3(0, 0, 2049 * 0.004785)).lengthForTest < 1e-9)
        #expect(last.contents.contains(.temperature) && abs(last.temperature - 25) < 0.01)
    }

    private static func addPair(_ kernel: MadeUpIIO) {
        kernel.add(
            0, name: "bma400", channels: MadeUpIIO.axes("accel", "le:s16/16>>0"),
            files: ["in_accel_scale": "0.01"])
        kernel.add(
            3, name: "lsm6dsox_gyro", channels: MadeUpIIO.axes("anglvel", "be:s16/16>>0"),
            files: ["in_anglvel_scale": "0.001222", "sampling_frequency": "500"])
        kernel.add(
            4, name: "lsm6dsox_accel", channels: MadeUpIIO.axes("accel", "be:s16/16>>0"),
            files: ["in_accel_scale": "0.004787", "sampling_frequency": "500"])
        kernel.add(
            5, name: "lis3mdl", channels: MadeUpIIO.axes("magn", "be:s16/16>>0"),
            files: ["in_magn_scale": "0.000146"])
    }

    @Test("an accelerometer in a separate device is resampled to the gyroscope's times")
    func twoDevices() throws {
        let bench = Bench()
        bench.wiring.magnetometer = "lis3mdl"
        Self.addPair(bench.kernel)
        bench.run(40)
        #expect(bench.report.isRunning, "\(bench.report.lastFailure ?? "") \(bench.errors)")
        #expect(bench.kernel.text("iio:device0/buffer/enable") == "0", "another accelerometer")
        // The acceleration grows by one count in each period, which is 0.5 counts per millisecond.
        var period: Int16 = 0
        let samples = bench.run(50) { now in
            period += 1
            bench.kernel.deliver(
                MadeUpIIO.scan([1000 + period, 0, 0], time: now - 1_500_000), from: 4)
            bench.kernel.deliver(MadeUpIIO.scan([10, 0, 0], time: now - 400_000), from: 3)
            if period == 25 {
                bench.kernel.deliver(MadeUpIIO.scan([100, 0, 300], time: now - 900_000), from: 5)
            }
        }
        #expect(samples.count == 50)
        let last = try #require(samples.last)
        #expect(abs(last.accel.x - (1050 + 0.55) * 0.004787) < 1e-6)
        let fields = samples.filter { $0.contents.contains(.magneticField) }
        #expect(fields.count == 1, "each measurement is used once")
        #expect(abs((fields.first?.magneticField.z ?? 0) - 300 * 0.0146) < 1e-9)
    }

    @Test("a magnetometer that is late or plugged in again is used, after the motors have been off")
    func lateMagnetometer() {
        let bench = Bench()
        bench.wiring.magnetometer = "lis3mdl"
        Self.addPair(bench.kernel)
        bench.kernel.removeDevice(5)
        var number = 0
        /// Number of measurements of the magnetometer's device in the samples.
        func fields(_ periods: Int) -> Int {
            bench.run(periods) { now in
                for device in [4, 3] {
                    bench.kernel.deliver(
                        MadeUpIIO.scan([10, 0, 0], time: now - 400_000), from: device)
                }
                guard bench.kernel.text("iio:device\(number)/buffer/enable") == "1" else { return }
                let value = Int16(truncatingIfNeeded: now / 2_000_000 % 1000)
                bench.kernel.deliver(
                    MadeUpIIO.scan([value, 0, 300], time: now - 900_000), from: number)
            }.count { $0.contents.contains(.magneticField) }
        }
        #expect(fields(100) == 0 && bench.report.isRunning)
        for device in [5, 6] {
            number = device
            bench.kernel.add(
                device, name: "lis3mdl", channels: MadeUpIIO.axes("magn", "be:s16/16>>0"),
                files: ["in_magn_scale": "0.000146"])
            bench.areMotorsOn = true
            #expect(fields(3000) == 0, "the motors are on")
            bench.areMotorsOn = false
            _ = fields(3000)
            #expect(fields(10) == 10 && bench.report.outages == 0)
            bench.kernel.removeDevice(device)
        }
    }

    @Test("devices are found by name, label and number; a wrong name is reported")
    func names() throws {
        let kernel = MadeUpIIO()
        Self.addPair(kernel)
        kernel.write("camera", to: "iio:device4/label")
        let devices = IIODevice.all(in: kernel.tree)
        func choice(_ gyroscope: String?, _ accelerometer: String?) throws(IIOFailure) -> [Int] {
            var wiring = IIOWiring()
            (wiring.gyroscope, wiring.accelerometer) = (gyroscope, accelerometer)
            return try IIOChoice(wiring, devices).parts.map(\.device.number)
        }
        #expect(try choice(nil, nil) == [3, 4])
        #expect(try choice("iio:device3", "camera") == [3, 4])
        #expect(try choice("lsm6dsox_gyro", "bma400") == [3, 0])
        #expect(throws: IIOFailure.self) { try choice("lsm6dsox_accel", nil) }
        #expect(throws: IIOFailure.self) { try choice("nowhere", nil) }
        #expect(throws: IIOFailure.self) { try IIOChoice(IIOWiring(), []) }
    }

    @Test(
        "an unsuitable device is refused with the reason",
        arguments: [
            ("in_anglvel_scale", "0", "scale"), ("in_anglvel_scale", "fast", "scale"),
            ("in_anglvel_scale", "0.000133090", "imu.gyro_range_dps"),
            ("in_accel_scale", "0.000598", "imu.accel_range_g"),
            ("in_accel_mount_matrix", "1, 0, 0; 0, 1, 0; 0, 0, -1", "rotation"),
        ])
    func refused(file: String, text: String, words: String) throws {
        let bench = Bench()
        let scales = ["in_anglvel_scale": "0.001064724", "in_accel_scale": "0.004785"]
        bench.kernel.addMPU(files: scales.merging([file: text]) { $1 })
        for name in ["in_anglvel_scale", "in_accel_scale"] {
            unlink("\(bench.kernel.tree.devices)/iio:device0/\(name)_available")
        }
        bench.run(20)
        #expect(!bench.report.isRunning)
        #expect(
            bench.report.lastFailure?.contains(words) == true, "\(bench.report.lastFailure ?? "")")
    }

    @Test("a channel of unknown format, and a buffer without the time, are refused")
    func unreadable() throws {
        let bench = Bench()
        bench.kernel.addMPU()
        bench.kernel.write("le:f32/32>>0", to: "iio:device0/scan_elements/in_temp_type")
        bench.run(20)
        #expect(bench.report.lastFailure?.contains("unknown format") == true)
        let other = Bench()
        other.kernel.add(
            0, name: "old",
            channels: MadeUpIIO.axes("accel", "le:s16/16>>0")
                + MadeUpIIO.axes("anglvel", "le:s16/16>>0"),
            timestamp: false, files: MadeUpIIO.mpuFiles)
        other.run(20)
        #expect(other.report.lastFailure?.contains("has no time") == true)
    }

    @Test("the configured trigger is the gyroscope's; another device keeps its own trigger")
    func triggers() throws {
        let bench = Bench()
        bench.wiring.request.trigger = "timer"
        Self.addPair(bench.kernel)
        for device in 3...4 {
            bench.kernel.write("", to: "iio:device\(device)/trigger/current_trigger")
        }
        bench.kernel.write("timer", to: "trigger0/name")
        bench.kernel.write("lsm6dsox_accel-dev4", to: "trigger1/name")
        bench.run(40)
        #expect(bench.report.isRunning, "\(bench.report.lastFailure ?? "")")
        #expect(bench.kernel.text("iio:device3/trigger/current_trigger") == "timer")
        #expect(bench.kernel.text("iio:device4/trigger/current_trigger") == "lsm6dsox_accel-dev4")
    }

    @Test("a low-pass filter that the driver does not report afterwards is refused")
    func lowPass() {
        let bench = Bench()
        bench.wiring.request.lowPass = 100
        let file = "in_anglvel_filter_low_pass_3db_frequency"
        bench.kernel.addMPU(files: [file: "20"])
        // Every write to this file succeeds, and has no effect.
        unlink("\(bench.kernel.tree.devices)/iio:device0/\(file)")
        symlink("/dev/null", "\(bench.kernel.tree.devices)/iio:device0/\(file)")
        bench.run(20)
        #expect(!bench.report.isRunning)
        #expect(bench.report.lastFailure?.contains("hardware.iio.low_pass_hz") == true)
    }

    @Test(
        "a driver that needs a trigger gets its own trigger, and a missing trigger is reported",
        arguments: ["mpu6050-dev0", "mpu6050-trigger"])
    func trigger(name: String) {
        let bench = Bench()
        bench.kernel.addMPU(files: ["trigger/current_trigger": ""])
        bench.run(20)
        #expect(bench.report.lastFailure?.contains("hardware.iio.trigger") == true)
        bench.kernel.write(name, to: "trigger7/name")
        bench.run(120)
        #expect(bench.report.isRunning)
        #expect(bench.kernel.text("iio:device0/trigger/current_trigger") == name)
    }

    @Test("of two chips of one type, each gets its own trigger")
    func twoTriggers() {
        let bench = Bench()
        bench.wiring.gyroscope = "iio:device1"
        for number in 0...1 {
            bench.kernel.addMPU(number, files: ["trigger/current_trigger": ""])
        }
        bench.kernel.write("mpu6050-dev0", to: "trigger0/name")
        bench.run(20)
        #expect(bench.report.lastFailure?.contains("hardware.iio.trigger") == true)
        bench.kernel.write("mpu6050-dev1", to: "trigger1/name")
        bench.run(120)
        #expect(bench.report.isRunning, "\(bench.report.lastFailure ?? "")")
        #expect(bench.kernel.text("iio:device1/trigger/current_trigger") == "mpu6050-dev1")
    }

    @Test("a file that cannot be written is reported as a bus error of the device")
    func readOnly() throws {
        let bench = Bench()
        bench.kernel.addMPU()
        let file = "\(bench.kernel.tree.devices)/iio:device0/current_timestamp_clock"
        unlink(file)
        symlink("/dev/full", file)
        bench.run(20)
        let error = try #require(bench.errors.first)
        #expect(error.device == .iio && error.code == ENOSPC && error.address == 0)
        #expect(error.description.contains("iio:device0"))
        #expect(bench.report.failedTransfers > 0)
    }

    @Test("a device that is silent for 0.1 s is set up again, and works when it measures again")
    func stall() throws {
        let bench = Bench()
        bench.kernel.addMPU()
        bench.run(20)
        #expect(bench.run(200) { bench.kernel.deliver(Self.rest($0), from: 0) }.count == 200)
        #expect(bench.run(60).isEmpty)
        #expect(bench.report.stalls == 1 && bench.report.lastFailure == nil)
        bench.run(20)
        #expect(bench.run(20) { bench.kernel.deliver(Self.rest($0), from: 0) }.count > 10)
        #expect(bench.report.isRunning)
    }

    @Test("a device that vanishes and returns with another number is found again")
    func removed() throws {
        let bench = Bench()
        bench.kernel.addMPU(0)
        bench.run(20)
        #expect(bench.run(10) { bench.kernel.deliver(Self.rest($0), from: 0) }.count == 10)
        bench.kernel.removeDevice(0)
        bench.run(400)
        #expect(!bench.report.isRunning)
        #expect(bench.report.lastFailure?.contains("missing") == true)
        bench.kernel.addMPU(2)
        bench.run(120)
        #expect(bench.run(10) { bench.kernel.deliver(Self.rest($0), from: 2) }.count == 10)
        #expect(bench.report.lastFailure == nil)
    }

    @Test("scans with times of another clock, repeated scans and incomplete scans give no sample")
    func wrongTimes() throws {
        let bench = Bench()
        bench.kernel.addMPU()
        bench.run(20)
        #expect(
            bench.run(5) { _ in
                bench.kernel.deliver(Self.rest(1_700_000_000_000_000_000), from: 0)
            }.isEmpty)
        #expect(bench.report.wrongTimes == 5)
        let repeated = bench.now.nanoseconds
        #expect(
            bench.run(5) { _ in bench.kernel.deliver(Self.rest(repeated), from: 0) }.count == 1)
        #expect(
            bench.run(5) { bench.kernel.deliver(Array(Self.rest($0).prefix(16)), from: 0) }.isEmpty)
    }

    @Test("a backlog is read at 16 samples per period")
    func backlog() throws {
        let bench = Bench()
        bench.kernel.addMPU()
        bench.run(20)
        let samples = bench.run(1) { now in
            for index in 0..<40 {
                bench.kernel.deliver(Self.rest(now - Int64(40 - index) * 1_000_000), from: 0)
            }
        }
        #expect(samples.count == 16)
        #expect(bench.run(2).count == 24)
    }

    @Test("reading allocates no memory")
    func allocations() throws {
        let bench = Bench()
        Self.addPair(bench.kernel)
        let sensor = IIOSensor(bench.wiring, report: bench.report)
        var now = Instant(nanoseconds: 5_000_000_000)
        var batch = SampleBatch()
        func period() throws(BusError) {
            now = now.advanced(bySeconds: 0.002)
            batch.removeAll()
            try sensor.read(into: &batch, time: now, now: now)
        }
        for _ in 0..<40 { try period() }
        #expect(bench.report.isRunning)
        let scans = (0..<100).map { index in
            let time = now.nanoseconds + Int64(index + 1) * 2_000_000
            return MadeUpIIO.scan([1, 2, 3], time: time)
        }
        var count = 0
        var total: Int64 = 0
        for scan in scans {
            bench.kernel.deliver(scan, from: 4)
            bench.kernel.deliver(scan, from: 3)
            let before = mc_count()
            try period()
            total += mc_count() - before
            count += batch.count
        }
        #expect(count == 100)
        if mc_is_active() { #expect(total == 0) }
    }
}

@Suite("List of the kernel's inertial sensors")
struct IIOInventoryTests {
    @Test("the list has a line for each inertial sensor")
    func lines() {
        let kernel = MadeUpIIO()
        kernel.addMPU()
        kernel.write("temperature", to: "iio:device1/name")
        kernel.write("5", to: "iio:device2/in_accel_x_raw")
        kernel.write("adxl345", to: "iio:device2/name")
        kernel.write("handle", to: "iio:device2/label")
        #expect(
            IIOInventory.lines(kernel.tree) == [
                "iio:device0 mpu6050: gyroscope, accelerometer at 50 Hz, with a buffer",
                "iio:device2 adxl345 (handle): accelerometer, without a buffer: not usable",
            ])
        #expect(IIOInventory.lines(IIOTree(devices: "/nowhere")).isEmpty)
    }
}
