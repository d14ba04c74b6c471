import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Bus schedule")
struct BusScheduleTests {
    private static var servos: Settings {
        var settings = Settings()
        settings.motors.type = .servo
        return settings
    }

    static func description(of chip: SensorChip) -> any IMUChip {
        switch chip {
        case .bmi088: BMI088(gyroRange: 2000, accelRange: 24)
        case .mpu6050: MPU6050(gyroRange: 2000, accelRange: 16)
        case .mpu6500, .mpu9250:
            MPU6500(gyroRange: 2000, accelRange: 16, hasMagnetometer: chip == .mpu9250)
        case .icm42688p: ICM42688P(gyroRange: 2000, accelRange: 16)
        case .icm20948: ICM20948(gyroRange: 2000, accelRange: 16)
        }
    }

    @Test("counts the bits of the exchanges on the wire", arguments: SensorChip.allCases)
    func bits(chip: SensorChip) {
        var settings = Self.servos
        settings.hardware.linux.imu = chip
        let bus = I2CBus(path: "/nowhere")
        let link = I2CChipLink(bus: bus, addresses: [0x18, 0x68])
        link.prepare(Self.description(of: chip).burst)
        let schedule = BusSchedule(settings)
        #expect(schedule.sensorBits == link.burstBits)
        var frame = I2CExchange(capacity: 13)
        frame.write([UInt8](repeating: 0, count: 13), to: 0x40)
        #expect(schedule.motorBits == frame.wireBits)
    }

    @Test("a handle sensor and encoders behind a multiplexer add their bits to the schedule")
    func more() {
        var settings = Settings()
        let alone = BusSchedule(settings).sensorBits
        settings.hardware.linux.handleImu = .mpu6050
        settings.hardware.linux.encoders = .as5600
        let bus = I2CBus(path: "/nowhere")
        let link = I2CChipLink(bus: bus, addresses: [0x68])
        link.prepare(Self.description(of: .mpu6050).burst)
        var channel = I2CExchange(capacity: 1)
        channel.write([1], to: 0x70)
        let encoder = AS5600(bus: bus, zero: 0, direction: 1).wireBits + channel.wireBits
        #expect(BusSchedule(settings).sensorBits == alone + link.burstBits + 3 * encoder)
        #expect(BusSchedule(settings).fastest < 500)
    }

    @Test("three neighbouring servo channels take 0.32 ms at 400 kHz")
    func servos() {
        #expect(abs(Double(BusSchedule(Self.servos).motorBits) / 400e3 - 0.32e-3) < 1e-6)
    }

    @Test(
        "a BMI088 and servos can run at 500 Hz but not at 1 kHz on 400 kHz, and at 1 kHz on 1 MHz")
    func rates() {
        var settings = Self.servos
        #expect(BusSchedule(settings).load(rate: 500) < 0.5)
        #expect(BusSchedule(settings).load(rate: 1000) > BusSchedule.share)
        settings.hardware.linux.busKhz = 1000
        #expect(BusSchedule(settings).load(rate: 1000) < 0.4)
        settings.hardware.linux.busKhz = 100
        #expect(BusSchedule(settings).fastest == 200)
    }

    @Test(
        "nine outputs of brushless motors take one burst of 0.86 ms at 400 kHz, which allows 400 Hz"
    )
    func phases() {
        var settings = Settings()
        settings.motors.type = .field
        settings.hardware.linux.motorChannels = AxisVector(yaw: 0, roll: 3, pitch: 6)
        let schedule = BusSchedule(settings)
        let outputs = PCA9685Outputs(
            bus: I2CBus(path: "/nowhere"), address: 0x40,
            channels: settings.hardware.linux.outputs(of: .field),
            chip: PCA9685(frameRate: 1526, oscillator: 25e6))
        #expect(schedule.motorBits == outputs.frameBits)
        #expect(abs(Double(schedule.motorBits) / 400e3 - 0.86e-3) < 1e-5)
        #expect(schedule.load(rate: 400) < BusSchedule.share)
        #expect(schedule.load(rate: 1000) > BusSchedule.share)
    }

    @Test("motors on a separate bus, or on PWM channels, take no time on the sensor's bus")
    func ownBus() {
        var settings = Self.servos
        settings.hardware.linux.motorBus = "/dev/i2c-3"
        #expect(BusSchedule(settings).load(rate: 1000) < BusSchedule.share)
        settings.hardware.linux.motorBus = "same"
        settings.hardware.linux.motors = .pwm
        #expect(BusSchedule(settings).load(rate: 1000) < BusSchedule.share)
    }
}
