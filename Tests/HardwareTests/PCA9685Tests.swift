import GimbalCore
import Testing

@testable import Hardware

/// Numbers of the data sheet, PCA9685 revision 4.
@Suite("PCA9685")
struct PCA9685Tests {
    @Test("the prescaler of the example in section 7.3.5 is 30: 200 Hz from 25 MHz")
    func prescaler() {
        let chip = PCA9685(frameRate: 200, oscillator: 25e6)
        #expect(chip.prescale == 30)
        #expect(abs(chip.frameRate - 25e6 / 4096 / 31) < 1e-9)
    }

    @Test("the prescaler stays within 3...255, and the frame rate is computed from the prescaler")
    func prescalerEnds() {
        #expect(PCA9685(frameRate: 5000, oscillator: 25e6).prescale == 3)
        #expect(PCA9685(frameRate: 1, oscillator: 25e6).prescale == 255)
        #expect(abs(PCA9685(frameRate: 1, oscillator: 25e6).frameRate - 23.84) < 0.01)
    }

    @Test("a pulse is counted with the measured oscillator frequency, not with the nominal one")
    func counts() {
        let nominal = PCA9685(frameRate: 333, oscillator: 25e6)
        let fast = PCA9685(frameRate: 333, oscillator: 27e6)
        for chip in [nominal, fast] {
            let seconds = Double(chip.counts(pulse: 1.5e-3)) / 4096 / chip.frameRate
            #expect(abs(seconds - 1.5e-3) < 0.5 / 4096 / chip.frameRate)
        }
        #expect(nominal.counts(pulse: 1) == 4095 && nominal.counts(pulse: -1) == 0)
    }

    @Test("a servo's pulse follows angle, direction and trim, and stays within the servo's limits")
    func pulses() {
        var servo = ServoPulse(shortest: 1e-3, longest: 2e-3, travel: .pi / 2)
        #expect(abs(servo.pulse(for: 0) - 1.5e-3) < 1e-12)
        #expect(abs(servo.pulse(for: .pi / 4) - 2e-3) < 1e-12)
        #expect(servo.pulse(for: 2) == 2e-3 && servo.pulse(for: -2) == 1e-3)
        servo.direction = -1
        servo.trim = 20e-6
        #expect(abs(servo.pulse(for: .pi / 8) - 1.27e-3) < 1e-12)
    }

    /// Outputs of a chip with the values after power-up (sections 7.3.1 and 7.3.5).
    private struct Bench {
        let wire = I2CWire()
        let outputs: PCA9685Outputs

        init(frameRate: Double) {
            outputs = PCA9685Outputs(
                bus: wire.bus(), address: 0x40, channels: [0],
                chip: PCA9685(frameRate: frameRate, oscillator: 25e6))
            losePower()
        }

        func losePower() {
            wire[0x40, 0x00] = 0x11
            wire[0x40, 0xFE] = 0x1E
        }

        /// Prepares the chip in periods of 2 ms; true if it becomes ready within 20 periods.
        func prepare(after seconds: Double) throws -> Bool {
            for tick in 1...20 {
                let now = Instant(nanoseconds: 0).advanced(bySeconds: seconds + Double(tick) * 2e-3)
                if try outputs.prepare(now: now) { return true }
            }
            return false
        }
    }

    @Test("a loss of power during the set-up does not leave another pulse rate")
    func powerLossDuringSetup() throws {
        let bench = Bench(frameRate: 50)
        // The first call writes the prescaler.
        #expect(try !bench.outputs.prepare(now: Instant(nanoseconds: 0)))
        bench.losePower()
        #expect(try bench.prepare(after: 0))
        #expect(bench.wire[0x40, 0xFE] == bench.outputs.chip.prescale)
    }

    @Test("a request to switch off that was damaged on the bus is repeated")
    func damagedOff() throws {
        let bench = Bench(frameRate: 50)
        let (wire, outputs) = (bench.wire, bench.outputs)
        #expect(try bench.prepare(after: 0))
        outputs.set(300, at: 0)
        _ = try outputs.write()
        let start = Instant(nanoseconds: 1_000_000_000)
        try outputs.keepOff(now: start)
        // ALL_LED_OFF_H (section 7.3.4), as after a request with a wrong second byte.
        wire[0x40, 0xFD] = 0
        try outputs.keepOff(now: start.advanced(bySeconds: 0.05))
        #expect(wire[0x40, 0xFD] == 0)
        try outputs.keepOff(now: start.advanced(bySeconds: 0.15))
        #expect(wire[0x40, 0xFD] == 0x10)
    }

    @Test("a chip that has lost power is set up again at every frame rate", arguments: [50.0, 200])
    func powerLoss(frameRate: Double) throws {
        let bench = Bench(frameRate: frameRate)
        #expect(try bench.prepare(after: 0))
        bench.losePower()
        #expect(try !bench.outputs.prepare(now: Instant(nanoseconds: 1_000_000_000)))
        #expect(try bench.prepare(after: 1))
        #expect(bench.wire[0x40, 0x00] == 0x20)
        #expect(bench.wire[0x40, 0xFE] == bench.outputs.chip.prescale)
    }
}
