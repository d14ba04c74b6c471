import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

/// The verdict of each chip's self-test on simulated register values.
@Suite("Self tests")
struct SelfTestTests {
    /// The message of the first failed check of the stored registers; nil: all checks pass.
    static func verdict(_ chip: any IMUChip, _ kept: StoredRegisters) -> String? {
        for case .require(let holds, let words) in chip.setUp where !holds(kept) {
            return "\(words)"
        }
        return nil
    }

    /// Three 16-bit numbers as registers, the upper byte first.
    static func words(_ x: Int, _ y: Int, _ z: Int) -> UInt64 {
        var word: UInt64 = 0
        for (index, value) in [x, y, z].enumerated() {
            let bits = UInt16(bitPattern: Int16(value))
            word |= UInt64(bits.byteSwapped) << (16 * UInt64(index))
        }
        return word
    }

    /// Registers of an InvenSense chip: 100 counts of offset at rest, plus these responses.
    static func kept(
        accel: (Int, Int, Int), gyro: (Int, Int, Int), codes: (accel: UInt64, gyro: UInt64)
    ) -> StoredRegisters {
        var kept = StoredRegisters()
        kept[0] = words(100, 100, 100)
        kept[1] = words(-50, -50, -50)
        kept[2] = words(100 + accel.0, 100 + accel.1, 100 + accel.2)
        kept[3] = words(gyro.0 - 50, gyro.1 - 50, gyro.2 - 50)
        kept[4] = codes.accel
        kept[5] = codes.gyro
        return kept
    }

    static let chips: [any IMUChip] = [
        MPU6500(gyroRange: 2000, accelRange: 16, hasMagnetometer: false),
        MPU6500(gyroRange: 2000, accelRange: 16, hasMagnetometer: true),
        ICM42688P(gyroRange: 2000, accelRange: 16),
        ICM20948(gyroRange: 2000, accelRange: 16),
    ]

    @Test(
        "InvenSense since the MPU-6500: the response must be 0.5 to 1.5 times the factory's response"
    )
    func ratio() {
        // Code 70: 2620 · 1.01^69 = 5206.
        let codes = (accel: 0x46_4646 as UInt64, gyro: 0x46_4646 as UInt64)
        for chip in Self.chips {
            func verdict(_ accel: Int, _ gyro: Int) -> String? {
                Self.verdict(
                    chip,
                    Self.kept(accel: (5206, accel, 5206), gyro: (5206, 5206, gyro), codes: codes))
            }
            #expect(verdict(5206, 5206) == nil)
            #expect(verdict(2700, 2700) == nil && verdict(7700, 9000) == nil)
            #expect(verdict(2500, 5206) == "failed the self-test of its accelerometer")
            #expect(verdict(7900, 5206) == "failed the self-test of its accelerometer")
            #expect(verdict(5206, 2500) == "failed the self-test of its gyroscope")
            #expect(verdict(5206, -5206) == "failed the self-test of its gyroscope")
        }
    }

    @Test("without stored factory values the response must be 60 deg/s, and within bounds in g")
    func unstored() {
        for chip in Self.chips {
            func verdict(g: Double, dps: Double) -> String? {
                let (a, r) = (Int(g * 32768 / 2), Int(dps * 32768 / 250))
                return Self.verdict(
                    chip, Self.kept(accel: (a, a, a), gyro: (r, r, r), codes: (0, 0)))
            }
            #expect(verdict(g: 0.5, dps: 61) == nil)
            #expect(verdict(g: 0.02, dps: 61) == "failed the self-test of its accelerometer")
            #expect(verdict(g: 0.5, dps: 59) == "failed the self-test of its gyroscope")
        }
    }

    @Test(
        "MPU-6050: the response must be within 14 % of the factory's, with the gyroscope's y inverted"
    )
    func mpu6050() {
        let chip = MPU6050(gyroRange: 2000, accelRange: 16)
        // Codes 10: 25 · 131 · 1.046^9 = 4909; 4096 · 0.34 · (0.92 / 0.34)^(9 / 30) = 1877. Bits 4
        // to 2 of the accelerometer's code are in the upper bits of each register, 1 and 0 in the
        // last one.
        let codes: UInt64 = 0x2A_4A4A_4A
        func verdict(_ accel: Int, _ gyro: (Int, Int, Int)) -> String? {
            Self.verdict(
                chip, Self.kept(accel: (1877, 1877, accel), gyro: gyro, codes: (codes, 0)))
        }
        #expect(verdict(1877, (4909, -4909, 4909)) == nil)
        #expect(verdict(2100, (5500, -4300, 4909)) == nil)
        #expect(verdict(2200, (4909, -4909, 4909)) == "failed the self-test of its accelerometer")
        #expect(verdict(1877, (4909, 4909, 4909)) == "failed the self-test of its gyroscope")
        #expect(verdict(1877, (4100, -4909, 4909)) == "failed the self-test of its gyroscope")
    }

    @Test("BMI088: the responses must match the table of section 4.6.1")
    func bmi088() {
        let chip = BMI088(gyroRange: 2000, accelRange: 24)
        // 1000, 1000 and 500 mg at ±24 g are 1365.3, 1365.3 and 682.7 counts; the lower byte comes
        // first.
        func kept(_ x: Int16, _ y: Int16, _ z: Int16) -> StoredRegisters {
            var kept = StoredRegisters()
            kept[0] = [x, y, z].enumerated().reduce(0) {
                $0 | UInt64(UInt16(bitPattern: $1.element)) << (16 * UInt64($1.offset))
            }
            return kept
        }
        #expect(Self.verdict(chip, kept(1366, 1366, 683)) == nil)
        #expect(
            Self.verdict(chip, kept(1365, 1366, 683)) == "failed the self-test of its accelerometer"
        )
        #expect(
            Self.verdict(chip, kept(1366, 1366, 682)) == "failed the self-test of its accelerometer"
        )
    }

    @Test("BMI088: the accelerometer measures 1600 times per second during its self test")
    func bmi088Rate() {
        // Registers ACC_CONF (0x40) and ACC_SELF_TEST (0x6D): code 0x0C is 1600 Hz (5.3.11).
        var configuration: UInt8 = 0
        var tested: [UInt8] = []
        for case .write(let value, let register, let part) in BMI088(
            gyroRange: 2000, accelRange: 24
        ).setUp where part == 0 {
            if register == 0x40 { configuration = value }
            if register == 0x6D, value != 0 { tested.append(configuration) }
        }
        #expect(tested == [0xAC, 0xAC])
    }

    /// An MPU-6050 that tests itself, read 500 times per second.
    final class Bench {
        let chip = FakeChip(.mpu6050)
        let report = SensorReport()
        let sensor: InertialSensor
        private var tick = 0

        init() {
            sensor = InertialSensor(
                chip: chip.description(testsItself: true), link: chip, report: report)
        }

        /// Reads the sensor for a time, s; returns the number of samples.
        func run(_ seconds: Double) -> Int {
            var count = 0
            for _ in 0..<Int((seconds * 500).rounded()) {
                tick += 1
                chip.now = LinuxBusTests.at(Double(tick) / 500)
                var batch = SampleBatch()
                do { try sensor.read(into: &batch, time: chip.now, now: chip.now) } catch {}
                count += batch.count
            }
            return count
        }
    }

    @Test("a sensor that has passed its self-test is set up without it after an outage")
    func outage() {
        let bench = Bench()
        #expect(bench.run(1) > 100)
        // A person now carries the camera, so the self-test would fail.
        bench.chip.trim = 0x4A
        bench.chip.failing = ENXIO
        #expect(bench.run(0.006) == 0)
        #expect(bench.report.outages == 1)
        bench.chip.failing = 0
        #expect(bench.run(0.4) > 50)
        #expect(bench.report.isRunning && bench.report.lastFailure == nil)
        bench.chip.reset(part: 0)
        _ = bench.run(0.4)
        #expect(bench.report.lostConfigurations == 1)
        #expect(bench.report.isRunning && bench.report.lastFailure == nil)
    }

    @Test("a sensor that has never passed its self-test repeats it until it passes")
    func untilPassed() {
        let bench = Bench()
        bench.chip.trim = 0x4A
        #expect(bench.run(2) == 0)
        #expect(bench.report.lastFailure == "failed the self-test of its accelerometer")
        bench.chip.failing = ENXIO
        _ = bench.run(0.1)
        bench.chip.failing = 0
        #expect(bench.run(2) == 0)
        bench.chip.trim = 0
        #expect(bench.run(2) > 500)
        #expect(bench.report.isRunning && bench.report.lastFailure == nil)
    }
}
