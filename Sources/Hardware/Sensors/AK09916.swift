internal import GimbalCore

/// Asahi Kasei AK09916, the magnetometer in an ICM-20948. The driver accesses the magnetometer
/// through the I2C master of the ICM-20948, whose registers are in bank 3.
///
/// Register maps: DS-000189, revision 1.3, sections 11 (bank 3) and 12 (magnetometer).
struct AK09916: Sendable {
    private var last = UInt64.max

    /// Size of one magnetometer measurement, bytes: register ST1, six bytes of magnetic field, a
    /// reserved byte, register ST2. A read of ST2 ends the measurement.
    static let length = 9
    /// Magnetic field for one count of the 16-bit output, µT (section 3.3).
    private static let scale = 0.15
    private static let address: UInt8 = 0x0C

    /// Steps that write one register of the magnetometer through slave 4 of the I2C master.
    private static func write(_ value: UInt8, to register: UInt8) -> [SetUpStep] {
        [
            .write(address, to: 0x13, part: 0),
            .write(register, to: 0x14, part: 0),
            .write(value, to: 0x16, part: 0),
            .write(0x80, to: 0x15, part: 0),
            .pause(0.010),
        ]
    }

    /// Steps that set the magnetometer up, or omit it if it does not answer. The chip's I2C master
    /// must already be enabled. The steps begin and end in bank 0.
    static let setUp: [SetUpStep] = SetUpStep.sequence(
        // I2C_MST_CTRL: the recommended clock of 345.6 kHz, and a stop between two reads.
        [ICM20948.select(bank: 3), .write(0x17, to: 0x01, part: 0)],
        // CNTL3: a reset.
        write(0x01, to: 0x32),
        [
            // A read of WIA2; I2C_SLV4_DI then contains the value.
            .write(0x80 | address, to: 0x13, part: 0),
            .write(0x01, to: 0x14, part: 0),
            .write(0x80, to: 0x15, part: 0),
            .pause(0.010),
            .find(
                0x09, in: 0x17, part: 0, steps: measure.count,
                otherwise: "has no magnetometer that answers (AK09916, WIA2)"),
        ], measure, [ICM20948.select(bank: 0)])

    /// Steps after the magnetometer has answered.
    private static let measure: [SetUpStep] = SetUpStep.sequence(
        // CNTL2: continuous measurement mode 4, 100 Hz.
        write(0x08, to: 0x31),
        [
            // Slave 0 reads registers ST1 to ST2 at every eleventh sample (I2C_SLV4_DLY is 10); the
            // bit DELAY_ES_SHADOW keeps the bytes of one reading together. The write of I2C_SLV4_CTRL
            // also starts a read of CNTL2 through slave 4.
            .write(0x80 | address, to: 0x03, part: 0),
            .write(0x10, to: 0x04, part: 0),
            .write(0x80 | address, to: 0x13, part: 0),
            .write(0x31, to: 0x14, part: 0),
            .write(0x80 | 0x0A, to: 0x15, part: 0),
            .write(0x81, to: 0x02, part: 0),
            .write(0x80 | UInt8(length), to: 0x05, part: 0),
            .pause(0.020),
        ],
        SetUpStep.findAll(
            written, part: 0, otherwise: "has a magnetometer that does not start (AK09916)"))

    /// Registers that are read back, because the I2C buses have no checksum: CNTL2 in I2C_SLV4_DI,
    /// and the registers of slave 0.
    private static let written: [(value: UInt8, register: UInt8)] = [
        (value: 0x08, register: 0x17), (value: 0x80 | address, register: 0x03),
        (value: 0x10, register: 0x04), (value: 0x80 | UInt8(length), register: 0x05),
    ]

    /// Decodes the magnetic field, in the axes of gyroscope and accelerometer, µT; nil if the
    /// reading is not new, or the field exceeds the range.
    ///
    /// The I2C master reads at other times than the magnetometer measures, so the data-ready bit can
    /// be clear when the driver reads it. A measurement is new if it differs from the previous
    /// measurement.
    mutating func field(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Vector3? {
        var word: UInt64 = 0
        for index in 1...6 { word = word << 8 | UInt64(bytes[start + index]) }
        // Bit HOFL in register ST2 means that the magnetic field exceeded the sensor's range.
        guard word != last, bytes[start + 8] & 0x08 == 0 else { return nil }
        last = word
        // The magnetometer's x axis is the gyroscope's x axis; its y and z axes are opposite to the
        // gyroscope's (figures 12 and 13).
        return Vector3(
            bytes.littleEndian(at: start + 1) * Self.scale,
            -bytes.littleEndian(at: start + 3) * Self.scale,
            -bytes.littleEndian(at: start + 5) * Self.scale)
    }
}
