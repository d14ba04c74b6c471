internal import GimbalCore
internal import Glibc

/// Common registers of InvenSense's MPU-6050, MPU-6500 and MPU-9250. Register maps:
/// RM-MPU-6000A-00, revision 4.2; RM-MPU-6500A-00, revision 2.1; RM-MPU-9250A-00, revision 1.4.
/// 16-bit numbers in the registers are big-endian.
struct MPURegisters: Sendable {
    /// Codes of the measurement ranges: FS_SEL and AFS_SEL, 0...3 (registers 27 and 28).
    let gyroCode: UInt8
    let accelCode: UInt8

    static let sampleRateDivider: UInt8 = 0x19
    static let configuration: UInt8 = 0x1A
    static let gyroConfiguration: UInt8 = 0x1B
    static let accelConfiguration: UInt8 = 0x1C
    static let interruptPin: UInt8 = 0x37
    static let interruptEnable: UInt8 = 0x38
    /// Register of the interrupt status. Bit 0 is DATA_RDY_INT; a read clears the bit. The
    /// registers of acceleration, temperature and rate follow.
    static let interruptStatus: UInt8 = 0x3A
    static let accel: UInt8 = 0x3B
    static let gyro: UInt8 = 0x43
    static let userControl: UInt8 = 0x6A
    static let power: UInt8 = 0x6B
    private static let whoAmI: UInt8 = 0x75

    /// Creates the register values for the measurement ranges.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 250, 500, 1000 or 2000; other values are
    ///     rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 2, 4, 8 or 16; other values are rounded
    ///     up.
    init(gyroRange: Double, accelRange: Double) {
        gyroCode = UInt8([250.0, 500, 1000].prefix { $0 < gyroRange }.count)
        accelCode = UInt8([2.0, 4, 8].prefix { $0 < accelRange }.count)
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { 250 * Double(1 << gyroCode) }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { 2 * Double(1 << accelCode) }

    /// Number of registers to read in a period. The register of the interrupt status is read first;
    /// its bit then refers to the measurements that are read afterwards.
    static let burstLength = 15

    /// Identity register of one of the chips.
    static func identity(
        _ value: UInt8, mask: UInt8 = 0xFF, otherwise: StaticString
    ) -> ChipIdentity {
        ChipIdentity(register: whoAmI, value: value, mask: mask, otherwise: otherwise)
    }

    /// Steps that check the identity, reset the chip (register 107) and select its clock. The steps
    /// wait 100 ms after the reset, and 30 ms for the gyroscope's start.
    static func wake(_ identity: [ChipIdentity]) -> [SetUpStep] {
        identity.map(\.step) + [
            .write(0x80, to: power, part: 0),
            .pause(0.100),
            // The gyroscope's PLL is the most accurate clock.
            .write(0x01, to: power, part: 0),
            .pause(0.050),
        ]
    }

    /// Expected values of the common registers. With DATA_RDY_EN, a new measurement sets the status
    /// bit and causes a pulse on the INT pin.
    func audit(filter: UInt8) -> [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        [
            (RegisterRead.one(Self.interruptEnable), 0xFF, 0x01),
            (RegisterRead.one(Self.power), 0xFF, 0x01),
            (RegisterRead.one(Self.gyroConfiguration), 0xFF, gyroCode << 3),
            (RegisterRead.one(Self.accelConfiguration), 0xFF, accelCode << 3),
            (RegisterRead.one(Self.configuration), 0xFF, filter),
            (RegisterRead.one(Self.sampleRateDivider), 0xFF, 0),
        ]
    }

    /// Decodes rate and acceleration of a burst; nil if the data are not new.
    func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        guard bytes[0] & 0x01 != 0 else { return nil }
        return sample(bytes, from: 1, time: now)
    }

    /// Layout of the FIFO. The FIFO uses registers 35, 106 and 114 to 116, and contains
    /// acceleration, temperature and rate of each sample, in the order of their registers.
    ///
    /// FIFO_RESET in register 106 empties the FIFO only while FIFO_EN is 0 (RM-MPU-6000A-00, register
    /// 106). Therefore three writes switch the FIFO off, empty it, and switch it on.
    ///
    /// - Parameters:
    ///   - capacity: Capacity of the FIFO, bytes.
    ///   - userControl: Value of register 106 without the bits of the FIFO.
    /// - Returns: The layout.
    static func buffer(capacity: Int, userControl: UInt8) -> SampleBuffer {
        let values = [userControl, userControl | 0x04, userControl | 0x40]
        return SampleBuffer(
            level: 0x72, data: 0x74, packet: 14, capacity: capacity, period: 1e-3,
            start: SetUpStep.sequence(
                [.write(0xF8, to: 0x23, part: 0)],
                values.map { SetUpStep.write($0, to: Self.userControl, part: 0) }),
            empty: values.map { (register: Self.userControl, value: $0) })
    }

    /// Decodes rate and acceleration. The acceleration begins at the offset `start`.
    func sample(_ bytes: UnsafeRawBufferPointer, from start: Int, time: Instant) -> IMUSample {
        let force = accelRange * 9.80665 / 32768
        let rate = gyroRange * .pi / 180 / 32768
        return IMUSample(
            time: time,
            gyro: Vector3(
                bytes.bigEndian(at: start + 8) * rate, bytes.bigEndian(at: start + 10) * rate,
                bytes.bigEndian(at: start + 12) * rate),
            accel: Vector3(
                bytes.bigEndian(at: start) * force, bytes.bigEndian(at: start + 2) * force,
                bytes.bigEndian(at: start + 4) * force))
    }

    /// Steps that store acceleration and rate in two slots: in slots 0 and 1 at rest, and in slots
    /// 2 and 3 during the self test. `accel` and `gyro` are the first registers of the data.
    static func keepData(
        _ slots: (accel: Int, gyro: Int), accel: UInt8 = MPURegisters.accel,
        gyro: UInt8 = MPURegisters.gyro
    ) -> [SetUpStep] {
        [
            .keep(slot: slots.accel, RegisterRead(part: 0, register: accel, count: 6)),
            .keep(slot: slots.gyro, RegisterRead(part: 0, register: gyro, count: 6)),
        ]
    }

    /// Steps that write the expected value to each register in `audit`.
    static func write(_ audit: [(read: RegisterRead, mask: UInt8, value: UInt8)]) -> [SetUpStep] {
        audit.map { .write($0.value, to: $0.read.register, part: $0.read.part) }
    }
}

/// InvenSense's self test since the MPU-6500, at ±250 deg/s and ±2 g. The self-test response is the
/// output during the test minus the output at rest. The self-test response is compared with the
/// factory trim, which the chip stores as a code. The limits of the self-test response are those of
/// the manufacturer's own test.
struct FactoryResponse {
    /// Factory trim of the self-test response for a stored code, LSB: 2620 · 1.01^(code - 1).
    static func stored(_ code: UInt8) -> Double { 2620 * pow(1.01, Double(code) - 1) }

    /// True if the gyroscope's self-test response is more than half of its factory trim. If the
    /// chip contains no factory trim, the response must be at least 60 deg/s.
    static func passesGyro(_ response: Double, code: UInt8) -> Bool {
        code == 0 ? abs(response) >= 60 * 32768 / 250 : response / stored(code) > 0.5
    }

    /// True if the accelerometer's self-test response is between 0.5 and 1.5 times its factory
    /// trim. If the chip contains no factory trim, the response must be within the bounds
    /// `unstored`, g.
    static func passesAccel(
        _ response: Double, code: UInt8, unstored: ClosedRange<Double>
    ) -> Bool {
        code == 0
            ? unstored.contains(abs(response) * 2 / 32768)
            : (0.5...1.5).contains(response / stored(code))
    }
}

extension [SetUpStep] {
    /// Steps that require a self-test response close to the factory trim on every axis. The steps
    /// compare values that the set-up has stored before. Slots 0 (accelerometer) and 1 (gyroscope)
    /// contain readings at rest, slots 2 and 3 readings during the test, and slots 4 and 5 codes of
    /// the factory trim.
    ///
    /// - Parameter unstored: Permitted self-test response of the accelerometer if the chip contains
    ///   no factory trim, g.
    /// - Returns: The steps.
    static func requireFactoryResponse(unstored: ClosedRange<Double>) -> [SetUpStep] {
        [
            .require(
                { kept in
                    (0..<3).allSatisfy {
                        FactoryResponse.passesAccel(
                            kept.bigEndian(2, 2 * $0) - kept.bigEndian(0, 2 * $0),
                            code: kept.byte(4, $0), unstored: unstored)
                    }
                }, otherwise: "failed the self-test of its accelerometer"),
            .require(
                { kept in
                    (0..<3).allSatisfy {
                        FactoryResponse.passesGyro(
                            kept.bigEndian(3, 2 * $0) - kept.bigEndian(1, 2 * $0),
                            code: kept.byte(5, $0))
                    }
                }, otherwise: "failed the self-test of its gyroscope"),
        ]
    }

    /// Steps that read each register in `audit`, and compare it with its expected value.
    static func verify(
        _ audit: [(read: RegisterRead, mask: UInt8, value: UInt8)]
    ) -> [SetUpStep] {
        audit.map {
            .expect(
                $0.value, mask: $0.mask, in: $0.read.register, part: $0.read.part,
                otherwise: "does not keep values written to its registers")
        }
    }
}
