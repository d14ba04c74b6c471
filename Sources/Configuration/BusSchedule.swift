import GimbalCore

/// What the wire of an I2C bus has to carry in a period of the loop, against what it can.
///
/// A message is a start, its address and its bytes, each with an acknowledge; an exchange ends with a stop (NXP UM10204,
/// section 3.1). What the adapter and the kernel add is left to the fifth that the rule keeps free.
public struct BusSchedule: Sendable, Equatable {
    /// Share of the wire that may be planned, 0...1.
    public static let share = 0.8

    /// Bits of one read of the sensor.
    public let sensorBits: Int
    /// Bits of one write to all motors, which servos get once a frame; 0 without.
    public let motorBits: Int
    /// Whether the motors are on another bus than the sensor.
    public let haveMotorsOwnBus: Bool
    /// Clock of the bus, Hz.
    public let clock: Double

    /// The schedule that the settings ask for.
    public init(_ settings: Settings) {
        let linux = settings.hardware.linux
        switch linux.imu {
        case .bmi088: sensorBits = Self.exchange(reading: [9, 6])
        }
        let sorted = linux.outputs(of: settings.motors.type).sorted()
        var runs = [1]
        for (low, high) in zip(sorted, sorted.dropFirst()) {
            if high == low + 1 { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        // The register, and four bytes for each output.
        motorBits = linux.motors == .pca9685 ? Self.exchange(writing: runs.map { 1 + 4 * $0 }) : 0
        haveMotorsOwnBus = linux.haveMotorsOwnBus
        clock = Double(linux.busKhz) * 1000
    }

    /// Share of the busier wire that a period takes which reads the sensor and writes the motors, at a loop rate, Hz; 1 is
    /// all.
    public func load(rate: Double) -> Double {
        let bits = haveMotorsOwnBus ? max(sensorBits, motorBits) : sensorBits + motorBits
        return Double(bits) * rate / clock
    }

    /// The highest loop rate that keeps a fifth free, in steps of 50 Hz; 0: none does.
    public var fastest: Int {
        stride(from: 4000, through: 50, by: -50).first { load(rate: Double($0)) <= Self.share } ?? 0
    }

    private func busier(_ settings: Settings) -> String {
        let linux = settings.hardware.linux
        return haveMotorsOwnBus && motorBits > sensorBits ? linux.busOfMotors : linux.bus
    }

    private static func exchange(reading counts: [Int] = [], writing lengths: [Int] = []) -> Int {
        // A read is the register, a repeated start, and the bytes.
        let reads = counts.reduce(0) { $0 + 2 + 9 * 2 + 9 * (1 + $1) }
        return 1 + lengths.reduce(reads) { $0 + 1 + 9 * (1 + $1) }
    }

    static let rule = ConfigurationRule(
        keys: ["loop.rate_hz", "hardware.linux.bus_khz", "hardware.backend"],
        trigger: "hardware.backend"
    ) { settings in
        guard settings.hardware.backend == .linux else { return nil }
        let schedule = BusSchedule(settings)
        let load = schedule.load(rate: Double(settings.loop.rateHz))
        guard load > share else { return nil }
        let percent = Int((load * 100).rounded())
        return (
            "would need \(percent) % of the wire of \(schedule.busier(settings)) at "
                + "\(settings.hardware.linux.busKhz) kHz; 80 % may be planned",
            "\(schedule.fastest) Hz fits."
        )
    }
}
