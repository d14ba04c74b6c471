internal import GimbalCore
internal import Glibc

/// InvenSense MPU-6050. The chip has only an I2C interface, at address 0x68, or 0x69 if the pin AD0
/// is high.
///
/// Register map: RM-MPU-6000A-00, revision 4.2; product specification: PS-MPU-6000A-00, revision
/// 3.4.
struct MPU6050: IMUChip {
    let name = "mpu6050"
    private let registers: MPURegisters
    var testsItself: Bool

    /// Value of register 26, with a bandwidth of 188 Hz and a delay of 1.9 ms for the gyroscope,
    /// and 184 Hz and 2.0 ms for the accelerometer. The sample rate is 1 kHz.
    private static let filter: UInt8 = 0x01

    /// Creates a chip's description.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 250, 500, 1000 or 2000; other values are
    ///     rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 2, 4, 8 or 16; other values are rounded
    ///     up.
    ///   - testsItself: True if the self test is part of the set-up. The sensor must be at rest for
    ///     0.2 s.
    init(gyroRange: Double, accelRange: Double, testsItself: Bool = true) {
        registers = MPURegisters(gyroRange: gyroRange, accelRange: accelRange)
        self.testsItself = testsItself
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { registers.gyroRange }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { registers.accelRange }

    /// Identity: bits 6 to 1 of register 117 (register map, 4.33).
    var identity: [ChipIdentity] {
        [MPURegisters.identity(0x68, mask: 0x7E, otherwise: "is not an MPU-6050 (WHO_AM_I)")]
    }

    var setUp: [SetUpStep] {
        SetUpStep.sequence(
            MPURegisters.wake(identity),
            testsItself ? Self.selfTest : [],
            MPURegisters.write(audit), [.write(0, to: MPURegisters.interruptPin, part: 0)],
            [.pause(0.030)], .verify(audit))
    }

    /// Steps of the self test, in registers 13 to 16, 27 and 28, at ±250 deg/s and ±8 g. The
    /// self-test response may deviate from the factory trim by 14 % (specification, 6.1 and 6.2).
    private static let selfTest: [SetUpStep] = SetUpStep.sequence(
        [
            .write(0x02, to: MPURegisters.configuration, part: 0),
            .write(0x00, to: MPURegisters.gyroConfiguration, part: 0),
            .write(0x10, to: MPURegisters.accelConfiguration, part: 0),
            .pause(0.050),
        ], MPURegisters.keepData((accel: 0, gyro: 1)),
        [
            .write(0xE0, to: MPURegisters.gyroConfiguration, part: 0),
            .write(0xF0, to: MPURegisters.accelConfiguration, part: 0),
            .pause(0.100),
        ], MPURegisters.keepData((accel: 2, gyro: 3)),
        [
            .keep(slot: 4, RegisterRead(part: 0, register: 0x0D, count: 4)),
            .require({ passesAccel($0) }, otherwise: "failed the self-test of its accelerometer"),
            .require({ passesGyro($0) }, otherwise: "failed the self-test of its gyroscope"),
        ])

    private static func passesAccel(_ kept: StoredRegisters) -> Bool {
        (0..<3).allSatisfy { axis in
            let code =
                kept.byte(4, axis) >> 3 & 0x1C
                | kept.byte(4, 3) >> UInt8(4 - 2 * axis) & 0x03
            let response = kept.bigEndian(2, 2 * axis) - kept.bigEndian(0, 2 * axis)
            return isNear(
                response, 4096 * 0.34 * pow(0.92 / 0.34, (Double(code) - 1) / 30), code: code)
        }
    }

    private static func passesGyro(_ kept: StoredRegisters) -> Bool {
        (0..<3).allSatisfy { axis in
            let code = kept.byte(4, axis) & 0x1F
            let response = kept.bigEndian(3, 2 * axis) - kept.bigEndian(1, 2 * axis)
            let sign = axis == 1 ? -1.0 : 1
            return isNear(response, sign * 25 * 131 * pow(1.046, Double(code) - 1), code: code)
        }
    }

    /// True if the self-test response is close to the factory trim. A code of 0 means that the chip
    /// contains no factory trim.
    private static func isNear(_ response: Double, _ factory: Double, code: UInt8) -> Bool {
        code == 0 || abs(response / factory - 1) <= 0.14
    }

    var burst: [RegisterRead] {
        [
            RegisterRead(
                part: 0, register: MPURegisters.interruptStatus, count: MPURegisters.burstLength)
        ]
    }

    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        registers.audit(filter: Self.filter)
    }

    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        guard var sample = registers.sample(bytes, now: now) else { return nil }
        addTemperature(bytes, at: 7, to: &sample)
        return sample
    }

    /// Adds the temperature from registers 65 and 66.
    private func addTemperature(
        _ bytes: UnsafeRawBufferPointer, at index: Int, to sample: inout IMUSample
    ) {
        sample.temperature = bytes.bigEndian(at: index) / 340 + 36.53
        sample.contents.insert(.temperature)
    }

    /// The chip's FIFO of 1024 bytes.
    var buffer: SampleBuffer? { MPURegisters.buffer(capacity: 1024, userControl: 0) }

    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample? {
        var sample = registers.sample(packet, from: 0, time: time)
        addTemperature(packet, at: 6, to: &sample)
        return sample
    }
}
