import GimbalCore

/// Load of the I2C and SPI buses in one loop period, as a fraction of their capacity. One thread
/// serves the buses one after the other.
///
/// A message consists of a start condition, an address and data bytes. Address and data bytes each
/// have an acknowledge bit. A stop condition ends an exchange of messages (NXP UM10204, section
/// 3.1). The schedule counts a stop condition for each read, because some adapters, such as that of
/// a Raspberry Pi 4, need a separate transfer for each read. The schedule reserves one fifth of
/// each period for the overhead of the adapter and the kernel, also for these separate transfers.
public struct BusSchedule: Sendable, Equatable {
    /// Largest allowed load of a bus, 0...1.
    public static let share = 0.8

    /// Number of bits on the I2C bus for one read of the sensors.
    public let sensorBits: Int
    /// Number of bits on the SPI bus for one read of the sensor.
    public let spiBits: Int
    /// Bus load due to the samples from the sensor's FIFO, 0...1. The load of the FIFO's samples
    /// does not depend on the loop's rate.
    public let bufferLoad: Double
    /// Clock of the SPI bus, Hz.
    public let spiClock: Double
    /// Number of bits for one write to all motors; 0 if there are no motors. Servo outputs are
    /// written once per pulse.
    public let motorBits: Int
    /// True if the motors and the sensor are on different buses.
    public let haveMotorsOwnBus: Bool
    /// Clock of the I2C bus, Hz.
    public let clock: Double
    /// Load of the CAN bus; nil if there are no CAN drives.
    public let can: CANLoad?

    /// Creates the schedule of these settings.
    public init(_ settings: Settings) {
        let linux = settings.hardware.linux
        // For a chip with a FIFO, each period has two reads: the FIFO's fill level (two bytes) and
        // its content. `bufferLoad` includes the bytes of the FIFO's content.
        let packet = linux.imuFifo ? linux.imu?.packetBytes : nil
        // A kernel driver decides when it reads the sensor, and the sensor's bus is unknown here.
        let burst = packet == nil ? linux.imu.map(Self.burst) ?? [] : [2, 0]
        let isOnSPI = linux.imuInterface == .spi && linux.imu != nil
        var bits = isOnSPI || linux.imu == nil ? 0 : Self.exchange(reading: burst)
        if let handle = linux.handleImu {
            bits += Self.exchange(reading: Self.burst(of: handle))
        }
        // For encoders behind a multiplexer, each read begins with a byte that selects the channel.
        if linux.encoders == .as5600 {
            bits += 3 * (Self.exchange(reading: [3]) + Self.exchange(writing: [1]))
        }
        sensorBits = bits
        // Each read over SPI has a register byte; a read of a BMI088's accelerometer also has a
        // dummy byte.
        let overhead = burst.count + (linux.imu == .bmi088 ? 1 : 0)
        spiBits = isOnSPI ? 8 * (burst.reduce(0, +) + overhead) : 0
        spiClock = Double(linux.spiKhz) * 1000
        bufferLoad =
            Double(packet ?? 0) * 1000
            * (isOnSPI ? 8 / (Double(linux.spiKhz) * 1000) : 9 / (Double(linux.busKhz) * 1000))
        let sorted = linux.outputs(of: settings.motors.type).sorted()
        var runs = [1]
        for (low, high) in zip(sorted, sorted.dropFirst()) {
            if high == low + 1 { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        // Each write to the motors' chip has a register byte and four bytes for each output.
        motorBits = linux.motors == .pca9685 ? Self.exchange(writing: runs.map { 1 + 4 * $0 }) : 0
        haveMotorsOwnBus = linux.haveMotorsOwnBus
        clock = Double(linux.busKhz) * 1000
        can = linux.motors == .can ? CANLoad(linux) : nil
    }

    /// Number of registers in each of the driver's reads in one period.
    private static func burst(of chip: SensorChip) -> [Int] {
        switch chip {
        case .bmi088: [9, 6]
        case .mpu6050, .mpu6500: [15]
        case .mpu9250: [23]
        case .icm42688p: [1, 14]
        case .icm20948: [1, 23]
        }
    }

    /// Load of the busier bus at the given loop rate (Hz): the fraction of a period that sensor
    /// reads and motor writes occupy. A load of 1 means that the bus is always busy.
    public func load(rate: Double) -> Double {
        let sensors = bufferLoad + (Double(sensorBits) / clock + Double(spiBits) / spiClock) * rate
        let motors = Double(motorBits) / clock * rate
        let chips = haveMotorsOwnBus ? max(sensors, motors) : sensors + motors
        return max(chips, can?.load(rate: rate) ?? 0)
    }

    /// The highest loop rate with a load of at most `share`, Hz, in steps of 50 Hz; 0 if the load
    /// is always larger.
    public var fastest: Int {
        stride(from: 4000, through: 50, by: -50).first { load(rate: Double($0)) <= Self.share } ?? 0
    }

    private func busier(_ settings: Settings) -> String {
        let linux = settings.hardware.linux
        return haveMotorsOwnBus && motorBits > sensorBits ? linux.busOfMotors : linux.bus
    }

    private static func exchange(reading counts: [Int] = [], writing lengths: [Int] = []) -> Int {
        // A read over I2C consists of the register byte, a repeated start, and the data bytes.
        let reads = counts.reduce(0) { $0 + 2 + 9 * 2 + 9 * (1 + $1) }
        let stops = max(counts.count, 1)
        return stops + lengths.reduce(reads) { $0 + 1 + 9 * (1 + $1) }
    }

    static let rule = ConfigurationRule(
        keys: [
            "loop.rate_hz", "hardware.linux.bus_khz", "hardware.linux.can_kbit", "hardware.backend",
        ],
        triggers: ["hardware.backend"]
    ) { settings in
        guard settings.hardware.backend == .linux else { return nil }
        let schedule = BusSchedule(settings)
        let load = schedule.load(rate: Double(settings.loop.rateHz))
        guard load > share else { return nil }
        let percent = Int((load * 100).rounded())
        if let can = schedule.can, can.load(rate: Double(settings.loop.rateHz)) == load {
            return (
                "would occupy \(percent) % of the time of \(settings.hardware.linux.canInterface) at \(settings.hardware.linux.canKbit) kbit/s; at most 80 % is allowed",
                "The highest possible loop.rate_hz with this bus is \(schedule.fastest) Hz."
            )
        }
        let spi =
            schedule.spiBits > 0 ? " and of SPI at \(settings.hardware.linux.spiKhz) kHz" : ""
        return (
            "would occupy \(percent) % of the time of the bus \(schedule.busier(settings)) at \(settings.hardware.linux.busKhz) kHz\(spi); at most 80 % is allowed",
            "The highest possible loop.rate_hz with this bus is \(schedule.fastest) Hz."
        )
    }
}
