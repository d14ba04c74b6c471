internal import GimbalCore

/// InvenSense MPU-6500, and the MPU-9250, which contains an MPU-6500 and a magnetometer (AK8963).
/// The I2C address of the MPU-6500 and of the MPU-9250 is 0x68, or 0x69 if the pin AD0 is high. On
/// SPI, all registers can be read and written with a clock of 1 MHz.
///
/// Register maps: RM-MPU-6500A-00, revision 2.1; RM-MPU-9250A-00, revision 1.4. Product
/// specifications: PS-MPU-6500A-01, PS-MPU-9250A-01.
///
/// The chip reads the magnetometer, and appends the magnetometer's data to its own data. The
/// alternative is a bypass that connects the magnetometer to the board's bus. A bypass requires
/// another transfer in each period, and is not possible with SPI.
struct MPU6500: IMUChip {
    let name: String
    private let registers: MPURegisters
    var testsItself: Bool
    let hasMagnetometer: Bool
    private let isOnSPI: Bool
    private var magnetometer = AK8963()

    /// Value of register 26: the gyroscope has a bandwidth of 184 Hz, a delay of 2.9 ms and a
    /// sample rate of 1 kHz.
    private static let filter: UInt8 = 0x01
    /// Value of register 29: the accelerometer has a bandwidth of 184 Hz, a delay of 5.8 ms and a
    /// sample rate of 1 kHz.
    private static let accelFilter: UInt8 = 0x01
    private static let accelConfiguration2: UInt8 = 0x1D

    /// Creates a chip's description.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 250, 500, 1000 or 2000; other values are
    ///     rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 2, 4, 8 or 16; other values are rounded
    ///     up.
    ///   - testsItself: True if the self test is part of the set-up. The sensor must be at rest for
    ///     0.2 s.
    ///   - hasMagnetometer: True if the chip is an MPU-9250.
    ///   - isOnSPI: True if the chip's I2C interface must be disabled.
    init(
        gyroRange: Double, accelRange: Double, testsItself: Bool = true, hasMagnetometer: Bool,
        isOnSPI: Bool = false
    ) {
        name = hasMagnetometer ? "mpu9250" : "mpu6500"
        registers = MPURegisters(gyroRange: gyroRange, accelRange: accelRange)
        self.testsItself = testsItself
        self.hasMagnetometer = hasMagnetometer
        self.isOnSPI = isOnSPI
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { registers.gyroRange }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { registers.accelRange }

    /// Value of register 106 with the bits I2C_IF_DIS and I2C_MST_EN.
    private var userControl: UInt8 { (isOnSPI ? 0x10 : 0) | (hasMagnetometer ? 0x20 : 0) }

    /// Identity: 0x70 for an MPU-6500, 0x71 for an MPU-9250 and 0x73 for an MPU-9255. The check for
    /// an MPU-9250 or MPU-9255 ignores bit 1.
    var identity: [ChipIdentity] {
        [
            hasMagnetometer
                ? MPURegisters.identity(
                    0x71, mask: 0xFD, otherwise: "is not an MPU-9250 (WHO_AM_I)")
                : MPURegisters.identity(0x70, otherwise: "is not an MPU-6500 (WHO_AM_I)")
        ]
    }

    var setUp: [SetUpStep] {
        var steps: [SetUpStep] =
            MPURegisters.wake(identity)
            + [.write(userControl, to: MPURegisters.userControl, part: 0)]
        if testsItself { steps += Self.selfTest }
        if hasMagnetometer { steps += AK8963.setUp }
        steps += MPURegisters.write(audit)
        steps += [.write(0, to: MPURegisters.interruptPin, part: 0), .pause(0.030)]
        return steps + .verify(audit)
    }

    /// Steps of the chip's self test. Registers 0 to 2 and 13 to 15 contain the factory trim of the
    /// self-test response. During the test, the filters have a bandwidth of 92 Hz.
    private static let selfTest: [SetUpStep] = SetUpStep.sequence(
        [
            .write(0x02, to: MPURegisters.configuration, part: 0),
            .write(0x02, to: accelConfiguration2, part: 0),
            .write(0x00, to: MPURegisters.gyroConfiguration, part: 0),
            .write(0x00, to: MPURegisters.accelConfiguration, part: 0),
            .pause(0.050),
        ], MPURegisters.keepData((accel: 0, gyro: 1)),
        [
            .write(0xE0, to: MPURegisters.gyroConfiguration, part: 0),
            .write(0xE0, to: MPURegisters.accelConfiguration, part: 0),
            .pause(0.050),
        ], MPURegisters.keepData((accel: 2, gyro: 3)),
        [
            .keep(slot: 4, RegisterRead(part: 0, register: 0x0D, count: 3)),
            .keep(slot: 5, RegisterRead(part: 0, register: 0x00, count: 3)),
        ], .requireFactoryResponse(unstored: 0.225...0.675))

    var burst: [RegisterRead] {
        [
            RegisterRead(
                part: 0, register: MPURegisters.interruptStatus,
                count: MPURegisters.burstLength + (hasMagnetometer ? AK8963.length : 0))
        ]
    }

    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        registers.audit(filter: Self.filter) + [
            (RegisterRead.one(Self.accelConfiguration2), 0x0F, Self.accelFilter),
            (RegisterRead.one(MPURegisters.userControl), 0x30, userControl),
        ]
    }

    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        guard var sample = registers.sample(bytes, now: now) else { return nil }
        addTemperature(bytes, at: 7, to: &sample)
        if hasMagnetometer, let field = magnetometer.field(bytes, at: MPURegisters.burstLength) {
            sample.magneticField = field
            sample.contents.insert(.magneticField)
        }
        return sample
    }

    /// Adds the temperature from registers 65 and 66, with the conversion in the product
    /// specification.
    private func addTemperature(
        _ bytes: UnsafeRawBufferPointer, at index: Int, to sample: inout IMUSample
    ) {
        sample.temperature = bytes.bigEndian(at: index) / 333.87 + 21
        sample.contents.insert(.temperature)
    }

    /// The chip's FIFO of 512 bytes. The FIFO is not used together with the magnetometer, because
    /// the FIFO would contain each measurement of the magnetometer ten times.
    var buffer: SampleBuffer? {
        hasMagnetometer ? nil : MPURegisters.buffer(capacity: 512, userControl: userControl)
    }

    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample? {
        var sample = registers.sample(packet, from: 0, time: time)
        addTemperature(packet, at: 6, to: &sample)
        return sample
    }

    mutating func take(kept: StoredRegisters) {
        if hasMagnetometer { magnetometer.adjust(kept) }
    }
}
