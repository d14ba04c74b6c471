import Configuration
import GimbalCore
import Testing

@Suite("Settings of IMUs and encoders")
struct SensorSettingsTests {
    static let base =
        "hardware.backend = 'linux'\nmotors.type = 'servo'\nloop.rate_hz = 200\nhardware.linux."

    @Test(
        "the selected sensor sets the defaults of its address, range and filter delay",
        arguments: [
            ("bmi088", 0x18, 24.0, 1.0), ("mpu6050", 0x68, 16, 1.9), ("mpu6500", 0x68, 16, 2.9),
            ("mpu9250", 0x68, 16, 2.9), ("icm42688p", 0x68, 16, 1.3),
            ("icm20948", 0x68, 16, 1.1),
        ])
    func defaults(name: String, address: Int, range: Double, delay: Double) throws {
        let settings = try load(Self.base + "imu = '\(name)'").settings
        #expect(settings.hardware.linux.imuAddress == address)
        #expect(settings.imu.accelRangeG == range)
        #expect(settings.imu.filterDelayMs == delay)
        let own = try load(
            Self.base + "imu = '\(name)'\nhardware.linux.imu_address = 25\nimu.filter_delay_ms = 2"
        ).settings
        #expect(own.hardware.linux.imuAddress == 25 && own.imu.filterDelayMs == 2)
    }

    @Test(
        "the default filter delay of a kernel driver's sensor is that of its low-pass, at most 20 ms",
        arguments: [(0.0, 1.1), (20, 11.3), (10, 20), (5, 20), (0.001, 20)])
    func kernelFilter(corner: Double, delay: Double) throws {
        let text = Self.base + "imu = 'iio'\nhardware.iio.low_pass_hz = \(corner)"
        #expect(try load(text).settings.imu.filterDelayMs == delay)
        // The default is also a permitted value.
        #expect(problems(text + "\nimu.filter_delay_ms = \(delay)").isEmpty)
    }

    @Test("without real chips, the selected sensor changes no default")
    func simulated() throws {
        let settings = try load("hardware.linux.imu = 'mpu6050'").settings
        #expect(settings.imu.filterDelayMs == Settings().imu.filterDelayMs)
        #expect(settings.imu.accelRangeG == Settings().imu.accelRangeG)
    }

    @Test(
        "the loop expects the range that the chip has, not the range that the settings request",
        arguments: [
            ("bmi088", 300.0, 16.0, 500.0, 24.0), ("bmi088", 2000.0, 24.0, 2000.0, 24.0),
            ("mpu6050", 4000.0, 24.0, 2000.0, 16.0), ("icm42688p", 125.0, 3.0, 125.0, 4.0),
        ])
    func ranges(
        name: String, gyro: Double, accel: Double, realGyro: Double, realAccel: Double
    ) throws {
        let ranges = "imu.gyro_range_dps = \(gyro)\nimu.accel_range_g = \(accel)"
        let core = try load(Self.base + "imu = '\(name)'\n\(ranges)").settings
            .stabilizerParameters
        #expect(abs(core.screen.gyroRange * 180 / .pi - realGyro) < 1e-9)
        #expect(abs(core.screen.accelRange / 9.80665 - realAccel) < 1e-9)
        #expect(core.estimator.gyroRange == core.screen.gyroRange)
        let simulated = try load(ranges).settings.stabilizerParameters.screen
        #expect(abs(simulated.gyroRange * 180 / .pi - gyro) < 1e-9)
        #expect(abs(simulated.accelRange / 9.80665 - accel) < 1e-9)
    }

    @Test(
        "an impossible combination is refused, and the message contains the remedy",
        arguments: [
            (
                "imu = 'mpu6050'\nhardware.linux.imu_interface = 'spi'",
                "does not suit an MPU-6050"
            ),
            (
                "imu = 'mpu6050'\nhardware.linux.handle_imu = 'mpu6050'\nhardware.linux.handle_address = 104",
                "is also the address of the camera's sensor on the same bus"
            ),
            (
                "handle_imu = 'bmi088'\nhardware.linux.handle_address = 24",
                "is also the address of the camera's sensor on the same bus"
            ),
            ("handle_imu = 'bmi088'", "needs hardware.linux.handle_address = 0x18 or 0x19"),
            (
                "encoders = 'as5600'\nhardware.linux.encoder_bus_roll = '/dev/i2c-11'",
                "every AS5600 has the address 0x36"
            ),
            (
                "encoders = 'as5600'\nservo.travel_deg = [720, 180, 180]\n"
                    + "joints.range_deg = [[-270, 270], [-45, 45], [-90, 90]]",
                "lets yaw turn by more than 360 degrees"
            ),
            ("encoder_direction = [1, 0, 1]", "must be 1 or -1 for each joint"),
            ("imu_fifo = true", "is not supported for hardware.linux.imu"),
            (
                "imu = 'icm42688p'\nhardware.linux.imu_fifo = true\nhardware.linux.data_ready_line = 4",
                "cannot be combined with hardware.linux.data_ready_line"
            ),
            (
                "imu = 'mpu9250'\nhardware.linux.imu_interface = 'spi'\nhardware.linux.spi_khz = 100\n"
                    + "loop.rate_hz = 1000",
                "and of SPI at 100 kHz; at most 80 % is allowed. The highest possible loop.rate_hz with this bus is 350 Hz."
            ),
        ])
    func refusals(text: String, expected: String) throws {
        let full = Self.base + text
        let found = problems(
            full.contains("rate_hz = 1000")
                ? full.replacing("loop.rate_hz = 200\n", with: "") : full)
        #expect(found.count == 1)
        let sentence = try #require(found.first).description
        #expect(sentence.contains(expected), "\(sentence)")
    }

    @Test("a loop that is too slow for the samples of the FIFO is refused", arguments: [76, 75])
    func slowLoop(rateHz: Int) {
        let text =
            "hardware.backend = 'linux'\nmotors.type = 'servo'\nhardware.linux.imu = 'mpu6500'\n"
            + "imu.timeout_ms = 40\nloop.rate_hz = \(rateHz)\n"
        #expect(problems(text).isEmpty)
        let found = problems(text + "hardware.linux.imu_fifo = true").map(\.description)
        #expect(found.isEmpty == (rateHz == 76))
        #expect(found.allSatisfy { $0.contains("Set loop.rate_hz to at least 76") }, "\(found)")
    }

    @Test("a handle sensor at another address, and encoders on separate buses, are valid")
    func allowed() {
        #expect(
            problems(Self.base + "imu = 'mpu6050'\nhardware.linux.handle_imu = 'mpu6050'").isEmpty)
        #expect(
            problems(
                Self.base + "handle_imu = 'bmi088'\nhardware.linux.handle_address = 25"
            ).isEmpty)
        #expect(problems(Self.base + "encoders = 'as5600'").isEmpty)
        for yaw in ["[-200, 160]", "[-360, 360]"] {
            let text = "encoders = 'as5600'\nservo.travel_deg = [720, 180, 180]\n"
            let range = "joints.range_deg = [\(yaw), [-45, 45], [-90, 90]]"
            #expect(problems(Self.base + text + range).isEmpty)
        }
        #expect(
            problems(Self.base + "imu = 'icm42688p'\nhardware.linux.imu_interface = 'spi'").isEmpty)
    }
}
