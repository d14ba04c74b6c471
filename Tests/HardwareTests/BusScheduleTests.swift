import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Bus schedule")
struct BusScheduleTests {
    @Test("counts the bits that the exchanges put on the wire")
    func bits() {
        let settings = Settings()
        let bus = I2CBus(path: "/nowhere")
        let link = I2CChipLink(bus: bus, addresses: [0x18, 0x68])
        link.prepare(BMI088(gyroRange: 2000, accelRange: 24).burst)
        let schedule = BusSchedule(settings)
        #expect(schedule.sensorBits == link.burstBits)
        var frame = I2CExchange(capacity: 13)
        frame.write([UInt8](repeating: 0, count: 13), to: 0x40)
        #expect(schedule.motorBits == frame.wireBits)
    }

    @Test("three neighbouring servo channels take 0.32 ms at 400 kHz")
    func servos() {
        #expect(abs(Double(BusSchedule(Settings()).motorBits) / 400e3 - 0.32e-3) < 1e-6)
    }

    @Test("at 400 kHz a BMI088 and servos leave time for 500 Hz, not for 1 kHz; at 1 MHz they do")
    func rates() {
        var settings = Settings()
        #expect(BusSchedule(settings).load(rate: 500) < 0.5)
        #expect(BusSchedule(settings).load(rate: 1000) > BusSchedule.share)
        settings.hardware.linux.busKhz = 1000
        #expect(BusSchedule(settings).load(rate: 1000) < 0.4)
        settings.hardware.linux.busKhz = 100
        #expect(BusSchedule(settings).fastest == 200)
    }
}
