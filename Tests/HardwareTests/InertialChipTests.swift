import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// MPU-6050 (RM-MPU-6000A-00, PS-MPU-6000A-00), MPU-6500 and MPU-9250 (RM-MPU-6500A-00,
/// RM-MPU-9250A-00), ICM-42688-P (DS-000347), ICM-20948 (DS-000189): sensitivities from their data
/// sheets, in LSB.
@Suite("InvenSense chips")
struct InertialChipTests {
    enum Kind: CaseIterable, Sendable { case mpu6050, mpu6500, mpu9250, icm42688p, icm20948 }

    static func make(_ kind: Kind, gyro: Double = 2000, accel: Double = 16) -> any IMUChip {
        switch kind {
        case .mpu6050: MPU6050(gyroRange: gyro, accelRange: accel)
        case .mpu6500: MPU6500(gyroRange: gyro, accelRange: accel, hasMagnetometer: false)
        case .mpu9250: MPU6500(gyroRange: gyro, accelRange: accel, hasMagnetometer: true)
        case .icm42688p: ICM42688P(gyroRange: gyro, accelRange: accel)
        case .icm20948: ICM20948(gyroRange: gyro, accelRange: accel)
        }
    }

    /// A burst in the chip's layout: status, acceleration, temperature, rate. The ICM-42688-P sends
    /// the temperature before the acceleration.
    static func burst(
        _ kind: Kind, accel: (Int16, Int16, Int16) = (0, 0, 0), temperature: Int16 = 0,
        gyro: (Int16, Int16, Int16) = (0, 0, 0),
        magnetic: [UInt8] = [UInt8](repeating: 0, count: 8),
        isNew: Bool = true
    ) -> [UInt8] {
        func words(_ values: Int16...) -> [UInt8] {
            values.flatMap {
                let bits = UInt16(bitPattern: $0)
                return [UInt8(bits >> 8), UInt8(bits & 0xFF)]
            }
        }
        let force = words(accel.0, accel.1, accel.2)
        let rate = words(gyro.0, gyro.1, gyro.2)
        if kind == .icm42688p { return [isNew ? 0x08 : 0] + words(temperature) + force + rate }
        if kind == .icm20948 {
            return [isNew ? 1 : 0] + force + rate + words(temperature) + magnetic
                + [UInt8](repeating: 0, count: max(0, 9 - magnetic.count))
        }
        return [isNew ? 1 : 0] + force + words(temperature) + rate
            + (kind == .mpu9250 ? magnetic : [])
    }

    static func sample(_ chip: any IMUChip, _ bytes: [UInt8]) -> IMUSample? {
        var chip = chip
        return bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 1)) }
    }

    @Test(
        "acceleration has the data sheet's sensitivity in every range, at full scale and at zero",
        arguments: Kind.allCases, [(2.0, 16384.0), (4, 8192), (8, 4096), (16, 2048)])
    func acceleration(kind: Kind, range: (g: Double, perG: Double)) throws {
        let chip = Self.make(kind, accel: range.g)
        let full = try #require(
            Self.sample(chip, Self.burst(kind, accel: (32767, -32768, 0))))
        #expect(abs(full.accel.x / 9.80665 - 32767 / range.perG) < 1e-9)
        #expect(abs(full.accel.y / 9.80665 + range.g) < 1e-9)
        #expect(full.accel.z == 0 && full.gyro == .zero)
        let least = try #require(Self.sample(chip, Self.burst(kind, accel: (0, 0, -1))))
        #expect(abs(least.accel.z * range.perG / 9.80665 + 1) < 1e-9)
        #expect(least.accel.x == 0 && least.accel.y == 0)
    }

    @Test(
        "rate has the data sheet's rounded sensitivity in every range, at full scale and at zero",
        arguments: Kind.allCases, [(250.0, 131.0), (500, 65.5), (1000, 32.8), (2000, 16.4)])
    func rate(kind: Kind, range: (dps: Double, perDps: Double)) throws {
        let chip = Self.make(kind, gyro: range.dps)
        let full = try #require(Self.sample(chip, Self.burst(kind, gyro: (-32768, 32767, 0))))
        // The driver refuses a sample beyond full scale. Full scale is computed from the nominal
        // range, so the data sheet's 131 LSB is 131.07 LSB here.
        #expect(abs(full.gyro.x * 180 / .pi + range.dps) < 1e-9)
        #expect(abs(full.gyro.y * 180 / .pi - 32767 / range.perDps) < range.dps * 0.002)
        #expect(full.gyro.z == 0 && full.accel == .zero)
    }

    @Test(
        "an ICM-42688-P also has finer ranges",
        arguments: [(15.625, 2097.2), (31.25, 1048.6), (62.5, 524.3), (125, 262)])
    func fineRates(dps: Double, perDps: Double) throws {
        let chip = Self.make(.icm42688p, gyro: dps)
        let full = try #require(
            Self.sample(chip, Self.burst(.icm42688p, gyro: (-32768, 32767, 0))))
        #expect(abs(full.gyro.x * 180 / .pi + dps) < 1e-9)
        #expect(abs(full.gyro.y * 180 / .pi - 32767 / perDps) < dps * 0.002)
    }

    @Test("an unavailable range is replaced by the next larger one, or by the largest one")
    func ranges() {
        #expect(MPU6050(gyroRange: 300, accelRange: 3).gyroRange == 500)
        #expect(MPU6050(gyroRange: 300, accelRange: 3).accelRange == 4)
        #expect(MPU6050(gyroRange: 4000, accelRange: 24).gyroRange == 2000)
        #expect(MPU6050(gyroRange: 4000, accelRange: 24).accelRange == 16)
        #expect(ICM42688P(gyroRange: 300, accelRange: 3).gyroRange == 500)
        #expect(ICM42688P(gyroRange: 300, accelRange: 3).accelRange == 4)
        #expect(ICM42688P(gyroRange: 4000, accelRange: 24).gyroRange == 2000)
        #expect(ICM42688P(gyroRange: 4000, accelRange: 24).accelRange == 16)
    }

    /// Ranges that a driver sets if these ranges are requested.
    static func ranges(
        _ chip: SensorChip, gyro: Double, accel: Double
    ) -> (gyro: Double, accel: Double) {
        switch chip {
        case .bmi088:
            let made = BMI088(gyroRange: gyro, accelRange: accel)
            return (made.gyroRange, made.accelRange)
        case .mpu6050:
            let made = MPU6050(gyroRange: gyro, accelRange: accel)
            return (made.gyroRange, made.accelRange)
        case .mpu6500, .mpu9250:
            let made = MPU6500(
                gyroRange: gyro, accelRange: accel, hasMagnetometer: chip == .mpu9250)
            return (made.gyroRange, made.accelRange)
        case .icm42688p:
            let made = ICM42688P(gyroRange: gyro, accelRange: accel)
            return (made.gyroRange, made.accelRange)
        case .icm20948:
            let made = ICM20948(gyroRange: gyro, accelRange: accel)
            return (made.gyroRange, made.accelRange)
        }
    }

    @Test("the loop expects the range that the driver sets", arguments: SensorChip.allCases)
    func expectedRanges(chip: SensorChip) {
        for gyro in [125.0, 200, 250, 300, 600, 1000, 1500, 2000, 4000] {
            let driver = Self.ranges(chip, gyro: gyro, accel: 16).gyro
            #expect(chip.gyroRange(atLeast: gyro) == driver)
        }
        for accel in [2.0, 3, 4, 5, 8, 10, 12, 16, 20, 24, 64] {
            let driver = Self.ranges(chip, gyro: 2000, accel: accel).accel
            #expect(chip.accelRange(atLeast: accel) == driver)
        }
    }

    @Test(
        "temperature follows the formula of each data sheet",
        arguments: [
            (Kind.mpu6050, Int16(0), 36.53), (.mpu6050, 340, 37.53), (.mpu6050, -12420, 0.000588),
            (.mpu6500, 0, 21), (.mpu6500, 3339, 31.0009), (.mpu9250, 0, 21),
            (.icm42688p, 0, 25), (.icm42688p, 13248, 125), (.icm20948, 0, 21),
            (.icm20948, 3339, 31.0009),
        ])
    func temperature(kind: Kind, counts: Int16, celsius: Double) throws {
        let sample = try #require(
            Self.sample(Self.make(kind), Self.burst(kind, temperature: counts)))
        #expect(abs(sample.temperature - celsius) < 1e-3)
        #expect(sample.contents.contains(.temperature))
    }

    @Test("a burst without its data-ready bit is not a new sample", arguments: Kind.allCases)
    func notReady(kind: Kind) {
        let bytes = Self.burst(kind, gyro: (1, 2, 3), isNew: false)
        #expect(Self.sample(Self.make(kind), bytes) == nil)
    }

    @Test("the values that an ICM-42688-P sends before its first measurement are not a sample")
    func notMeasured() {
        let bytes = Self.burst(.icm42688p, gyro: (-32768, -32768, -32768))
        #expect(Self.sample(Self.make(.icm42688p), bytes) == nil)
    }

    @Test(
        "no register of an ICM-42688-P is written for 200 µs after PWR_MGMT0",
        arguments: [(true, 2), (false, 1)])
    func powerPause(testsItself: Bool, writes: Int) {
        let steps = ICM42688P(gyroRange: 2000, accelRange: 16, testsItself: testsItself).setUp
        var found = 0
        for (step, next) in zip(steps, steps.dropFirst()) {
            guard case .write(_, to: 0x4E, part: _) = step else { continue }
            found += 1
            var pause = 0.0
            if case .pause(let seconds) = next { pause = seconds }
            #expect(pause >= 200e-6)
        }
        #expect(found == writes)
    }

    @Test("the magnetometer's field is converted to the chip's axes, adjusted, and reported once")
    func magnetometer() throws {
        var chip = Self.make(.mpu9250)
        var kept = StoredRegisters()
        // An ASA value of 128 is a factor of 1, 255 adds 49.6 %, and 0 halves the field.
        kept[5] = 128
        kept[6] = 255
        kept[7] = 0
        chip.take(kept: kept)
        // ST1, x = 100, y = -200, z = 32760 (4912 µT, the end of its range), ST2.
        let bytes = Self.burst(
            .mpu9250, magnetic: [1, 100, 0, 0x38, 0xFF, 0xF8, 0x7F, 0x10])
        let first = bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 1)) }
        let sample = try #require(first)
        #expect(sample.contents.contains(.magneticField))
        #expect(abs(sample.magneticField.x + 200 * 0.15 * (1 + 127.0 / 256)) < 1e-9)
        #expect(abs(sample.magneticField.y - 15) < 1e-9)
        #expect(abs(sample.magneticField.z + 32760 * 0.15 / 2) < 1e-9)
        let second = bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 2)) }
        #expect(try !#require(second).contents.contains(.magneticField))
        // HOFL: the field exceeds the measuring range.
        let overflow = Self.burst(.mpu9250, magnetic: [1, 1, 0, 0, 0, 0, 0, 0x18])
        let third = overflow.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 3)) }
        #expect(try !#require(third).contents.contains(.magneticField))
    }

    @Test("the field of an ICM-20948 is converted to the chip's axes, and reported once")
    func magnetometerInBanks() throws {
        var chip = Self.make(.icm20948)
        func sample(_ magnetic: [UInt8]) throws -> IMUSample {
            let found = Self.burst(.icm20948, magnetic: magnetic).withUnsafeBytes {
                chip.sample($0, now: Instant(nanoseconds: 1))
            }
            return try #require(found)
        }
        // ST1, x = 100, y = -200, z = 32752 (4912 µT, the end of its range), a reserved byte, ST2.
        let first = try sample([1, 100, 0, 0x38, 0xFF, 0xF0, 0x7F, 0, 0])
        #expect(first.contents.contains(.magneticField))
        #expect(abs(first.magneticField.x - 15) < 1e-9)
        #expect(abs(first.magneticField.y - 30) < 1e-9)
        #expect(abs(first.magneticField.z + 4912.8) < 1e-9)
        let again = try sample([1, 100, 0, 0x38, 0xFF, 0xF0, 0x7F, 0, 0])
        #expect(!again.contents.contains(.magneticField))
        // HOFL: the field exceeds the measuring range.
        let overflow = try sample([1, 1, 0, 0, 0, 0, 0, 0, 0x08])
        #expect(!overflow.contents.contains(.magneticField))
    }

    @Test("each set-up of an ICM-42688-P keeps the gyroscope from changing its own range")
    func adaptiveRange() throws {
        for testsItself in [false, true] {
            let chip = FakeChip(.icm42688p)
            let steps = chip.description(testsItself: testsItself).setUp
            for step in steps {
                guard case .write(let value, to: let register, part: let part) = step else {
                    continue
                }
                // Both sensors are off when the bits change.
                if register == 0x4D { #expect(chip[0, 0x4E] == 0) }
                try chip.write(value, to: register, part: part)
            }
            // AFSR is 1; the other bits of INTF_CONFIG1 have their values after a reset.
            #expect(chip[0, 0x4D] == 0x51)
        }
    }

    @Test("the set-up of an ICM-20948 writes the data sheet's values to the registers of all banks")
    func banks() throws {
        let chip = FakeChip(.icm20948)
        var run = SetUpRun(chip.description().setUp)
        for tick in 0..<1000 where !run.isDone {
            chip.now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            try run.advance(chip, now: chip.now)
        }
        #expect(run.isDone)
        func register(_ bank: UInt8, _ register: UInt8) throws -> UInt8 {
            try chip.write(bank << 4, to: 0x7F, part: 0)
            return UInt8(try chip.read(register, count: 1, part: 0))
        }
        // ±2000 deg/s at 196.6 Hz, ±16 g at 246 Hz, both at 1125 Hz.
        #expect(try register(2, 0x01) == 0x07 && register(2, 0x00) == 0)
        #expect(try register(2, 0x14) == 0x0F && register(2, 0x11) == 0)
        // Slave 0 reads nine bytes from register 0x10 of the device 0x0C; the clock is 345.6 kHz.
        #expect(try register(3, 0x03) == 0x8C && register(3, 0x04) == 0x10)
        #expect(try register(3, 0x05) == 0x89 && register(3, 0x01) & 0x0F == 7)
        // The last write to the magnetometer sets 100 Hz.
        #expect(try register(3, 0x14) == 0x31 && register(3, 0x16) == 0x08)
        #expect(try register(0, 0x06) == 0x01 && register(0, 0x03) == 0x20)
    }

    @Test("an AS5600 has 4096 counts per turn, and reports no angle without its magnet")
    func encoder() {
        func turn(_ bytes: [UInt8]) -> Double? { bytes.withUnsafeBytes { AS5600.turn($0) } }
        #expect(turn([0x20, 0x00, 0x00]) == 0)
        #expect(turn([0x20, 0x04, 0x00]) == .pi / 2)
        #expect(turn([0x20, 0x0F, 0xFF]) == 4095.0 / 4096 * 2 * .pi)
        // ML and MH: the magnet is too weak or too strong, but present.
        #expect(turn([0x38, 0x08, 0x00]) == .pi)
        #expect(turn([0x00, 0x08, 0x00]) == nil)
        #expect(abs(AS5600.joint(0.1, zero: 6.2, direction: 1) - (0.1 - 6.2 + 2 * .pi)) < 1e-12)
        #expect(AS5600.joint(0.5, zero: 0.2, direction: -1) == -0.3)
    }

    @Test("one damaged angle of an AS5600 is not used, and a second reading confirms a jump")
    func damagedAngle() {
        let wire = I2CWire()
        wire[AS5600.address, 0x0B] = 0x20
        let encoder = AS5600(bus: wire.bus(), zero: 0, direction: 1)
        /// Angle at a time, ms, with a value of the encoder, 1/4096 turn.
        func angle(_ time: Int64, _ value: Int) -> Double? {
            wire[AS5600.address, 0x0C] = UInt8(value >> 8)
            wire[AS5600.address, 0x0D] = UInt8(value & 0xFF)
            return encoder.angle(now: Instant(nanoseconds: time * 1_000_000))
        }
        #expect(angle(2, 0) == 0)
        #expect(angle(4, 1024) == 0)
        #expect(angle(6, 0) == 0)
        // The end of the turn is not a jump.
        #expect(angle(8, 4064).map { abs($0 + .pi / 64) < 1e-9 } == true)
        #expect(angle(10, 0) == 0)
        #expect(angle(12, 1024) == 0)
        #expect(angle(14, 1024) == .pi / 2)
        // Two damaged readings that differ.
        #expect(angle(16, 3072) == .pi / 2)
        #expect(angle(18, 2048 + 512) == .pi / 2)
        #expect(angle(20, 1024) == .pi / 2)
        // After a pause, the joint can have turned.
        #expect(angle(120, 0) == 0)
    }
}
