import GimbalCore
import Testing

@testable import Hardware

/// Numbers of the data sheet, BST-BMI088-DS001 revision 1.3.
@Suite("BMI088")
struct BMI088Tests {
    /// Burst that contains these values.
    static func burst(
        accel: (Int16, Int16, Int16) = (0, 0, 0), counter: UInt32 = 1,
        gyro: (Int16, Int16, Int16) = (0, 0, 0)
    ) -> [UInt8] {
        func word(_ value: Int16) -> [UInt8] {
            let bits = UInt16(bitPattern: value)
            return [UInt8(bits & 0xFF), UInt8(bits >> 8)]
        }
        var bytes = word(accel.0) + word(accel.1) + word(accel.2)
        for shift in [0, 8, 16] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: counter >> shift))
        }
        return bytes + word(gyro.0) + word(gyro.1) + word(gyro.2)
    }

    static func sample(_ chip: BMI088, _ bytes: [UInt8]) -> IMUSample? {
        var chip = chip
        return bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 1)) }
    }

    @Test(
        "acceleration follows section 5.3.4 at every range, at full scale and at zero",
        arguments: [(3.0, 3.0), (6, 6), (12, 12), (24, 24), (4, 6), (2, 3)])
    func acceleration(wanted: Double, range: Double) throws {
        let chip = BMI088(gyroRange: 2000, accelRange: wanted)
        #expect(chip.accelRange == range)
        let full = try #require(
            Self.sample(chip, Self.burst(accel: (32767, -32768, 0))))
        // In mg: value / 32768 * 1000 * 2^(code + 1). The data sheet's 2^(code + 1) means 3 g times
        // 2^code.
        #expect(abs(full.accel.x / 9.80665 - 32767.0 / 32768 * range) < 1e-9)
        #expect(abs(full.accel.y / 9.80665 + range) < 1e-9)
        #expect(full.accel.z == 0 && full.gyro == .zero)
    }

    @Test(
        "rate follows the table of section 5.5.2 at every range, at full scale and at zero",
        arguments: [125.0, 250, 500, 1000, 2000])
    func rate(range: Double) throws {
        let chip = BMI088(gyroRange: range, accelRange: 24)
        #expect(chip.gyroRange == range)
        let full = try #require(Self.sample(chip, Self.burst(gyro: (32767, -32767, 0))))
        #expect(abs(full.gyro.x * 180 / .pi - range) < 1e-9)
        #expect(abs(full.gyro.y * 180 / .pi + range) < 1e-9)
        #expect(full.gyro.z == 0 && full.accel == .zero)
    }

    @Test(
        "temperature follows the examples of section 5.3.7",
        arguments: [
            ((0x3E, 0x00), 85.0), ((0x00, 0x60), 23.375), ((0x00, 0x40), 23.25),
            ((0x00, 0x20), 23.125), ((0x00, 0x00), 23), ((0xC1, 0x00), -40),
        ] as [((UInt8, UInt8), Double)])
    func temperature(bytes: (UInt8, UInt8), celsius: Double) throws {
        var chip = BMI088(gyroRange: 2000, accelRange: 24)
        chip.take(seldom: UInt64(bytes.0) | UInt64(bytes.1) << 8)
        let sample = try #require(Self.sample(chip, Self.burst()))
        #expect(sample.temperature == celsius && sample.contents.contains(.temperature))
        chip.take(seldom: 0x80)
        let none = try #require(Self.sample(chip, Self.burst()))
        #expect(!none.contents.contains(.temperature))
    }

    @Test("an unchanged counter does not give a new sample")
    func staleCounter() {
        var chip = BMI088(gyroRange: 2000, accelRange: 24)
        let bytes = Self.burst(accel: (1, 2, 3), counter: 77)
        let first = bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 1)) }
        let second = bytes.withUnsafeBytes { chip.sample($0, now: Instant(nanoseconds: 2)) }
        #expect(first != nil && second == nil)
    }
}
