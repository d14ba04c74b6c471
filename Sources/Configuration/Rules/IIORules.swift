import GimbalCore

/// Rules for a sensor with a kernel driver.
enum IIORules {
    /// All rules for IIO sensors.
    static let all = [rate, dataReady]

    private static func isUsed(_ settings: Settings) -> Bool {
        settings.hardware.backend == .linux && settings.hardware.linux.imu == nil
    }

    /// Largest permitted number of new samples per control period. The bus thread reads at most 16
    /// samples per period, so it can also catch up after a delay.
    private static let mostPerPeriod = 8

    private static let rate = ConfigurationRule(
        keys: [
            "hardware.iio.rate_hz", "loop.rate_hz", "hardware.linux.imu", "hardware.backend",
        ],
        triggers: ["hardware.linux.imu"]
    ) { settings in
        guard isUsed(settings) else { return nil }
        let (rate, loop) = (settings.hardware.iio.rateHz, settings.loop.rateHz)
        if rate < loop {
            return (
                "is lower than loop.rate_hz = \(loop), so that some periods would have no sample",
                "Set the rate to at least \(loop), preferably to twice this rate."
            )
        }
        guard rate > mostPerPeriod * loop else { return nil }
        return (
            "is more than \(mostPerPeriod) times loop.rate_hz = \(loop)",
            "Set the rate to at most \(mostPerPeriod * loop)."
        )
    }

    private static let dataReady = ConfigurationRule(
        keys: ["hardware.linux.data_ready_line", "hardware.linux.imu", "hardware.backend"]
    ) { settings in
        guard isUsed(settings), settings.hardware.linux.dataReadyLine >= 0 else { return nil }
        return (
            "cannot be combined with hardware.linux.imu = \"iio\"",
            "Set the line to -1: the kernel's driver uses the sensor's interrupt."
        )
    }
}
