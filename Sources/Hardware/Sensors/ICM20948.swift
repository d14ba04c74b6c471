internal import GimbalCore

/// TDK InvenSense ICM-20948 with its magnetometer (AK09916). The I2C address of the ICM-20948 is
/// 0x68, or 0x69 if its pin AD0 is high. The SPI clock is up to 7 MHz.
///
/// Data sheet: DS-000189, revision 1.3. Register REG_BANK_SEL selects one of four banks; registers
/// without a bank number are in bank 0, which is selected while the chip measures. 16-bit numbers
/// of gyroscope and accelerometer are big-endian.
///
/// The chip itself reads the magnetometer, and appends the magnetometer's data to its own data, as
/// an MPU-9250 does.
struct ICM20948: IMUChip {
    let name = "icm20948"
    let hasMagnetometer = true
    private let gyroCode: UInt8
    private let accelCode: UInt8
    var testsItself: Bool
    private let isOnSPI: Bool
    private var magnetometer = AK09916()

    /// Creates a chip's description.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 250, 500, 1000 or 2000; other values are
    ///     rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 2, 4, 8 or 16; other values are rounded
    ///     up.
    ///   - testsItself: True if the self test is part of the set-up. The sensor must be at rest for
    ///     0.2 s.
    ///   - isOnSPI: True if the chip's I2C interface must be disabled.
    init(gyroRange: Double, accelRange: Double, testsItself: Bool = true, isOnSPI: Bool = false) {
        gyroCode = UInt8([250.0, 500, 1000].prefix { $0 < gyroRange }.count)
        accelCode = UInt8([2.0, 4, 8].prefix { $0 < accelRange }.count)
        self.testsItself = testsItself
        self.isOnSPI = isOnSPI
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { 250 * Double(1 << gyroCode) }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { 2 * Double(1 << accelCode) }

    private static let bankSelect: UInt8 = 0x7F
    private static let userControl: UInt8 = 0x03
    private static let lowPower: UInt8 = 0x05
    private static let power: UInt8 = 0x06
    /// Registers ACCEL_XOUT_H to GYRO_ZOUT_L.
    private static let accel: UInt8 = 0x2D
    private static let gyro: UInt8 = 0x33
    /// Number of registers from ACCEL_XOUT_H to TEMP_OUT_L; the magnetometer's bytes follow.
    private static let ownLength = 14

    /// Value of GYRO_CONFIG_1 in bank 2: the low-pass filter is on and has a bandwidth of 196.6 Hz
    /// (GYRO_DLPFCFG 0); the sample rate is 1125 Hz.
    private var gyroConfiguration: UInt8 { gyroCode << 1 | 0x01 }
    /// Value of ACCEL_CONFIG in bank 2: the low-pass filter is on and has a bandwidth of 246 Hz
    /// (ACCEL_DLPFCFG 1); the sample rate is 1125 Hz.
    private var accelConfiguration: UInt8 { 0x08 | accelCode << 1 | 0x01 }
    /// Value of USER_CTRL with the bits I2C_MST_EN and I2C_IF_DIS.
    private var control: UInt8 { 0x20 | (isOnSPI ? 0x10 : 0) }

    static func select(bank: UInt8) -> SetUpStep { .write(bank << 4, to: bankSelect, part: 0) }

    /// Identity: register WHO_AM_I in bank 0, which is selected after a reset.
    var identity: [ChipIdentity] {
        [ChipIdentity(register: 0x00, value: 0xEA, otherwise: "is not an ICM-20948 (WHO_AM_I)")]
    }

    var setUp: [SetUpStep] {
        var steps: [SetUpStep] = [
            Self.select(bank: 0),
            identity[0].step,
            // PWR_MGMT_1: a reset, then the best available clock, without sleep.
            .write(0x80, to: Self.power, part: 0),
            .pause(0.100),
            .write(0x01, to: Self.power, part: 0),
            .pause(0.050),
            .write(control, to: Self.userControl, part: 0),
            // LP_CONFIG: neither the sensors nor the I2C master are duty-cycled.
            .write(0x00, to: Self.lowPower, part: 0),
        ]
        if testsItself { steps += Self.selfTest }
        steps += AK09916.setUp
        steps += SetUpStep.sequence(
            [
                Self.select(bank: 2),
                .write(0, to: 0x00, part: 0),
                .write(gyroConfiguration, to: 0x01, part: 0),
                .write(0, to: 0x10, part: 0),
                .write(0, to: 0x11, part: 0),
                .write(accelConfiguration, to: 0x14, part: 0),
                .expect(
                    gyroConfiguration, mask: 0x3F, in: 0x01, part: 0,
                    otherwise: "does not keep values written to its registers"),
                .expect(
                    accelConfiguration, mask: 0x3F, in: 0x14, part: 0,
                    otherwise: "does not keep values written to its registers"),
                Self.select(bank: 0),
            ], MPURegisters.write(audit),
            // The gyroscope needs 35 ms to start.
            [.pause(0.040)], .verify(audit))
        return steps
    }

    /// Steps of the self test: at ±250 deg/s and ±2 g, with filters of 119.5 Hz and 111.4 Hz.
    /// GYRO_CONFIG_2 and ACCEL_CONFIG_2 (bank 2) start the test. Registers SELF_TEST_X_GYRO and
    /// SELF_TEST_X_ACCEL (bank 1) and the two registers after each of them contain the factory trim.
    ///
    /// The data sheet (page 25) refers to limits in the tables of the specifications, but these
    /// tables contain no limits. The limits are those of InvenSense's Linux driver for chips with
    /// these register banks (2017): 0.5 to 1.5 times the factory trim, at least 0.5 times for the
    /// gyroscope. InvenSense's driver rejects a chip without a factory trim; an earlier version of
    /// that driver accepts 225 mg to 675 mg, as airframed does.
    private static let selfTest: [SetUpStep] = SetUpStep.sequence(
        [
            select(bank: 2),
            .write(0x11, to: 0x01, part: 0),
            .write(0x11, to: 0x14, part: 0),
            select(bank: 0),
            .pause(0.050),
        ], MPURegisters.keepData((accel: 0, gyro: 1), accel: accel, gyro: gyro),
        [
            select(bank: 2),
            .write(0x38, to: 0x02, part: 0),
            .write(0x1C, to: 0x15, part: 0),
            select(bank: 0),
            .pause(0.050),
        ], MPURegisters.keepData((accel: 2, gyro: 3), accel: accel, gyro: gyro),
        [
            select(bank: 2),
            .write(0x00, to: 0x02, part: 0),
            .write(0x00, to: 0x15, part: 0),
            select(bank: 1),
            .keep(slot: 4, RegisterRead(part: 0, register: 0x0E, count: 3)),
            .keep(slot: 5, RegisterRead(part: 0, register: 0x02, count: 3)),
            select(bank: 0),
        ], .requireFactoryResponse(unstored: 0.225...0.675))

    var burst: [RegisterRead] {
        [
            // INT_STATUS_1 is read first: a set RAW_DATA_0_RDY_INT applies to the values that are
            // read afterwards.
            RegisterRead(part: 0, register: 0x1A, count: 1),
            RegisterRead(part: 0, register: Self.accel, count: Self.ownLength + AK09916.length),
        ]
    }

    /// Expected values of the chip's registers in bank 0. The first entry is PWR_MGMT_1, because
    /// every reset sets its bit SLEEP. With RAW_DATA_0_RDY_EN in INT_ENABLE_1, a new measurement sets
    /// the status bit and gives a pulse on the INT1 pin. A reset also changes the registers in the
    /// other banks.
    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        [
            (RegisterRead.one(Self.power), 0xFF, 0x01),
            // PWR_MGMT_2: all axes are on.
            (RegisterRead.one(0x07), 0x3F, 0x00),
            (RegisterRead.one(0x11), 0x01, 0x01),
            (RegisterRead.one(Self.userControl), 0x30, control),
            (RegisterRead.one(Self.bankSelect), 0x30, 0x00),
        ]
    }

    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        guard bytes[0] & 0x01 != 0 else { return nil }
        let force = accelRange * 9.80665 / 32768
        let rate = gyroRange * .pi / 180 / 32768
        var sample = IMUSample(
            time: now,
            gyro: Vector3(
                bytes.bigEndian(at: 7) * rate, bytes.bigEndian(at: 9) * rate,
                bytes.bigEndian(at: 11) * rate),
            accel: Vector3(
                bytes.bigEndian(at: 1) * force, bytes.bigEndian(at: 3) * force,
                bytes.bigEndian(at: 5) * force))
        // Conversion of the temperature: 333.87 LSB/°C, and 21 °C at zero, as for the MPU-9250
        // (PS-MPU-9250A-01). These numbers have not been checked against the data sheet of the
        // ICM-20948 (section 3.4).
        sample.temperature = bytes.bigEndian(at: 13) / 333.87 + 21
        sample.contents.insert(.temperature)
        if let field = magnetometer.field(bytes, at: 1 + Self.ownLength) {
            sample.magneticField = field
            sample.contents.insert(.magneticField)
        }
        return sample
    }
}
