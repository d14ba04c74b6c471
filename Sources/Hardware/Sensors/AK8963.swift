internal import GimbalCore

/// Asahi Kasei AK8963, the magnetometer in an MPU-9250. The driver accesses the magnetometer
/// through the I2C master of the MPU-9250.
///
/// Register map: RM-MPU-9250A-00, revision 1.4, section 5. Registers of the I2C master: 36 to 39,
/// 49 to 53, 99 and 103.
struct AK8963: Sendable {
    /// Factory-calibrated sensitivity of each axis, relative to the nominal sensitivity (section
    /// 5.13).
    private var adjustment = Vector3(1, 1, 1)
    private var last = UInt64.max

    /// Size of one magnetometer measurement, bytes: register ST1, six bytes of magnetic field,
    /// register ST2.
    static let length = 8
    /// Magnetic field for one count of the 16-bit output, µT (section 5.8).
    private static let scale = 0.15
    private static let address: UInt8 = 0x0C

    /// Steps that write one register of the magnetometer through slave 4 of the I2C master.
    private static func write(_ value: UInt8, to register: UInt8) -> [SetUpStep] {
        [
            .write(address, to: 0x31, part: 0),
            .write(register, to: 0x32, part: 0),
            .write(value, to: 0x33, part: 0),
            .write(0x80, to: 0x34, part: 0),
            .pause(0.010),
        ]
    }

    /// Steps that read one register of the magnetometer through slave 4; register 53 then contains
    /// the value.
    private static func read(_ register: UInt8) -> [SetUpStep] {
        [
            .write(0x80 | address, to: 0x31, part: 0),
            .write(register, to: 0x32, part: 0),
            .write(0x80, to: 0x34, part: 0),
            .pause(0.010),
        ]
    }

    private static let answer = RegisterRead(part: 0, register: 0x35, count: 1)

    /// Steps that set the magnetometer up, or omit it if it does not answer. The chip's I2C master
    /// must already be enabled. After the set-up, slots 5 to 7 contain the factory's sensitivity
    /// adjustment.
    static let setUp: [SetUpStep] = SetUpStep.sequence(
        // The clock of the I2C master is 400 kHz.
        [.write(0x0D, to: 0x24, part: 0)],
        write(0x01, to: 0x0B),
        read(0x00),
        [
            .find(
                0x48, in: 0x35, part: 0, steps: measure.count,
                otherwise: "has no magnetometer, or its magnetometer does not answer (AK8963, WIA)")
        ], measure)

    /// Steps after the magnetometer has answered.
    private static let measure: [SetUpStep] = SetUpStep.sequence(
        // Modes of the magnetometer, in this order: read the fuse ROM, power down, measure at 100
        // Hz with 16 bits (section 5.8).
        write(0x0F, to: 0x0A),
        read(0x10), [.keep(slot: 5, answer)],
        read(0x11), [.keep(slot: 6, answer)],
        read(0x12), [.keep(slot: 7, answer)],
        write(0x00, to: 0x0A), write(0x16, to: 0x0A),
        [
            // Slave 0 of the I2C master reads registers ST1 to ST2 after every tenth sample. The
            // bit DELAY_ES_SHADOW keeps the bytes of one reading together. The write of
            // I2C_SLV4_CTRL also starts a read of CNTL1 through slave 4.
            .write(0x80 | address, to: 0x25, part: 0),
            .write(0x02, to: 0x26, part: 0),
            .write(0x80 | address, to: 0x31, part: 0),
            .write(0x0A, to: 0x32, part: 0),
            .write(0x80 | 0x09, to: 0x34, part: 0),
            .write(0x81, to: 0x67, part: 0),
            .write(0x80 | UInt8(length), to: 0x27, part: 0),
            .pause(0.020),
        ],
        SetUpStep.findAll(
            written, part: 0, otherwise: "has a magnetometer that does not start (AK8963)"))

    /// Registers that are read back, because the I2C buses have no checksum: CNTL1 in I2C_SLV4_DI,
    /// and the registers of slave 0.
    private static let written: [(value: UInt8, register: UInt8)] = [
        (value: 0x16, register: 0x35), (value: 0x80 | address, register: 0x25),
        (value: 0x02, register: 0x26), (value: 0x80 | UInt8(length), register: 0x27),
    ]

    /// Stores the factory's relative sensitivity of each axis: (ASA - 128) / 256 + 1.
    mutating func adjust(_ kept: StoredRegisters) {
        func factor(_ slot: Int) -> Double { (Double(kept.byte(slot, 0)) - 128) / 256 + 1 }
        adjustment = Vector3(factor(5), factor(6), factor(7))
    }

    /// Decodes the magnetic field, in the axes of gyroscope and accelerometer, µT; nil if the
    /// reading is not new, or the field exceeds the range.
    ///
    /// The I2C master reads more often than the magnetometer measures, so the data-ready bit can be
    /// clear again when the driver reads it. A measurement is new if it differs from the previous
    /// measurement.
    mutating func field(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Vector3? {
        var word: UInt64 = 0
        for index in 1...6 { word = word << 8 | UInt64(bytes[start + index]) }
        // Bit HOFL in register ST2 indicates that the magnetic field exceeded the sensor's range.
        guard word != last, bytes[start + 7] & 0x08 == 0 else { return nil }
        last = word
        // The magnetometer's x axis is the gyroscope's y axis, its y axis is the gyroscope's x
        // axis, and its z axis is opposite to the gyroscope's z axis (PS-MPU-9250A-01, 9.1).
        return Vector3(
            bytes.littleEndian(at: start + 3) * Self.scale * adjustment.y,
            bytes.littleEndian(at: start + 1) * Self.scale * adjustment.x,
            -bytes.littleEndian(at: start + 5) * Self.scale * adjustment.z)
    }
}
