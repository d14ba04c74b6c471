internal import GimbalCore

/// Bosch BMI088: accelerometer (part 0) and gyroscope (part 1) in one housing, each with its own
/// I2C address or chip select.
///
/// Data sheet: BST-BMI088-DS001, revision 1.3; section numbers in this file refer to it.
struct BMI088: IMUChip {
    let name = "bmi088"
    private let gyroCode: UInt8
    private let accelCode: UInt8
    var testsItself: Bool
    /// The chip's 24-bit time counter at the last sample; one count is 39.0625 µs.
    private var lastCount: UInt32?
    private var temperature: Double?

    private static let accel = 0
    private static let gyro = 1

    /// Creates a chip's description.
    ///
    /// - Parameters:
    ///   - gyroRange: Full scale of the gyroscope, deg/s: 125, 250, 500, 1000 or 2000; other values
    ///     are rounded up.
    ///   - accelRange: Full scale of the accelerometer, g: 3, 6, 12 or 24; other values are rounded
    ///     up.
    ///   - testsItself: True if the self tests of section 4.6 are executed during the set-up. The
    ///     sensor must be at rest for 0.2 s.
    init(gyroRange: Double, accelRange: Double, testsItself: Bool = true) {
        // Section 5.5.4: code 0 is 2000 deg/s, and each further code halves the range. Section
        // 5.3.12: code 0 is 3 g, and each further code doubles the range.
        gyroCode = UInt8([125.0, 250, 500, 1000].reversed().prefix { $0 >= gyroRange }.count)
        accelCode = UInt8([3.0, 6, 12].prefix { $0 < accelRange }.count)
        self.testsItself = testsItself
    }

    /// Full scale of the gyroscope, deg/s.
    var gyroRange: Double { 2000 / Double(1 << gyroCode) }
    /// Full scale of the accelerometer, g.
    var accelRange: Double { 3 * Double(1 << accelCode) }

    /// Filter of the accelerometer: output rate 1600 Hz with twofold oversampling (5.3.11).
    private static let accelFilter: UInt8 = 0x9C
    /// Filter of the gyroscope: output rate 2000 Hz, bandwidth 230 Hz (5.5.5).
    private static let gyroFilter: UInt8 = 0x01

    /// Chip identifiers of accelerometer (5.3.1) and gyroscope (5.5.1).
    var identity: [ChipIdentity] {
        [
            ChipIdentity(
                part: Self.accel, register: 0x00, value: 0x1E,
                otherwise: "is not the accelerometer of a BMI088 (chip id)"),
            ChipIdentity(
                part: Self.gyro, register: 0x00, value: 0x0F,
                otherwise: "is not the gyroscope of a BMI088 (chip id)"),
        ]
    }

    var setUp: [SetUpStep] {
        var steps: [SetUpStep] = [
            // Section 3: the first read wakes the accelerometer's SPI interface. On I2C, this read
            // has no effect.
            .expect(0, mask: 0, in: 0x00, part: Self.accel, otherwise: ""),
            .write(0xB6, to: 0x7E, part: Self.accel),
            .write(0xB6, to: 0x14, part: Self.gyro),
            .pause(0.050),
            .expect(0, mask: 0, in: 0x00, part: Self.accel, otherwise: ""),
            identity[Self.accel].step,
            identity[Self.gyro].step,
            // Section 4.1: the accelerometer leaves the suspend mode, and is then switched on. The
            // first value of the accelerometer is available after 50 ms.
            .write(0x00, to: 0x7C, part: Self.accel),
            .pause(0.005),
            .write(0x04, to: 0x7D, part: Self.accel),
            .pause(0.050),
        ]
        if testsItself { steps += Self.selfTest }
        steps += [
            .write(Self.accelFilter, to: 0x40, part: Self.accel),
            .write(accelCode, to: 0x41, part: Self.accel),
            .write(gyroCode, to: 0x0F, part: Self.gyro),
            .write(Self.gyroFilter, to: 0x10, part: Self.gyro),
            // Sections 5.5.8 to 5.5.10: each new measurement of the rate causes a pulse on the pin
            // INT3. The pin is push-pull and active high.
            .write(0x01, to: 0x16, part: Self.gyro),
            .write(0x01, to: 0x18, part: Self.gyro),
            .write(0x80, to: 0x15, part: Self.gyro),
            .pause(0.030),
        ]
        return steps + .verify(audit)
    }

    /// Steps of the self tests (4.6.1 and 4.6.2). At ±24 g, the smallest permitted response of the
    /// accelerometer along x, y and z is 1000, 1000 and 500 mg (data sheet).
    ///
    /// Section 4.6.1 requires an output rate of 1600 Hz, but states the value 0xA7 for ACC_CONF,
    /// whose output rate is 50 Hz (5.3.11). Bosch's driver (BMI08x_SensorAPI, bmi08a.c) sets 1600 Hz.
    private static var selfTest: [SetUpStep] {
        let perMilliG = 32768.0 / 24000
        return [
            .write(0x03, to: 0x41, part: accel),
            .write(0xAC, to: 0x40, part: accel),
            .pause(0.003),
            .write(0x0D, to: 0x6D, part: accel),
            .pause(0.051),
            .keep(slot: 0, RegisterRead(part: accel, register: 0x12, count: 6)),
            .write(0x09, to: 0x6D, part: accel),
            .pause(0.051),
            .keep(slot: 1, RegisterRead(part: accel, register: 0x12, count: 6)),
            .write(0x00, to: 0x6D, part: accel),
            .require(
                { kept in
                    func response(_ index: Int) -> Double {
                        kept.littleEndian(0, index) - kept.littleEndian(1, index)
                    }
                    return response(0) >= 1000 * perMilliG && response(2) >= 1000 * perMilliG
                        && response(4) >= 500 * perMilliG
                }, otherwise: "failed the self-test of its accelerometer"),
            .write(0x01, to: 0x3C, part: gyro),
            .pause(0.060),
            // In the gyroscope's self test, the bits bist_rdy and rate_ok must be set, and
            // bist_fail must be clear.
            .expect(
                0x12, mask: 0x16, in: 0x3C, part: gyro,
                otherwise: "failed the self-test of its gyroscope"),
        ]
    }

    var burst: [RegisterRead] {
        [
            // Sections 5.3.4 and 5.3.5: registers of the acceleration, then of the chip's counter.
            RegisterRead(part: Self.accel, register: 0x12, count: 9),
            RegisterRead(part: Self.gyro, register: 0x02, count: 6),
        ]
    }

    /// Temperature registers (5.3.7), updated every 1.28 s.
    var seldom: RegisterRead? { RegisterRead(part: Self.accel, register: 0x22, count: 2) }

    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] {
        [
            (RegisterRead(part: Self.accel, register: 0x7D, count: 1), 0xFF, 0x04),
            (RegisterRead(part: Self.accel, register: 0x40, count: 1), 0xFF, Self.accelFilter),
            (RegisterRead(part: Self.accel, register: 0x41, count: 1), 0x03, accelCode),
            // Bit 7 of register GYRO_BANDWIDTH always reads as 1, so the mask excludes it.
            (RegisterRead(part: Self.gyro, register: 0x10, count: 1), 0x0F, Self.gyroFilter),
            (RegisterRead(part: Self.gyro, register: 0x0F, count: 1), 0xFF, gyroCode),
        ]
    }

    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample? {
        let count = UInt32(bytes[6]) | UInt32(bytes[7]) << 8 | UInt32(bytes[8]) << 16
        // A time counter of 0 is ignored. The chip's counter is 0 from a reset to the first
        // measurement, and wraps around to 0 every 11 minutes.
        guard count != lastCount, count != 0 else { return nil }
        lastCount = count
        let force = accelRange * 9.80665 / 32768
        let rate = gyroRange * .pi / 180 / 32767
        var sample = IMUSample(
            time: now,
            gyro: Vector3(
                bytes.littleEndian(at: 9) * rate, bytes.littleEndian(at: 11) * rate,
                bytes.littleEndian(at: 13) * rate),
            accel: Vector3(
                bytes.littleEndian(at: 0) * force, bytes.littleEndian(at: 2) * force,
                bytes.littleEndian(at: 4) * force))
        if let temperature {
            sample.temperature = temperature
            sample.contents.insert(.temperature)
        }
        return sample
    }

    /// Decodes the temperature (5.3.7): 11 bits, with the upper 8 bits in the first register. An
    /// upper byte of 0x80 means that the chip has not measured a temperature.
    mutating func take(seldom word: UInt64) {
        let upper = UInt16(word & 0xFF)
        guard upper != 0x80 else {
            temperature = nil
            return
        }
        let value = Int16(truncatingIfNeeded: upper << 8 | UInt16(word >> 8 & 0xFF)) >> 5
        temperature = Double(value) * 0.125 + 23
    }
}
