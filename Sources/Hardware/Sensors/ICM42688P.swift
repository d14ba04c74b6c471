internal import GimbalCore

/// TDK InvenSense ICM-42688-P. The I2C address of the ICM-42688-P is 0x68, or 0x69 if its pin AD0
/// is high. The SPI clock of the ICM-42688-P is up to 24 MHz, in mode 0 or 3.
///
/// Data sheet: DS-000347, revision 1.7. Registers without a bank number are in bank 0. Numbers are
/// big-endian, which is the default after a reset.
struct ICM42688P: IMUChip {
    let name = "icm42688p"
    private let gyroCode: UInt8
    private let accelCode: UInt8
    var testsItself: Bool

    /// Creates a chip's description.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 15.625 times a power of two, up to 2000;
    ///     other values are rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 2, 4, 8 or 16; other values are rounded
    ///     up.
    ///   - testsItself: True if the self test is part of the set-up. The sensor must be at rest for
    ///     0.3 s.
    init(gyroRange: Double, accelRange: Double, testsItself: Bool = true) {
        // GYRO_FS_SEL: code 0 is 2000 deg/s, and each further code halves the range. ACCEL_FS_SEL:
        // code 0 is 16 g, and each further code halves the range.
        gyroCode = UInt8(
            [15.625, 31.25, 62.5, 125, 250, 500, 1000].reversed().prefix { $0 >= gyroRange }.count)
        accelCode = UInt8([2.0, 4, 8].reversed().prefix { $0 >= accelRange }.count)
        self.testsItself = testsItself
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { 2000 / Double(1 << gyroCode) }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { 16 / Double(1 << accelCode) }

    private static let interruptStatus: UInt8 = 0x2D
    private static let power: UInt8 = 0x4E
    private static let gyroConfiguration: UInt8 = 0x4F
    private static let accelConfiguration: UInt8 = 0x50
    private static let selfTestConfiguration: UInt8 = 0x70
    private static let bank: UInt8 = 0x76

    /// Code of the output data rate 1 kHz in GYRO_CONFIG0 and ACCEL_CONFIG0.
    private static let rate: UInt8 = 0x06
    /// Codes in GYRO_CONFIG1 and GYRO_ACCEL_CONFIG0: second-order filters with a corner frequency
    /// of a quarter of the output rate. The anti-alias filter has a corner frequency of 585 Hz
    /// after a reset. The second-order filter and the anti-alias filter each have a delay of √2 /
    /// (2π corner): 0.9 ms and 0.4 ms.
    private static let filterOrder: UInt8 = 0x16
    private static let filterWidth: UInt8 = 0x11
    /// Value of INTF_CONFIG1: its value after a reset, 0x91, with the bits 7 and 6 (AFSR) changed
    /// from 2 to 1. The data sheet calls these bits reserved. With the value after a reset, the
    /// gyroscope changes its own range at about 100 deg/s, and then repeats a rate for up to 2 ms; a
    /// swing therefore turns the estimate away (ArduPilot, issue 25025 and pull request 25332).
    private static let interface: UInt8 = 0x51

    var identity: [ChipIdentity] {
        [
            ChipIdentity(
                register: 0x75, value: 0x47, otherwise: "is not an ICM-42688-P (WHO_AM_I)")
        ]
    }

    var setUp: [SetUpStep] {
        var steps: [SetUpStep] = [
            .write(0, to: Self.bank, part: 0),
            identity[0].step,
            // Register DEVICE_CONFIG resets the chip; a reset takes 1 ms.
            .write(0x01, to: 0x11, part: 0),
            .pause(0.010),
            .write(Self.interface, to: 0x4D, part: 0),
        ]
        if testsItself { steps += Self.selfTest }
        // After a write of PWR_MGMT0 that switches a sensor on, no register may be written for 200 µs
        // (section 14.36).
        steps += MPURegisters.write([audit[0]])
        steps += [.pause(0.001)]
        steps += MPURegisters.write(Array(audit.dropFirst()))
        steps += [
            // Register INT_CONFIG: the pin INT1 is push-pull, with positive pulses. INT_CONFIG1:
            // INT_ASYNC_RESET must be off for the pin to work.
            .write(0x03, to: 0x14, part: 0),
            .write(0x00, to: 0x64, part: 0),
            // The gyroscope needs 45 ms to start.
            .pause(0.060),
        ]
        return steps + .verify(audit)
    }

    /// Steps of the self test: SELF_TEST_CONFIG, and the factory's values in XG_ST_DATA… (bank 1)
    /// and XA_ST_DATA… (bank 2).
    private static let selfTest: [SetUpStep] = SetUpStep.sequence(
        [
            .write(0x60 | rate, to: gyroConfiguration, part: 0),
            .write(0x60 | rate, to: accelConfiguration, part: 0),
            .write(0x0F, to: power, part: 0),
            .pause(0.100),
        ], MPURegisters.keepData((accel: 0, gyro: 1), accel: 0x1F, gyro: 0x25),
        [
            .write(0x7F, to: selfTestConfiguration, part: 0),
            .pause(0.100),
        ], MPURegisters.keepData((accel: 2, gyro: 3), accel: 0x1F, gyro: 0x25),
        [
            .write(0x00, to: selfTestConfiguration, part: 0),
            .write(0x01, to: bank, part: 0),
            .keep(slot: 5, RegisterRead(part: 0, register: 0x5F, count: 3)),
            .write(0x02, to: bank, part: 0),
            .keep(slot: 4, RegisterRead(part: 0, register: 0x3B, count: 3)),
            .write(0x00, to: bank, part: 0),
        ], .requireFactoryResponse(unstored: 0.05...1.2))

    var burst: [RegisterRead] {
        [
            // INT_STATUS is read first. If the bit DATA_RDY_INT in INT_STATUS is set, the values
            // that are read afterwards are new.
            RegisterRead(part: 0, register: Self.interruptStatus, count: 1),
            // Registers TEMP_DATA1 to GYRO_DATA_Z0.
            RegisterRead(part: 0, register: 0x1D, count: 14),
        ]
    }

    /// Expected values of the chip's registers. The first entry is PWR_MGMT0, because every reset
    /// changes this register. The expected value of PWR_MGMT0 means that both sensors are in
    /// low-noise mode.
    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        [
            (RegisterRead.one(Self.power), 0xFF, 0x0F),
            (RegisterRead.one(Self.gyroConfiguration), 0xFF, gyroCode << 5 | Self.rate),
            (RegisterRead.one(Self.accelConfiguration), 0xFF, accelCode << 5 | Self.rate),
            (RegisterRead.one(0x51), 0xFF, Self.filterOrder),
            (RegisterRead.one(0x52), 0xFF, Self.filterWidth),
            // Register INT_SOURCE0 with the bit UI_DRDY_INT1_EN: new data cause a pulse on INT1.
            (RegisterRead.one(0x65), 0xFF, 0x08),
        ]
    }

    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        guard bytes[0] & 0x08 != 0, var sample = sample(bytes, accel: 3, gyro: 9, time: now)
        else { return nil }
        // The conversion of the temperature is in section 4.13 of the data sheet.
        sample.temperature = bytes.bigEndian(at: 1) / 132.48 + 25
        sample.contents.insert(.temperature)
        return sample
    }

    private func sample(
        _ bytes: UnsafeRawBufferPointer, accel: Int, gyro: Int, time: Instant
    ) -> IMUSample? {
        let force = accelRange * 9.80665 / 32768
        let rate = gyroRange * .pi / 180 / 32768
        let counts = (
            bytes.bigEndian(at: gyro), bytes.bigEndian(at: gyro + 2), bytes.bigEndian(at: gyro + 4)
        )
        // A value of -32768 on every axis means that the gyroscope has not yet measured since its
        // reset.
        guard counts != (-32768, -32768, -32768) else { return nil }
        return IMUSample(
            time: time, gyro: Vector3(counts.0 * rate, counts.1 * rate, counts.2 * rate),
            accel: Vector3(
                bytes.bigEndian(at: accel) * force, bytes.bigEndian(at: accel + 2) * force,
                bytes.bigEndian(at: accel + 4) * force))
    }

    /// Layout of the FIFO. FIFO_CONFIG1 selects packet 3, which contains both sensors, the
    /// temperature and a time stamp. FIFO_CONFIG makes new data overwrite the oldest data.
    /// FIFO_FLUSH in SIGNAL_PATH_RESET empties the FIFO.
    var buffer: SampleBuffer? {
        SampleBuffer(
            level: 0x2E, data: 0x30, packet: 16, capacity: 2048, period: 1e-3,
            start: [
                .write(0x07, to: 0x5F, part: 0), .write(0x40, to: 0x16, part: 0),
                .write(0x02, to: 0x4B, part: 0),
            ], empty: [(0x4B, 0x02)])
    }

    /// Decodes a packet: header, acceleration, rate, 8 bits of temperature, and a time stamp of two
    /// bytes, which is ignored.
    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample? {
        // In the header of a valid packet, HEADER_MSG is clear, and HEADER_ACCEL and HEADER_GYRO
        // are set.
        guard packet[0] & 0xE0 == 0x60,
            var sample = sample(packet, accel: 1, gyro: 7, time: time)
        else { return nil }
        sample.temperature = Double(Int8(bitPattern: packet[13])) / 2.07 + 25
        sample.contents.insert(.temperature)
        return sample
    }
}
