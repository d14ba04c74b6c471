import GimbalCore
import Realtime
import Testing

@testable import Hardware

@Suite("Magnetometers in inertial sensors")
struct MagnetometerTests {
    /// A chip with a magnetometer on a bus that is read 500 times per second.
    final class Bench {
        let chip: FakeChip
        let report = SensorReport()
        let bus: LinuxBus
        private var tick = 0

        init(_ kind: FakeChip.Kind) {
            chip = FakeChip(kind)
            bus = LinuxBus(
                camera: InertialSensor(
                    chip: chip.description(), link: chip, report: report),
                motors: nil)
        }

        /// The samples that the bus delivers within a time, s.
        func run(_ seconds: Double) -> [IMUSample] {
            var samples: [IMUSample] = []
            for _ in 0..<Int((seconds * 500).rounded()) {
                tick += 1
                chip.now = LinuxBusTests.at(Double(tick) / 500)
                var batch = SampleBatch()
                do { try bus.read(into: &batch, now: chip.now) } catch {}
                samples += (0..<batch.count).map { batch[$0] }
            }
            return samples
        }

        /// Changes the magnetometer's bytes in the registers of the chip, if the magnetometer
        /// measures at 100 Hz.
        func measure(_ value: UInt8) {
            guard chip.magnetometerMode == (chip.kind == .icm20948 ? 0x08 : 0x16) else { return }
            chip[0, chip.kind == .icm20948 ? 0x3C : 0x4A] = value
        }
    }

    static func hasField(_ samples: [IMUSample]) -> Bool {
        samples.contains { $0.contents.contains(.magneticField) }
    }

    @Test(
        "a chip whose magnetometer does not answer is used without it, which is reported",
        arguments: [FakeChip.Kind.mpu9250, .icm20948])
    func silent(kind: FakeChip.Kind) {
        let bench = Bench(kind)
        bench.chip.hasMagnetometer = false
        #expect(bench.run(0.3).isEmpty)
        #expect(bench.report.lastFailure?.contains("magnetometer") == true)
        let samples = bench.run(2.7)
        #expect(samples.count > 500 && !Self.hasField(samples))
        #expect(bench.report.isRunning && bench.report.lastFailure == nil)
        #expect(bench.bus.conditions == .magnetometerMissing)
        // The supply of the chip was switched off and on.
        bench.chip.reset(part: 0)
        bench.chip.hasMagnetometer = true
        _ = bench.run(1)
        bench.measure(5)
        #expect(Self.hasField(bench.run(0.1)))
        #expect(bench.bus.conditions == .none)
    }

    @Test(
        "a magnetometer that answers only in the second set-up is used",
        arguments: [FakeChip.Kind.mpu9250, .icm20948])
    func late(kind: FakeChip.Kind) {
        let bench = Bench(kind)
        bench.chip.hasMagnetometer = false
        #expect(bench.run(0.3).isEmpty)
        bench.chip.hasMagnetometer = true
        _ = bench.run(1)
        bench.measure(5)
        #expect(Self.hasField(bench.run(0.1)))
        #expect(bench.report.isRunning && bench.bus.conditions == .none)
    }

    @Test(
        "a lost write of the magnetometer's mode is found, and repeated in two further set-ups",
        arguments: [FakeChip.Kind.mpu9250, .icm20948])
    func lostMode(kind: FakeChip.Kind) {
        // The set-up of an MPU-9250 writes three modes, of which the last one must arrive.
        let writes = kind == .mpu9250 ? 3 : 1
        for losses in 1...3 {
            let bench = Bench(kind)
            bench.chip.lostModes = losses * writes
            _ = bench.run(3)
            bench.measure(5)
            #expect(Self.hasField(bench.run(0.1)) == (losses < 3), "\(losses) losses")
            #expect(bench.report.isRunning && bench.report.lastFailure == nil)
            #expect(bench.bus.conditions == (losses < 3 ? .none : .magnetometerMissing))
        }
    }
}
