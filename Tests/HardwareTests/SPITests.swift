import CHardwareShim
import Configuration
import GimbalCore
import Glibc
import Testing

@testable import Hardware

@Suite("SPI")
struct SPITests {
    /// A simulated system call: registers that are read with bit 7 set, and a record of the
    /// requested transfers.
    final class Wire {
        var registers = [UInt8](repeating: 0, count: 128)
        var dummies = 0
        var messages: [[(length: Int, keepsSelected: Bool, clock: Int)]] = []
        var error: Int32 = 0
        var opens = 0

        func device() -> SPIDevice {
            SPIDevice(
                path: "/dev/spidev0.0",
                open: { _, fd in
                    self.opens += 1
                    fd.pointee = dup(0)
                    return 0
                },
                transfer: { _, transfers, count in
                    self.carry(UnsafeBufferPointer(start: transfers, count: Int(count)))
                })
        }

        private func carry(_ transfers: UnsafeBufferPointer<spi_ioc_transfer>) -> Int32 {
            messages.append(transfers.map { (Int($0.len), $0.cs_change == 0, Int($0.speed_hz)) })
            guard error == 0 else { return error }
            for transfer in transfers {
                guard let sent = UnsafePointer<UInt8>(bitPattern: UInt(transfer.tx_buf)),
                    let received = UnsafeMutablePointer<UInt8>(bitPattern: UInt(transfer.rx_buf))
                else { return EFAULT }
                let register = Int(sent[0] & 0x7F)
                if sent[0] & 0x80 == 0 {
                    registers[register] = sent[1]
                    continue
                }
                for index in 0..<Int(transfer.len) {
                    let at = index - 1 - dummies
                    received[index] = at < 0 ? 0xEE : registers[register + at]
                }
            }
            return 0
        }
    }

    @Test("a burst on one chip select is one system call, regardless of the number of registers")
    func oneCall() throws {
        let wire = Wire()
        for index in 0..<128 { wire.registers[index] = UInt8(index) }
        let link = SPIChipLink(parts: [.init(device: wire.device())], clock: 8_000_000)
        link.prepare(ICM42688P(gyroRange: 2000, accelRange: 16).burst)
        let bytes = try link.burst()
        #expect(Array(bytes) == [0x2D] + Array(0x1D...0x2A))
        #expect(wire.messages.count == 1)
        // Chip select is released between the two runs of registers, and at the end.
        #expect(wire.messages[0].map(\.length) == [2, 15])
        #expect(wire.messages[0].map(\.keepsSelected) == [false, true])
        #expect(wire.messages[0].allSatisfy { $0.clock == 8_000_000 })
        _ = try link.burst()
        #expect(wire.messages.count == 2)
    }

    @Test("a BMI088's accelerometer sends a dummy byte first, its gyroscope does not")
    func dummyByte() throws {
        let (accel, gyro) = (Wire(), Wire())
        accel.dummies = 1
        for index in 0..<128 {
            accel.registers[index] = UInt8(index)
            gyro.registers[index] = UInt8(index) + 100
        }
        let link = SPIChipLink(
            parts: [.init(device: accel.device(), dummies: 1), .init(device: gyro.device())],
            clock: 10_000_000)
        link.prepare(BMI088(gyroRange: 2000, accelRange: 24).burst)
        #expect(Array(try link.burst()) == Array(0x12...0x1A) + Array(102...107))
        // Two chip selects are two device files.
        #expect(accel.messages.count == 1 && gyro.messages.count == 1)
        #expect(try link.read(0x22, count: 2, part: 0) == 0x2322)
        #expect(try link.read(0x0F, count: 1, part: 1) == 0x0F + 100)
    }

    @Test("configuration is written and read back at 1 MHz")
    func registers() throws {
        let wire = Wire()
        let link = SPIChipLink(parts: [.init(device: wire.device())], clock: 20_000_000)
        try link.write(0xA5, to: 0x4E, part: 0)
        #expect(wire.registers[0x4E] == 0xA5)
        #expect(try link.read(0x4E, count: 1, part: 0) == 0xA5)
        #expect(wire.messages.flatMap { $0 }.allSatisfy { $0.clock == 1_000_000 })
    }

    @Test("a device that was removed is opened again")
    func removed() throws {
        let wire = Wire()
        let link = SPIChipLink(parts: [.init(device: wire.device())], clock: 1_000_000)
        link.prepare(ICM42688P(gyroRange: 2000, accelRange: 16).burst)
        _ = try link.burst()
        wire.error = ENODEV
        #expect(throws: BusErrno.self) { _ = try link.burst() }
        wire.error = 0
        // The link looks for the device ten times per second.
        let began = MonotonicTime.now
        while MonotonicTime.now - began < 5 {
            if (try? link.burst()) != nil { break }
        }
        #expect(wire.opens == 2)
    }

    @Test(
        "the schedule counts the bits that the messages send on the wire",
        arguments: [SensorChip.bmi088, .mpu6500, .mpu9250, .icm42688p])
    func bits(chip: SensorChip) {
        var settings = Settings()
        settings.hardware.linux.imu = chip
        settings.hardware.linux.imuInterface = .spi
        let device = SPIDevice(path: "/nowhere")
        let link = SPIChipLink(
            parts: [
                .init(device: device, dummies: chip == .bmi088 ? 1 : 0), .init(device: device),
            ],
            clock: 1_000_000)
        link.prepare(BusScheduleTests.description(of: chip).burst)
        #expect(BusSchedule(settings).spiBits == link.burstBits)
        #expect(BusSchedule(settings).sensorBits == 0)
    }

    @Test(
        "with a sensor on SPI, the I2C bus has time for 1 kHz with servos at 400 kHz, and for 2 kHz without servos"
    )
    func rates() {
        var settings = Settings()
        settings.motors.type = .servo
        settings.hardware.linux.imuInterface = .spi
        settings.hardware.linux.spiKhz = 8000
        #expect(BusSchedule(settings).load(rate: 1000) < BusSchedule.share)
        settings.hardware.linux.motors = .none
        #expect(BusSchedule(settings).fastest >= 2000)
    }

    private enum MonotonicTime {
        static var now: Double {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
    }
}
